import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Fields, SlackDouble } from '../../../../test/support/slack/slack-double.js';
import {
  answerJob,
  channel,
  GivenRun,
  type Kept,
  pressJob,
  runId,
  threadTs,
} from '../../../../test/support/slack/slack-job.js';
import { writeAnswer } from '../answer/write-answer.js';
import { answerPress, showDecision } from './answer-press.js';
import { readPress } from './read-press.js';

let slack: SlackDouble;
let run: GivenRun;
let kept: Kept;

beforeAll(async () => {
  slack = await SlackDouble.open();
});
beforeEach(() => {
  slack.clear();
  run = new GivenRun();
  run.status = 'paused';
  kept = { notes: {} };
});
afterAll(() => slack.close());

const call = (id: string, fields: object = {}, tool: object = {}) => ({
  id: `r-${id}`,
  tool_execution: {
    ...{ tool_call_id: id, tool_name: 'pay', tool_args: { amount: 5 } },
    ...{ confirmed: null, answered: null, ...tool },
  },
  ...fields,
});

const paused = async (...requirements: object[]) => {
  run.body = { requirements: requirements as never };
  await writeAnswer(await answerJob(slack, run, kept));
  expect(slack.violations).toEqual([]);
  return asking();
};

/** The messages of the thread that ask: the first one only says what the run waits for. */
const asking = () => slack.thread(channel, threadTs).slice(1);

/** All buttons of a message. */
const buttonsOf = (message: Fields): Fields[] =>
  message.blocks.flatMap(({ actions, elements }: Fields) => actions ?? elements ?? []);

const pressing = async (
  message: Fields,
  action: string,
  { state = {}, at = 0, user = 'U1', in: place = channel } = {},
) => {
  const button = buttonsOf(message).filter(({ action_id: id }) => id === action)[at];
  const press = readPress({
    type: 'block_actions',
    user: { id: user },
    team: { id: 'T1' },
    channel: { id: place },
    message: { ts: message.ts },
    state: { values: state },
    actions: [{ ...button, action_ts: '1.2' }],
  });
  if (press === undefined) throw new Error('It was not understood.');
  const job = await pressJob(slack, run, kept, press);
  const outcome = await answerPress(job);
  if (outcome.kind === 'continue') await showDecision(job, outcome.shown);
  expect(slack.violations).toEqual([]);
  return outcome;
};

const requirementsIn = (outcome: Fields) => JSON.parse(outcome.form.requirements);

/** The state of a message in which its fields are filled in. */
const filled = (message: Fields, ...values: Fields[]): Fields => {
  const inputs = message.blocks.filter(({ type }: Fields) => type === 'input');
  return Object.fromEntries(
    values.map((value, at) => [inputs[at].block_id, { [inputs[at].element.action_id]: value }]),
  );
};

test('one press approves a call, and the message says who did it', async () => {
  const [message] = await paused(call('c1'));
  const [waiting] = slack.thread(channel, threadTs);
  expect(waiting).toMatchObject({ text: '⏸ *Awaiting approval of* pay({"amount":5})', blocks: [] });
  const value = `r-c1|${runId}|${waiting?.ts}`;
  expect(message?.blocks).toMatchObject([
    {
      ...{ type: 'card', block_id: 'rowact:r-c1:confirmation' },
      title: { text: 'pay' },
      body: { text: '{"amount":5}' },
      actions: [
        { action_id: 'row_approve', value },
        { action_id: 'row_reject', value },
      ],
    },
  ]);
  const outcome = await pressing(message as Fields, 'row_approve', { user: 'U7' });
  expect(requirementsIn(outcome)).toMatchObject([{ confirmation: true }]);
  // the line about what the run waits for is gone
  const [summary, ...others] = slack.thread(channel, threadTs);
  expect(others).toEqual([]);
  expect(JSON.stringify(summary?.blocks)).toContain('Approved by <@U7>');
  expect(buttonsOf(summary as Fields)).toEqual([]);
});

