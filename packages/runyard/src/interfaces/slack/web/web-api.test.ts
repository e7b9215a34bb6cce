import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { methods } from '../../../../test/support/slack/limits.js';
import { SlackDouble } from '../../../../test/support/slack/slack-double.js';
import { silentLog } from '../../../core/log.js';
import type { SlackApi } from '../parts.js';
import { Workspaces } from '../workspaces.js';
import { mostWaiting, Pace } from './pace.js';
import { receivedFiles } from './received-files.js';
import { openWebApi } from './web-api.js';

let slack: SlackDouble;
let api: SlackApi;
/** Time passes when a caller waits. */
let now = 0;
const clock = {
  now: () => now,
  sleep: async (ms: number) => {
    now += ms;
  },
};
const never = new AbortController().signal;

beforeAll(async () => {
  slack = await SlackDouble.open();
});
beforeEach(async () => {
  slack.clear();
  slack.now = () => now;
  api = await openWebApi({ token: slack.token, apiUrl: slack.url, log: silentLog }, clock);
});
afterAll(() => slack.close());

test.each<[string, number]>(
  Object.entries(methods).flatMap(([method, { perMinute }]) =>
    method.startsWith('chat.') ? [[method, perMinute] as [string, number]] : [],
  ),
)('calls of %s stay inside its tier, %i a minute', async (method, perMinute) => {
  const pace = new Pace(clock);
  const times: number[] = [];
  for (let n = 0; n < 3 * perMinute; n++) {
    await pace.turn(method, 'C1', undefined);
    times.push(now);
  }
  const inMinute = times.map((from) => times.filter((at) => at >= from && at < from + 60_000).length);
  expect(Math.max(...inMinute)).toBeLessThanOrEqual(perMinute);
  // and the tier is used
  expect(now - (times[0] ?? 0)).toBeLessThan(4 * 60_000);
});

test('a call is made again when Slack said so, and given up after some attempts', async () => {
  slack.fail('auth.test', { status: 429, retryAfter: 7 });
  const before = now;
  expect(await api.call('auth.test', {})).toMatchObject({ user_id: 'U0BOT' });
  expect(now - before).toBeGreaterThanOrEqual(7_000);
  slack.fail('auth.test', ...Array.from({ length: 5 }, () => ({ status: 429, retryAfter: 1 })));
  await expect(api.call('auth.test', {})).rejects.toMatchObject({ retryable: true, retryAfterMs: 1_000 });
});

test.each([
  [{ error: 'channel_not_found' }, 'channel_not_found', false],
  [{ error: 'internal_error' }, 'internal_error', true],
  [{ status: 503 }, 'http-503', true],
  // a proxy asks to wait and does not say how long
  [{ status: 429 }, 'call-failed', true],
])('%o is an error with the code %s', async (fault, code, retryable) => {
  slack.fail('auth.test', fault);
  await expect(api.call('auth.test', {})).rejects.toMatchObject({ code, retryable, method: 'auth.test' });
});

test('an error says nothing of the token and of what was sent', async () => {
  const secret = await openWebApi({ token: 'xoxb-wrong', apiUrl: slack.url, log: silentLog });
  const error = await secret.call('auth.test', { text: 'private' }).catch((thrown) => thrown);
  expect(error.code).toBe('invalid_auth');
  expect(`${error.stack} ${JSON.stringify(error)}`).not.toMatch(/xoxb|private/);
});

test('only so many calls wait', async () => {
  const pace = new Pace({ now: () => 0, sleep: () => new Promise(() => {}) });
  const turns = Array.from({ length: mostWaiting + 1 }, () => pace.turn('chat.startStream', 'C1', undefined));
  expect(await turns.at(-1)).toBe(false);
});

test('files are read with the token, up to a size; the others are named', async () => {
  const files = [
    slack.file('a.txt', 'text/plain', Buffer.from('abc')),
    slack.file('b.txt', 'text/plain', Buffer.alloc(50)),
    {
      ...slack.file('c.txt', 'text/plain', Buffer.from('c')),
      url_private_download: 'https://example.com/c.txt',
    },
    { name: 'd.txt' },
  ];
  const { fields, skipped } = await receivedFiles(api, files, 10, never);
  expect(fields.files?.map(({ filename, size }) => [filename, size])).toEqual([['a.txt', 3]]);
  expect(skipped).toEqual([
    'b.txt (larger than 7 bytes)',
    'c.txt (Slack answered not-at-slack)',
    'd.txt (it cannot be downloaded)',
  ]);
});

test('a page to sign in is not taken for a file, and a size that is not true is no way around the limit', async () => {
  const file = slack.file('a.txt', 'text/plain', Buffer.from('abc'));
  const stranger = await openWebApi({ token: 'xoxb-wrong', apiUrl: slack.url, log: silentLog });
  expect((await receivedFiles(stranger, [file], 100, never)).skipped[0]).toContain('files:read');
  expect((await receivedFiles(api, [{ ...file, size: 1 }], 2, never)).skipped).toEqual([
    'a.txt (larger than 2 bytes)',
  ]);
});

test('Slack sends those who may not read a file elsewhere, and asks some to come later', async () => {
  const file = slack.file('a.txt', 'text/plain', Buffer.from('abc'));
  slack.fail('the download of a file', { status: 302 }, { status: 429 });
  expect((await receivedFiles(api, [file], 100, never)).skipped[0]).toContain('files:read');
  await expect(receivedFiles(api, [file], 100, never)).rejects.toMatchObject({ retryable: true });
});

test.each(['http://slack.com/a', 'https://slack.com.example.com/a', 'https://slack.com@example.com/a'])(
  'the token is not sent to %s',
  async (url) => {
    const slackCom = await openWebApi({ token: slack.token, log: silentLog });
    await expect(slackCom.download(url, 1)).rejects.toMatchObject({ code: 'not-at-slack' });
  },
);

test('a token that Slack no longer accepts is looked for again', async () => {
  const found: string[] = ['xoxb-old', 'xoxb-new'];
  for (const token of found) slack.installed.set(token, { teamId: 'T2', botUserId: 'U2', botId: 'B2' });
  // what the test needs of them
  const of = <T>(fields: object) => fields as T;
  const workspaces = new Workspaces(
    of({ prefix: '/slack', apiUrl: slack.url }),
    of({ oauth: { encryptionSecret: '' } }),
    of({ installation: async () => ({ token: found.shift() }) }),
    silentLog,
  );
  const owner = { teamId: 'T2', enterpriseId: undefined };
  const old = await workspaces.of(owner);
  slack.installed.delete('xoxb-old');
  const call = { channel: 'C1', text: 'Hi' };
  await expect(old?.api.call('chat.postMessage', call)).rejects.toMatchObject({ retryable: true });
  const again = await workspaces.of(owner);
  expect(await again?.api.call('chat.postMessage', call)).toMatchObject({ ok: true });
});
