import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { SlackDouble } from '../../../../test/support/slack/slack-double.js';
import {
  answerJob,
  channel,
  GivenRun,
  type Kept,
  threadTs,
} from '../../../../test/support/slack/slack-job.js';
import { messagesOf } from './split-text.js';
import { writeAnswer } from './write-answer.js';

let slack: SlackDouble;
let run: GivenRun;
let kept: Kept;

beforeAll(async () => {
  slack = await SlackDouble.open();
});
beforeEach(() => {
  slack.clear();
  run = new GivenRun();
  kept = { notes: {} };
});
afterAll(() => slack.close());

const written = async (config: object = {}) => writeAnswer(await answerJob(slack, run, kept, config));
const texts = () => slack.thread(channel, threadTs).map(({ text }) => text);
const isOver = () => {
  expect(slack.violations).toEqual([]);
  expect(slack.messages.every(({ streaming }) => streaming === undefined)).toBe(true);
};

test('an answer is streamed with its tool calls, and the thread gets a status and a title', async () => {
  const tool = { tool_call_id: 'c1', tool_name: 'add' };
  run
    .say('Let me ', 'see.')
    .emit('ToolCallStarted', { tool })
    .emit('ToolCallCompleted', { tool, content: '3' });
  run.say('It is ', '3.');
  run.content = 'It is 3.';
  await written();
  expect(texts()).toEqual(['Let me see.\n\nIt is 3.']);
  expect([...(slack.messages[0]?.tasks.values() ?? [])]).toMatchObject([
    { title: 'add', status: 'complete' },
  ]);
  expect(slack.called('assistant.threads.setStatus')).toMatchObject([{ status: 'Thinking...' }]);
  expect(slack.called('assistant.threads.setTitle')).toMatchObject([{ title: 'What is it?' }]);
  expect(slack.called('chat.startStream')).toMatchObject([
    { recipient_user_id: 'U1', recipient_team_id: 'T1' },
  ]);
  isOver();
});

test('a call that was denied is a card that says so, and a workflow has a card', async () => {
  const tool = { tool_call_id: 'c1', tool_name: 'pay', tool_args: { amount: 5 }, confirmed: false };
  run.emit('WorkflowStarted').emit('ToolCallError', { tool, error: 'no' });
  await written();
  expect([...(slack.messages[0]?.tasks.values() ?? [])]).toMatchObject([
    { id: 'wf_run_run-1', title: 'Workflow', status: 'complete' },
    { id: 'c1', title: 'Denied: pay({"amount":5})', status: 'error' },
  ]);
});

test('a long answer is continued in further messages, and no character is missing', async () => {
  const long = Array.from({ length: 2_600 }, (_, n) => `Line ${n} of it.`).join('\n');
  run.say(...(long.match(/[\s\S]{1,9000}/g) ?? []));
  run.content = long;
  await written();
  expect(texts().length).toBeGreaterThan(3);
  const [first, ...further] = texts();
  expect(further.every((text) => text.startsWith('_(continued)_\n\n'))).toBe(true);
  expect([first, ...further.map((text) => text.slice('_(continued)_\n\n'.length))].join('')).toBe(long);
  isOver();
});

