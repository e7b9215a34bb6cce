import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { agent, tool } from '../../../src/index.js';
import { askUser, getUserInput } from '../../../src/tools.js';
import { answered, RunLife } from '../../support/components/run-life.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type Body, TestService } from '../../support/service.js';

const book = new ScriptBook();
let service: TestService;
let life: RunLife;

const wire = tool({
  name: 'wire',
  description: 'Wires money',
  inputSchema: z.object({ cents: z.number() }),
  requiresConfirmation: true,
  approval: 'audit',
  execute: ({ cents }) => `wired ${cents}`,
});

beforeAll(async () => {
  const tools = [askUser(), getUserInput(), wire];
  service = await TestService.start({ agents: [agent({ id: 'a', model: book.model, tools })] });
  life = new RunLife(service, 'a');
});
afterAll(() => service.stop());

async function paused(message: string, name: string, args: object): Promise<Body> {
  book.write(message, { toolCalls: [{ name, arguments: args as Body, id: name }] }, { text: 'thanks' });
  const run = await life.start({ message, user_id: 'ada' });
  expect(run.status).toBe('paused');
  return run;
}

describe('questions', () => {
  const questions = [
    {
      question: 'Which size?',
      header: 'Size',
      options: [{ label: 'small' }, { label: 'large' }],
      multi_select: false,
    },
  ];

  test.each(['tools', 'requirements'])('are answered in %s by the labels that were chosen', async (field) => {
    const run = await paused(`ask in ${field}`, 'ask_user', { questions });
    const [asked] = run.tools[0].user_feedback_schema;
    expect(asked).toMatchObject({ question: 'Which size?', multi_select: false, selected_options: null });
    const chosen = { user_feedback_schema: [{ ...asked, selected_options: ['large'] }] };
    const form =
      field === 'tools'
        ? { tools: answered(run, { ask_user: chosen }) }
        : { requirements: [{ ...run.requirements[0], ...chosen }] };
    const { body } = await life.continue(run.run_id, form);
    expect(body).toMatchObject({ status: 'completed', content: 'thanks' });
    expect(body.tools[0].result).toContain('large');
    expect(body.tools[0].user_feedback_schema[0]).toMatchObject({ selected_options: ['large'] });
  });

  test('take none but their own options', async () => {
    const run = await paused('ask wrongly', 'ask_user', { questions });
    const chosen = { user_feedback_schema: [{ selected_options: ['huge'] }] };
    const { status, body } = await life.continue(run.run_id, { tools: answered(run, { ask_user: chosen }) });
    expect([status, body.error_code]).toEqual([400, 'invalid_answer']);
    expect(body.detail).toContain("'huge'");
  });
});

describe('a form', () => {
  const fields = {
    user_input_fields: [{ field_name: 'city', field_type: 'str', field_description: 'Where to' }],
  };

  test('is filled in where it is in the requirement', async () => {
    const run = await paused('form', 'get_user_input', fields);
    const [requirement] = run.requirements;
    const [field] = requirement.user_input_schema;
    expect(field).toEqual({ name: 'city', field_type: 'str', description: 'Where to', value: null });
    const requirements = [{ ...requirement, user_input_schema: [{ ...field, value: 'Porto' }] }];
    const { body } = await life.continue(run.run_id, { requirements });
    expect(body.status).toBe('completed');
    expect(body.tools[0].result).toContain('Porto');
  });

  test('is no answer while it is empty, and takes no value of another type', async () => {
    const run = await paused('empty form', 'get_user_input', fields);
    expect((await life.continue(run.run_id, { requirements: run.requirements })).status).toBe(400);
    const [field] = run.tools[0].user_input_schema;
    const wrong = { user_input_schema: [{ ...field, value: { a: 1 } }] };
    const { status, body } = await life.continue(run.run_id, {
      tools: answered(run, { get_user_input: wrong }),
    });
    expect([status, body.error_code]).toEqual([400, 'invalid_answer']);
    expect((await life.stored(run.run_id)).status).toBe('paused');
  });
});

test.each([
  [true, 'approved', ['wired 5']],
  [false, 'rejected', []],
])('an answer of %s to an audited call is written down as %s', async (confirmed, status, results) => {
  const run = await paused(`audited ${status}`, 'wire', { cents: 5 });
  const before = await service.get(`/approvals?run_id=${run.run_id}`);
  expect(before.body.data).toEqual([]);
  const { body } = await life.continue(run.run_id, { tools: answered(run, { wire: { confirmed } }) });
  expect(body.status).toBe('completed');
  expect(body.tools.flatMap(({ result, confirmed: yes }: Body) => (yes ? [result] : []))).toEqual(results);
  const { body: after } = await service.get(`/approvals?run_id=${run.run_id}`);
  expect(after.data).toMatchObject([
    { approval_type: 'audit', status, tool_name: 'wire', tool_args: { cents: 5 }, run_id: run.run_id },
  ]);
});
