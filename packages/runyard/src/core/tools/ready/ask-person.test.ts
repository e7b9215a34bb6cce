import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../json.js';
import { judgeCall } from '../call/judge-call.js';
import { askUser, getUserInput } from './ask-person.js';

const judged = (tool: ReturnType<typeof askUser>, args: JsonObject) =>
  judgeCall(tool, { id: 'c', name: tool.name, arguments: JSON.stringify(args) });

const field = (field_name: string): JsonObject => ({ field_name });
const question = (labels: string[]): JsonObject => ({
  question: 'Which?',
  options: labels.map((label) => ({ label })),
});

describe('the tools that ask a person', () => {
  it('wait for what the arguments ask', async () => {
    expect(await judged(getUserInput(), { user_input_fields: [field('a')] })).toMatchObject({
      kind: 'user_input',
      answerIsResult: true,
      inputFields: [{ name: 'a', type: 'str', description: null }],
    });
    expect(await judged(askUser(), { questions: [question(['x', 'y'])] })).toMatchObject({
      kind: 'user_feedback',
      questions: [{ question: 'Which?', header: null, multiSelect: false }],
    });
    const renamed = await judged(askUser().named('office_ask'), { questions: [question(['x', 'y'])] });
    expect(renamed).toMatchObject({ kind: 'user_feedback' });
  });

  it.each([
    ['no field', getUserInput(), { user_input_fields: [] }],
    ['two fields of a name', getUserInput(), { user_input_fields: [field('a'), field('a')] }],
    [
      'too many fields',
      getUserInput(),
      { user_input_fields: Array.from({ length: 21 }, (_, i) => field(`f${i}`)) },
    ],
    ['an unknown type', getUserInput(), { user_input_fields: [{ ...field('a'), field_type: 'date' }] }],
    ['nothing to choose from', askUser(), { questions: [question(['x'])] }],
    ['two options of a name', askUser(), { questions: [question(['x', 'x'])] }],
    ['too many questions', askUser(), { questions: Array.from({ length: 5 }, () => question(['x', 'y'])) }],
  ])('do not ask a person with %s', async (_, tool, args) => {
    expect(await judged(tool, args)).toBeUndefined();
  });
});