test('arguments that a card has no room for are shown before it, and of two calls with one id each has its answer', async () => {
  const text = `${'&'.repeat(300)} the end`;
  const [message] = await paused(
    { ...call('c1', { message: 'Again?' }, { tool_args: { text } }), id: 'a|b' },
    call('c1'),
  );
  const [said, whole, card] = (message as Fields).blocks;
  expect([said.text.text, whole.text.text]).toEqual(['Again?', expect.stringMatching(/&amp; the end"}$/)]);
  expect(card.body.text).toMatch(/(&amp;|")…$/);
  await pressing(message as Fields, 'row_approve');
  await pressing(asking()[0] as Fields, 'row_reject');
  const outcome = await pressing(asking()[0] as Fields, 'submit_pause');
  expect(requirementsIn(outcome)).toMatchObject([{ confirmation: true }, { confirmation: false }]);
});

test('what a call is given calls nobody', async () => {
  const [message] = await paused(call('c1', {}, { tool_args: { to: '<!channel> & <@U9>' } }));
  expect(message?.text).toContain('&lt;!channel&gt; &amp; &lt;@U9&gt;');
  expect(JSON.stringify(slack.called('chat.postMessage'))).not.toMatch(/<[!@]/);
});

test('the run continues although its message can no longer be edited', async () => {
  const [message] = await paused(call('c1'));
  slack.fail('chat.update', { error: 'edit_window_closed' });
  expect(await pressing(message as Fields, 'row_approve')).toMatchObject({ kind: 'continue' });
});

test('a press in another place is not for the run', async () => {
  const [message] = await paused(call('c1'));
  expect(await pressing(message as Fields, 'row_approve', { in: 'C9' })).toEqual({ kind: 'waits' });
  expect(await pressing(message as Fields, 'row_approve')).toMatchObject({ kind: 'continue' });
});

test('who denies may say why', async () => {
  const [message] = await paused(call('c1'));
  expect(await pressing(message as Fields, 'row_reject')).toEqual({ kind: 'waits' });
  const asked = asking()[0] as Fields;
  const outcome = await pressing(asked, 'submit_pause', { state: filled(asked, { value: 'too much' }) });
  expect(requirementsIn(outcome)).toMatchObject([{ confirmation: false, confirmation_note: 'too much' }]);
});

test('a run continues when the last of its questions is answered, and the first decision stands', async () => {
  const [posted] = await paused(call('c1'), call('c2'));
  const message = { ts: posted?.ts, blocks: posted?.blocks };
  expect(await pressing(message, 'row_approve')).toEqual({ kind: 'waits' });
  // the old message is still on the screen of another person
  expect(await pressing(message, 'row_reject', { user: 'U2' })).toEqual({ kind: 'waits' });
  const outcome = await pressing(asking()[0] as Fields, 'row_approve');
  expect(requirementsIn(outcome)).toMatchObject([{ confirmation: true }, { confirmation: true }]);
});

test('fields are read by their types, and a wrong value is said to the one who sent it', async () => {
  const schema = [
    { name: 'seats', field_type: 'int', required: true, value: null },
    { name: 'window', field_type: 'bool', required: true, value: null },
    { name: 'note', field_type: 'str', required: false, value: null },
  ];
  const [message] = await paused(call('c1', { user_input_schema: schema }));
  expect(
    (message as Fields).blocks.slice(1).map(({ block_id: id, element }: Fields) => [id, element?.action_id]),
  ).toEqual([
    ['row:r-c1:user_input:pending:seats', 'input_field:seats'],
    ['row:r-c1:user_input:pending:window', 'input_field:window'],
    ['row:r-c1:user_input:pending:note', 'input_field:note'],
    [`pause:${runId}`, undefined],
  ]);
  const [submit] = buttonsOf(message as Fields);
  expect(submit?.value).toBe(`${runId}|${slack.thread(channel, threadTs)[0]?.ts}`);
  const no = { selected_option: { value: '1' } };
  const wrong = filled(message as Fields, { value: 'many' }, no);
  expect(await pressing(message as Fields, 'submit_pause', { state: wrong })).toEqual({ kind: 'waits' });
  expect(slack.ephemeral('U1').join()).toMatch(/fix the following.*seats: a whole number/s);
  const vast = filled(message as Fields, { value: '9007199254740993' }, no);
  expect(await pressing(message as Fields, 'submit_pause', { state: vast })).toEqual({ kind: 'waits' });
  const right = filled(message as Fields, { value: '3' }, no, { value: null });
  const outcome = await pressing(message as Fields, 'submit_pause', { state: right });
  expect(requirementsIn(outcome)[0].user_input_schema).toMatchObject([
    { value: 3 },
    { value: false },
    { value: null },
  ]);
});

test('choices and results of programs are answered in the same message', async () => {
  const options = [{ label: 'red' }, { label: 'x'.repeat(100) }];
  const [message] = await paused(
    call('c1', { user_feedback_schema: [{ question: 'Colours?', multi_select: true, options }] }),
    call('c2', {}, { external_execution_required: true }),
  );
  const inputs = (message as Fields).blocks.filter(({ type }: Fields) => type === 'input');
  expect(inputs.map(({ block_id: id, element }: Fields) => [id, element.action_id])).toEqual([
    ['row:r-c1:user_feedback:pending:q0', 'feedback_select:0'],
    ['row:r-c2:external_execution:pending:result', 'external_result'],
  ]);
  const chosen = { selected_options: [{ value: '1' }] };
  const state = filled(message as Fields, chosen, { value: 'done' });
  const outcome = await pressing(message as Fields, 'submit_pause', { state });
  expect(requirementsIn(outcome)).toMatchObject([
    { user_feedback_schema: [{ selected_options: ['x'.repeat(100)] }] },
    { external_execution_result: 'done' },
  ]);
});

test('an approval of an administrator is only looked at', async () => {
  const [message] = await paused(
    call('c1', {}, { requires_confirmation: true, approval_type: 'required', approval_id: 'ap' }),
  );
  const ts = slack.thread(channel, threadTs)[0]?.ts;
  expect((message as Fields).blocks).toMatchObject([{ block_id: 'rowact:r-c1:admin_approval' }]);
  expect(buttonsOf(message as Fields)).toMatchObject([
    { action_id: 'check_status', value: `ap|r-c1|${runId}|${ts}` },
  ]);
  // one that is not known is not given
  expect(await pressing(message as Fields, 'check_status')).toEqual({ kind: 'waits' });
  run.approvals = ['pending'];
  expect(await pressing(message as Fields, 'check_status')).toEqual({ kind: 'waits' });
  expect(JSON.stringify(asking()[0]?.blocks)).toContain('Still pending approval');
  run.approvals = ['approved'];
  expect(await pressing(asking()[0] as Fields, 'check_status')).toMatchObject({ kind: 'continue' });
});

test('a press that comes too late changes nothing', async () => {
  const [message] = await paused(call('c1'));
  run.status = 'running';
  expect(await pressing(message as Fields, 'row_approve')).toEqual({ kind: 'waits' });
  expect(slack.ephemeral('U1')).toEqual(['This approval is no longer active.']);
  // nothing is awaited
  expect(slack.thread(channel, threadTs)).toMatchObject([{ ts: message?.ts }]);
  // it has paused again, with another question
  run.status = 'paused';
  run.body = { requirements: [call('c2')] as never };
  expect(await pressing(message as Fields, 'row_approve')).toEqual({ kind: 'waits' });
  expect(slack.ephemeral('U1')).toHaveLength(2);
});

test('many questions take several messages; one that is too long to be read is announced', async () => {
  const many = Array.from({ length: 60 }, (_, n) => call(`c${n}`));
  const messages = await paused(...many, call('long', { message: 'x'.repeat(20_000) }));
  expect(messages.map(({ blocks }) => buttonsOf({ blocks }).length)).toEqual([48, 48, 24, 0]);
  expect(slack.thread(channel, threadTs)[0]?.text).toMatch(/pay.*\n⏸ and 41 more$/);
  expect(messages.at(-1)?.text).toContain(`1 of the questions of run ${runId} does not fit`);
});

test('a question with more fields than a message has blocks is announced', async () => {
  const field = (_: unknown, n: number) => ({
    name: `f${n}`,
    field_type: 'str',
    required: true,
    value: null,
  });
  const messages = await paused(call('c1', { user_input_schema: Array.from({ length: 60 }, field) }));
  expect(messages).toMatchObject([{ text: expect.stringContaining('does not fit') }]);
});

test('a pause is posted once, also when the answer to the call was lost', async () => {
  run.body = { requirements: [call('c1')] as never };
  // of the line, then of the message that asks
  for (let lost = 0; lost < 2; lost++) {
    slack.fail('chat.postMessage', { status: 503, after: true });
    await expect(answerJob(slack, run, kept).then(writeAnswer)).rejects.toMatchObject({ retryable: true });
  }
  await paused(call('c1'));
  expect(await paused(call('c1'))).toHaveLength(1);
});

test.each([
  ['another type', { type: 'view_submission' }],
  ['a button of another app', { type: 'block_actions', actions: [{ action_id: 'x', value: 'c|r|1.1' }] }],
  ['no place', { type: 'block_actions', actions: [{ action_id: 'row_approve', value: 'c|r|1.1' }] }],
])('%s is no press', (_what, payload) => {
  expect(readPress(payload)).toBeUndefined();
});