test('a block of code that is divided ends and begins again, and text without a break is divided, too', () => {
  const code = `Look:\n\`\`\`ts\n${'const x = 1;\n'.repeat(1_500)}\`\`\`\nDone`;
  const parts = messagesOf(code);
  expect(parts.every((part) => (part.match(/```/g) ?? []).length % 2 === 0)).toBe(true);
  expect(parts.map((part) => part.match(/const/g)?.length ?? 0).reduce((a, b) => a + b)).toBe(1_500);
  const emoji = '😀'.repeat(20_000);
  expect(messagesOf(emoji).join('')).toBe(emoji);
  expect(messagesOf(emoji).every((part) => part.length <= 11_500 && !/[\uD800-\uDBFF]$/.test(part))).toBe(
    true,
  );
  // what a text becomes later does not change where its messages end
  for (const length of [9_500, 11_100, 12_000, 19_000])
    expect(messagesOf(code).slice(0, messagesOf(code.slice(0, length)).length - 1)).toEqual(
      messagesOf(code.slice(0, length)).slice(0, -1),
    );
});

test('without streaming the answer is posted, in as many messages as it takes', async () => {
  const long = 'word '.repeat(5_000);
  run.say(long);
  run.content = long;
  await written({ streaming: false });
  expect(slack.called('chat.startStream')).toEqual([]);
  expect(texts().map((text) => text.slice(0, 6))).toEqual(['[1/3]\n', '[2/3]\n', '[3/3]\n']);
  expect(
    texts()
      .map((text) => text.slice(6))
      .join(''),
  ).toBe(long);
  expect(slack.called('assistant.threads.setStatus').at(-1)).toMatchObject({ status: '' });
  isOver();
});

test.each([
  ['a failure', { status: 'error', error: 'no money' }, '_Error: no money_'],
  ['a cancellation', { status: 'cancelled' }, '_Cancelled._'],
])('%s is said after what was written', async (_what, end, line) => {
  run.say('So far');
  Object.assign(run, end);
  await written();
  expect(texts()).toEqual([`So far\n\n${line}`]);
  isOver();
});

test('an answer that was not streamed is shown at its end, and values as JSON', async () => {
  run.content = { a: 1 };
  await written();
  expect(texts()).toEqual(['```json\n{\n  "a": 1\n}\n```']);
});

test('what a model said before it was called again is replaced', async () => {
  run
    .emit('ModelRequestStarted')
    .emit('RunContent', { content: '' })
    .emit('RunContent', { content: 'Half an' });
  run.say('The whole answer');
  run.content = 'The whole answer';
  await written();
  expect(texts()).toEqual(['The whole answer']);
  isOver();
});

test('a stream that Slack closed is continued by writing its message again', async () => {
  run.say('One ', 'two ', 'three');
  run.content = 'One two three';
  run.before = (at) => void (at === 4 && slack.expireStreams());
  await written();
  expect(texts()).toEqual(['One two three']);
  expect(slack.called('chat.update').length).toBeGreaterThan(0);
  isOver();
});

test('a person who stops the answer cancels the run', async () => {
  run.say('One ', 'two ', 'three');
  run.before = (at) => void (at === 4 && slack.stopStreams());
  await written();
  expect(run.cancelled).toBe(1);
  expect(texts()).toEqual(['One two ']);
});

test.each([3, 4, 5])('another process writes the rest after a crash, once (event %i)', async (at) => {
  const crash = new Error('crash');
  run.say('One ', 'two ', 'three');
  run.content = 'One two three';
  run.before = (index) => {
    if (index === at) throw crash;
  };
  await expect(written()).rejects.toBe(crash);
  run.before = () => {};
  await written();
  expect(texts()).toEqual(['One two three']);
  expect(slack.called('assistant.threads.setTitle')).toHaveLength(1);
  isOver();
});

test.each(['chat.startStream', 'chat.postMessage'])(
  'a message whose answer was lost is found again (%s)',
  async (method) => {
    run.say('Hello');
    run.content = 'Hello';
    slack.fail(method, { status: 503, after: true });
    const config = { streaming: method === 'chat.startStream' };
    await expect(written(config)).rejects.toMatchObject({ retryable: true });
    await written(config);
    expect(texts()).toEqual(['Hello']);
    isOver();
  },
);

test('where streams are not to be had, messages are posted and edited', async () => {
  slack.fail('chat.startStream', { error: 'channel_type_not_supported' });
  run.say('One ', 'two');
  run.content = 'One two';
  await written();
  expect(texts()).toEqual(['One two']);
  isOver();
});

test('files that the run made are uploaded once, and links are named', async () => {
  const image = { content: Buffer.from('png').toString('base64'), mime_type: 'image/png' };
  run.body = { images: [image, { url: 'https://example.com/a.png' }] };
  run.content = 'Look';
  await written();
  await written();
  expect(slack.uploads).toMatchObject([{ filename: '1.png', channel, threadTs }]);
  expect(texts().join()).toContain('https://example.com/a.png');
});

test('the words of a model call nobody in the channel', async () => {
  run.content = 'Hi <!channel> and <!here|here>, <!subteam^S1|@staff> and <!subteam^S2>';
  await written();
  expect(texts()).toEqual(['Hi @channel and @here, @staff and @S2']);
});

test('Slack is called again when it asks to wait', async () => {
  slack.fail('chat.startStream', { status: 429, retryAfter: 0 });
  run.content = 'Hello';
  await written();
  expect(texts()).toEqual(['Hello']);
});

test('the answer of a run whose events are no longer kept is written from the run', async () => {
  run.keepsEvents = false;
  run.say('Hello');
  run.content = 'Hello';
  await written();
  expect(texts()).toEqual(['Hello']);
});

test.each([
  ['what it said before the pause', { run_id: 'run-1', after: -1 }],
  ['the answer of another run', { run_id: 'run-0', after: 5 }],
  ['a note', undefined],
])('a process that ended before its message began leaves %s as it is', async (_what, payload) => {
  const api = await answerJob(slack, run, kept).then((job) => job.api);
  const place = { channel, thread_ts: threadTs };
  const metadata = payload && { event_type: 'runyard_answer', event_payload: payload };
  await api.call('chat.postMessage', { ...place, text: 'Before', ...(metadata && { metadata }) });
  run.say('After');
  run.content = 'After';
  kept.progress = { parts: [], beginning: true };
  await writeAnswer({ ...(await answerJob(slack, run, kept)), after: 0 });
  expect(texts()).toEqual(['Before', 'After']);
});

test('a file in the thread is not taken for a message that was lost', async () => {
  const job = await answerJob(slack, run, kept);
  await job.api.upload({ name: 'a.png', bytes: Buffer.from('png') }, job.thread);
  run.content = 'After';
  kept.progress = { parts: [], beginning: true };
  await written();
  expect(texts()).toEqual(['', 'After']);
});

test('a name of a file calls nobody', async () => {
  slack.fail('files.getUploadURLExternal', { error: 'file_type_not_allowed' });
  run.body = { files: [{ content: 'YQ==', filename: '<!channel>.exe' }] };
  run.content = 'Look';
  await written();
  expect(texts().at(-1)).toContain('&lt;!channel&gt;.exe');
});

test('a text that grows never changes the messages before its last one', () => {
  const grown = `${'x'.repeat(11_010)} ${'y'.repeat(100)}\n${'z'.repeat(2_000)} end`;
  for (let length = 9_000; length <= grown.length; length += 50) {
    const before = messagesOf(grown.slice(0, length)).slice(0, -1);
    expect(messagesOf(grown).slice(0, before.length)).toEqual(before);
  }
});
