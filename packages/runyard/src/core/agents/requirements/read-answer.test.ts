import { describe, expect, it } from 'vitest';
import type { ToolRequirement } from '../../tools/questions/requirement.js';
import { answerOfApproval } from './approvals.js';
import { answerInCode, readAnswer } from './read-answer.js';

function waiting(requirement: Partial<ToolRequirement>) {
  return {
    waitKey: 'wait:tool:0:0',
    toolKey: 'tool:0:0',
    requirement: {
      id: 'r',
      kind: 'confirmation' as const,
      callId: 'c',
      toolName: 'book',
      args: {},
      createdAt: 0,
      ...requirement,
    },
    answer: null,
  };
}

const field = (name: string, type: string, optional = false) =>
  ({ name, type, description: null, ...(optional && { optional }) }) as never;

describe('what a caller fills in', () => {
  it.each([
    ['int', '12', 12],
    ['int', 12, 12],
    ['float', '-1.5e2', -150],
    ['bool', 'True', true],
    ['list', '[1]', [1]],
    ['dict', { a: 1 }, { a: 1 }],
    ['str', '12', '12'],
  ])('is read as %s: %j', (type, given, value) => {
    const state = waiting({ kind: 'user_input', inputFields: [field('x', type)] });
    expect(readAnswer(state, { values: { x: given } })).toEqual({ answer: 'input', values: { x: value } });
  });

  it.each([
    ['int', 1.5],
    ['int', '1.5'],
    ['int', ''],
    ['int', '99999999999999999'],
    ['float', '1,5'],
    ['float', true],
    ['bool', 1],
    ['list', '{}'],
    ['dict', []],
    ['str', 5],
  ])('is refused for %s: %j', (type, given) => {
    const state = waiting({ kind: 'user_input', inputFields: [field('x', type)] });
    expect(() => readAnswer(state, { values: { x: given as never } })).toThrow(
      expect.objectContaining({ status: 400, message: expect.stringContaining("'x' must be") }),
    );
  });

  it.each([
    [{ values: {} }, "The call 'c' of 'book' waits for { values } with 'x'."],
    [{ values: { x: 'a', z: 1 } }, "The call 'c' of 'book' has no field 'z'. Its fields are 'x', 'y'."],
    [{ confirmed: true }, "The call 'c' of 'book' waits for { values } with 'x'."],
  ])('is refused in code, with what is missing or unknown: %j', (given, message) => {
    const state = waiting({ kind: 'user_input', inputFields: [field('x', 'str'), field('y', 'int', true)] });
    expect(() => answerInCode(state, given)).toThrow(message);
  });

  it('may be nothing at all in code, where every field is optional', () => {
    const state = waiting({ kind: 'user_input', inputFields: [field('y', 'int', true)] });
    expect(answerInCode(state, { values: {} })).toEqual({ answer: 'input', values: {} });
    expect(() => answerInCode(state, { confirmed: true })).toThrow('waits for { values }.');
  });

  it('has to be complete, but for what may be left empty', () => {
    const state = waiting({ kind: 'user_input', inputFields: [field('x', 'str'), field('y', 'int', true)] });
    expect(readAnswer(state, { values: { y: 1 } })).toBeUndefined();
    expect(readAnswer(state, { confirmed: true })).toBeUndefined();
    expect(readAnswer(state, { values: { x: 'a', y: null, z: 3 } })).toEqual({
      answer: 'input',
      values: { x: 'a' },
    });
    const allOptional = waiting({ kind: 'user_input', inputFields: [field('y', 'int', true)] });
    expect(readAnswer(allOptional, { values: { y: null } })).toBeUndefined();
    expect(readAnswer(allOptional, { values: { y: null }, answered: true })).toMatchObject({ values: {} });
  });

  it('can be turned down', () => {
    const state = waiting({ kind: 'user_input', inputFields: [field('x', 'str')] });
    expect(readAnswer(state, { confirmed: false, note: 'no' })).toEqual({
      answer: 'confirmed',
      confirmed: false,
      note: 'no',
    });
  });
});

describe('what a caller chooses', () => {
  const options = ['a', 'b'].map((label) => ({ label, description: null }));
  const one = waiting({
    kind: 'user_feedback',
    questions: [{ question: 'Which?', header: null, multiSelect: false, options }],
  });
  const many = waiting({
    kind: 'user_feedback',
    questions: [{ question: 'Which?', header: null, multiSelect: true, options }],
  });

  it('is one option, or as many as the question allows', () => {
    expect(readAnswer(one, { selected: [['b']] })).toEqual({ answer: 'feedback', selected: [['b']] });
    expect(readAnswer(many, { selected: [['b', 'a', 'b']] })).toMatchObject({ selected: [['b', 'a']] });
    expect(readAnswer(many, { selected: [[]] })).toMatchObject({ selected: [[]] });
    expect(readAnswer(one, { selected: [[]] })).toBeUndefined();
    expect(readAnswer(many, { selected: [null] })).toBeUndefined();
  });

  it('is refused when it is not one of the options, or selects too many of them', () => {
    expect(() => readAnswer(one, { selected: [['c']] })).toThrow("'c' is not one of its options: 'a', 'b'");
    expect(() => readAnswer(one, { selected: [['a', 'b']] })).toThrow('only one option');
  });
});

describe('what an approval decides', () => {
  const required = { type: 'required' as const, id: 'p' };
  const decide = (
    requirement: Partial<ToolRequirement>,
    status: 'approved' | 'rejected' | 'pending' | 'cancelled',
    resolutionData: Record<string, never> | object | null = null,
  ) =>
    answerOfApproval(waiting({ approval: required, ...requirement }), {
      status,
      resolutionData: resolutionData as never,
      resolvedBy: 'boss',
      resolvedAt: 1,
      record: { id: 'p' },
    });

  it('is nothing while it is pending, and no caller can answer instead', () => {
    expect(decide({}, 'pending')).toBeUndefined();
    for (const kind of ['confirmation', 'external_execution', 'unknown_outcome'] as const) {
      const state = waiting({ kind, approval: required });
      expect(readAnswer(state, { confirmed: true, result: 'x', values: {} })).toBeUndefined();
      expect(readAnswer(state, { confirmed: false })).toBeUndefined();
    }
  });

  it('is the values, in either place; the tool checks what does not fit', () => {
    const inputFields = [field('x', 'int'), field('y', 'int')];
    expect(decide({ kind: 'user_input', inputFields }, 'approved', { values: { x: '3' } })).toMatchObject({
      answer: 'input',
      values: { x: 3 },
      approval: { id: 'p' },
    });
    expect(decide({ kind: 'user_input', inputFields }, 'approved', { x: 4, y: 'many', z: 1 })).toMatchObject({
      values: { x: 4, y: 'many' },
    });
    expect(decide({ kind: 'user_input', inputFields }, 'approved')).toMatchObject({ values: {} });
  });

  it('is the result of an external execution, or a rejection without one', () => {
    const kind = 'external_execution' as const;
    expect(decide({ kind }, 'approved', { result: { ok: 1 } })).toMatchObject({
      answer: 'result',
      result: '{"ok":1}',
    });
    expect(decide({ kind }, 'approved')).toMatchObject({ confirmed: false });
    expect(decide({ kind }, 'rejected')).toMatchObject({ answer: 'confirmed', confirmed: false });
  });

  it('counts as a rejection when it was cancelled', () => {
    expect(decide({}, 'cancelled')).toMatchObject({
      confirmed: false,
      note: expect.stringContaining('cancelled'),
    });
  });
});
