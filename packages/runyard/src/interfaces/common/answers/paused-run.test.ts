import { expect, test } from 'vitest';
import { PausedRun } from './paused-run.js';
import { formOf } from './question-form.js';

const call = (fields: object, tool: object = {}) => ({
  id: 'r-1',
  tool_execution: {
    tool_call_id: 'c-1',
    tool_name: 'ask',
    tool_args: {},
    confirmed: null,
    answered: null,
    ...tool,
  },
  ...fields,
});

const feedback = call({
  user_feedback_schema: [
    { question: 'Colour?', multi_select: false, options: [{ label: 'red' }, { label: 'blue' }] },
    { question: 'Sizes?', multi_select: true, options: [{ label: 'S' }, { label: 'M' }] },
  ],
});

const step = (fields: object) => ({
  step_id: 's-1',
  step_name: 'draft',
  confirmed: null,
  user_input: null,
  ...fields,
});

function pausedAgent(requirement: object): PausedRun {
  return new PausedRun('agent', { requirements: [requirement] });
}

function formsOf(run: PausedRun, lists = true) {
  return run.questions.map((question) => formOf(question, lists));
}

test('questions with labels are asked by lists, where the protocol has them for several', () => {
  const run = pausedAgent(feedback);
  const [form] = formsOf(run);
  expect(form?.schema).toEqual({
    type: 'object',
    properties: {
      choice_1: { type: 'string', title: 'Colour?', enum: ['red', 'blue'] },
      choice_2: { type: 'array', title: 'Sizes?', items: { type: 'string', enum: ['S', 'M'] } },
    },
    required: ['choice_1', 'choice_2'],
  });
  expect(formsOf(run, false)).toEqual([undefined]);
  run.questions[0]?.put(form?.answer({ choice_1: 'red', choice_2: ['S', 'M'] }) ?? {});
  expect(JSON.parse(String(run.form().requirements))[0].user_feedback_schema).toMatchObject([
    { selected_options: ['red'] },
    { selected_options: ['S', 'M'] },
  ]);
});

test.each([
  ['a call that needs an approval', call({}, { requires_confirmation: true, approval_type: 'required' })],
  ['a call that is executed outside', call({}, { external_execution_required: true })],
  ['a field with a list', call({ user_input_schema: [{ name: 'tags', field_type: 'list', value: null }] })],
  ['more than a person reads', call({ message: 'x'.repeat(20_000) }, { requires_confirmation: true })],
])('no form asks for %s', (_what, requirement) => {
  expect(formsOf(pausedAgent(requirement))).toEqual([undefined]);
});

test('a call whose outcome is recorded may be confirmed by its caller', () => {
  expect(
    formsOf(pausedAgent(call({}, { requires_confirmation: true, approval_type: 'audit' })))[0],
  ).toBeDefined();
});

test('what was answered before is not asked again', () => {
  const answered = [
    call({ confirmation: true }, { confirmed: true }),
    call({ external_execution_result: 'x' }),
  ];
  expect(new PausedRun('agent', { requirements: answered }).questions).toEqual([]);
});

test('a workflow is answered by its ways, its fields, and the calls within its steps', () => {
  const run = new PausedRun('workflow', {
    step_requirements: [
      step({ step_id: 'way', requires_route_selection: true, available_choices: ['a', 'b'] }),
      step({
        step_id: 'seat',
        requires_user_input: true,
        user_input_schema: [{ name: 'seat', field_type: 'int', required: true, value: null }],
      }),
      step({ step_id: 'inner', executor_requirements: [call({}, { requires_confirmation: true })] }),
    ],
    error_requirements: [step({ step_id: 'broken', error_message: 'x', decision: null })],
  });
  expect(run.questions.map(({ id }) => id)).toEqual(['way', 'seat', 'c-1', 'broken']);
  expect(formsOf(run)).not.toContain(undefined);
  run.put([
    { id: 'way', selected: ['b'] },
    { id: 'seat', values: { seat: 3 } },
    { id: 'c-1', confirmed: false, note: 'no' },
    { id: 'broken', decision: 'skip' },
  ]);
  const { step_requirements: steps, error_requirements: failures } = run.form();
  expect(JSON.parse(String(steps))).toMatchObject([
    { selected_choices: ['b'] },
    { user_input: { seat: 3 } },
    { executor_requirements: [{ confirmation: false, confirmation_note: 'no' }] },
  ]);
  expect(JSON.parse(String(failures))).toMatchObject([{ decision: 'skip' }]);
  expect(() => run.put([{ confirmed: true }])).toThrow("waits for 4 answers: 'way', 'seat', 'c-1', 'broken'");
  expect(() => run.put([{ id: 'other', confirmed: true }])).toThrow("does not wait for 'other'");
});
