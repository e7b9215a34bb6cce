import { WebClient } from '@slack/web-api';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { SlackDouble } from './slack-double.js';

let slack: SlackDouble;
let client: WebClient;
const thread = { channel: 'C1', thread_ts: '1.1' };
const recipient = { recipient_team_id: 'T1', recipient_user_id: 'U1' };

beforeAll(async () => {
  slack = await SlackDouble.open();
  const quiet = () => {};
  const logger = {
    ...{ debug: quiet, info: quiet, warn: quiet, error: quiet, setLevel: quiet, setName: quiet },
    getLevel: () => 'error' as never,
  };
  client = new WebClient(slack.token, {
    slackApiUrl: slack.url,
    rejectRateLimitedCalls: true,
    retryConfig: { retries: 0 },
    logger,
  });
});
beforeEach(() => slack.clear());
afterAll(() => slack.close());

test("what Slack's own client streams and uploads is kept, without a violation", async () => {
  const stream = client.chatStream({ ...thread, ...recipient, buffer_size: 4, task_display_mode: 'plan' });
  await stream.append({ markdown_text: 'Hello ' });
  await stream.append({ chunks: [{ type: 'task_update', id: 'a', title: 'add', status: 'complete' }] });
  await stream.stop({ markdown_text: 'world' });
  await client.filesUploadV2({
    channel_id: 'C1',
    thread_ts: '1.1',
    file: Buffer.from('abc'),
    filename: 'a.txt',
  });
  expect(slack.textOf('C1', '1.1')).toBe('Hello world');
  expect([...(slack.messages[0]?.tasks.keys() ?? [])]).toEqual(['a']);
  expect(slack.uploads).toMatchObject([{ filename: 'a.txt', channel: 'C1', threadTs: '1.1' }]);
  expect(slack.violations).toEqual([]);
});

test.each<[string, string, Record<string, unknown>]>([
  ['a text that is too long', 'chat.postMessage', { ...thread, markdown_text: 'x'.repeat(12_001) }],
  ['two kinds of text', 'chat.postMessage', { ...thread, text: 'x', markdown_text: 'x' }],
  ['no text', 'chat.postMessage', thread],
  ['a stream to nobody', 'chat.startStream', { ...thread, chunks: [] }],
  [
    'an empty chunk',
    'chat.startStream',
    { ...thread, ...recipient, chunks: [{ type: 'markdown_text', text: '' }] },
  ],
  ['a field that is missing', 'chat.update', { channel: 'C1', text: 'x' }],
  [
    'too many blocks',
    'chat.postMessage',
    { ...thread, blocks: Array.from({ length: 51 }, () => ({ type: 'divider' })) },
  ],
  [
    'a card whose body is too long',
    'chat.postMessage',
    { ...thread, blocks: [{ type: 'card', body: { type: 'mrkdwn', text: 'x'.repeat(201) } }] },
  ],
])('%s is refused and listed', async (_what, method, fields) => {
  await expect(client.apiCall(method, fields)).rejects.toThrow();
  expect(slack.violations).toHaveLength(1);
});

test('the calls of a minute are counted by method and channel', async () => {
  let now = 0;
  slack.now = () => now;
  const posted = (channel: string) => client.chat.postMessage({ channel, text: 'x' });
  for (let n = 0; n < 60; n++) await posted('C1');
  await posted('C2');
  await expect(posted('C1')).rejects.toThrow('60 seconds');
  now = 60_000;
  await posted('C1');
  slack.now = Date.now;
});
