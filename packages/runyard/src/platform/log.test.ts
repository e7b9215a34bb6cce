import { expect, test } from 'vitest';
import { ModelError } from '../core/models/model-error.js';
import { createLog } from './log.js';

function recorded(format: 'json' | 'pretty', level = 'info') {
  const lines: string[] = [];
  const log = createLog({ level, format, destination: { write: (line: string) => void lines.push(line) } });
  return { log, lines };
}

test('JSON lines carry time, level, text and fields', () => {
  const { log, lines } = recorded('json');
  log.info({ runId: 'r1' }, 'run completed');
  log.debug({}, 'not at this level');
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0]!)).toEqual({
    level: 'info',
    time: expect.stringMatching(/^\d{4}-.*Z$/),
    runId: 'r1',
    msg: 'run completed',
  });
});

test('secrets are removed at any depth, in children and in any spelling', () => {
  const { log, lines } = recorded('json');
  const fields = {
    headers: { authorization: 'Bearer s3cret', 'Set-Cookie': 's3cret', accept: 'a/b' },
    provider: { options: [{ apiKey: 's3cret', api_key: 's3cret', 'x-api-key': 's3cret' }] },
    password: 's3cret',
    token: 's3cret',
    usage: { tokens: 12 },
  };
  log.info(fields, 'request');
  log.child({ accessToken: 's3cret' }).info({}, 'child');
  expect(lines.join('')).not.toContain('s3cret');
  expect(JSON.parse(lines[0]!)).toMatchObject({ headers: { accept: 'a/b' }, usage: { tokens: 12 } });
  expect(fields.password).toBe('s3cret');
});

test('passwords in URLs and bearer tokens are removed from texts and errors', () => {
  const { log, lines } = recorded('json');
  const cause = new Error('connect postgres://app:s3cret@db:5432/main');
  log.error(
    { err: new Error('GET https://x.test/?token=s3cret&a=1', { cause }) },
    'failed with Bearer s3cret',
  );
  log.error(
    Object.assign(new Error('refused'), { code: 'E1', request: { headers: { authorization: 's3cret' } } }),
    'x',
  );
  expect(lines.join('')).not.toContain('s3cret');
  expect(JSON.parse(lines[0]!).err.cause.message).toBe('connect postgres://app:[removed]@db:5432/main');
  expect(JSON.parse(lines[1]!).err).toMatchObject({ message: 'refused', code: 'E1' });
});

test('an error that is its own cause ends', () => {
  const { log, lines } = recorded('json');
  const error = new Error('round');
  error.cause = error;
  log.error({ err: error }, 'failed');
  expect(lines).toHaveLength(1);
});

test('pretty lines are for people: clock, level, text, fields, and the stack below', () => {
  const { log, lines } = recorded('pretty');
  log.warn({ runId: 'r1', note: 'two words', list: [1] }, 'run is slow');
  log.error({ err: new Error('boom') }, 'run failed');
  expect(lines[0]).toMatch(
    /^\d\d:\d\d:\d\d\.\d{3} WARN {2}run is slow runId=r1 note="two words" list=\[1\]\n$/,
  );
  expect(lines[1]).toMatch(/ ERROR run failed\n {2}Error: boom\n {6}at /);
  log.error(
    { err: new ModelError('Test answered 429', { provider: 'Test', kind: 'refused' }) },
    'run failed',
  );
  expect(lines[2]).toMatch(/ ERROR run failed ModelError: Test answered 429\n$/);
});

const tricky = 'a\n2026 ERROR forged\r\u001b[2J\u0085b\u2028c\u202ed\u009b31m';

test('nothing that a client sends makes a line of its own, nor moves the cursor', () => {
  for (const format of ['json', 'pretty'] as const) {
    const { log, lines } = recorded(format);
    log.info({ path: `/x${tricky}`, user: tricky, nested: { list: [tricky] } }, `said ${tricky}`);
    expect(lines).toHaveLength(1);
    const [line = ''] = lines;
    expect(line.endsWith('\n')).toBe(true);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(line.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e]/);
  }
  const { log, lines } = recorded('json');
  log.info({ user: tricky }, tricky);
  expect(JSON.parse(lines[0]!)).toMatchObject({ user: tricky, msg: tricky });
});

test('the text of an error stays within its indentation', () => {
  const { log, lines } = recorded('pretty');
  log.error({ err: new Error(`boom\n10:00:00.000 ERROR forged\u001b[2J`) }, 'failed');
  const [first, ...rest] = lines.join('').trimEnd().split('\n');
  expect(first).toMatch(/ERROR failed$/);
  expect(rest.every((line) => line.startsWith('  '))).toBe(true);
  expect(lines.join('')).not.toContain('\u001b');
});

test.each([
  'token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJzM2NyZXQifQ.s3cret-signature came',
  'account runyard_pat_s3cret0123456789abcdef',
  'Authorization: Basic dXNlcjpzM2NyZXQ=',
  'https://bucket.test/a?X-Amz-Signature=s3cret&b=1',
  'https://idp.test/cb?id_token=s3cret',
  'key sk-proj-s3cret0123456789abcdef',
  'bot xoxb-123456-s3cret',
  'app xapp-1-A1-s3cret',
])('is removed from a text: %s', (text) => {
  const { log, lines } = recorded('json');
  log.warn({ note: text, err: new Error(text) }, text);
  expect(lines.join('')).not.toMatch(/s3cret|dXNlcjpzM2NyZXQ|eyJzdWIi/);
  expect(lines.join('')).toContain('[removed]');
});

test.each([
  'a basic example of sk-y',
  'bearer',
  'the eyJ prefix',
  'my_pat_x',
  'http://x.test/keys?keyword=a',
])('stays: %s', (text) => {
  const { log, lines } = recorded('json');
  log.info({}, text);
  expect(JSON.parse(lines[0]!).msg).toBe(text);
});

test.each(['securityKey', 'x-auth-token', 'jwtKeys', 'client_secret', 'session_token', 'secretAccessKey'])(
  'the value of %s is removed',
  (name) => {
    const { log, lines } = recorded('json');
    log.info({ [name]: 's3cret' }, 'x');
    expect(lines[0]).not.toContain('s3cret');
  },
);
