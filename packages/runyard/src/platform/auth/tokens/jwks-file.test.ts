import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type LogLine, recordingLog } from '../../../../test/support/clients/http-server.js';
import { type SigningKey, signedWithSecret, signingKey } from '../../../../test/support/clients/issuer.js';
import { until } from '../../../../test/support/until.js';
import { loadSettings, type SettingsInput } from '../../settings/config.js';
import { TokenVerifier } from './verifier.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'runyard-jwks-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const first = signingKey('RS256', 'first');
const second = signingKey('RS256', 'second', 'stranger');

const write = (content: string | readonly SigningKey[]) =>
  writeFileSync(
    join(folder, 'jwks.json'),
    typeof content === 'string' ? content : JSON.stringify({ keys: content.map(({ jwk }) => jwk) }),
  );

async function opened(given: SettingsInput = {}) {
  const clock = { now: Date.now() };
  const logged: LogLine[] = [];
  const { settings } = loadSettings({ cwd: folder, code: { jwksFile: 'jwks.json', ...given } });
  const verifier = new TokenVerifier(settings, {
    log: recordingLog(logged),
    now: () => clock.now,
    serviceId: 'service',
  });
  await verifier.open();
  return { verifier, clock, logged };
}

describe('a start is refused by', () => {
  test.each([
    ['a file that is not there', undefined, /jwks\.json does not exist/],
    ['no JSON', '{"keys":', /jwks\.json is not a JWKS/],
    ['no list', '[]', /jwks\.json is not a JWKS/],
    ['no key', '{"keys":[]}', /jwks\.json holds no key that can verify tokens\./],
  ])('%s', async (_what, content, text) => {
    if (content !== undefined) write(content);
    await expect(opened()).rejects.toThrow(text);
  });

  test('a folder', async () => {
    await expect(opened({ jwksFile: '.' })).rejects.toThrow(/cannot be read \(EISDIR\)/);
  });

  test('keys of other algorithms than those in use', async () => {
    write([first]);
    await expect(opened({ jwtAlgorithms: ['ES256'] })).rejects.toThrow('entry 1 fits none of ES256');
  });

  test('private keys', async () => {
    write(JSON.stringify({ keys: [{ ...first.jwk, d: 'c2VjcmV0' }] }));
    await expect(opened()).rejects.toThrow('entry 1 is a private key');
  });
});

test('its keys check tokens, a secret among them when HS256 is named', async () => {
  const secret = 'a secret that is long enough for HS256';
  const k = Buffer.from(secret).toString('base64url');
  write(JSON.stringify({ keys: [first.jwk, { kty: 'oct', k }] }));
  const { verifier } = await opened({ jwtAlgorithms: ['RS256', 'HS256'] });
  expect(await verifier.verify(await first.sign({ sub: 'ada' }))).toMatchObject({ subject: 'ada' });
  expect(await verifier.verify(await signedWithSecret(secret, { sub: 'bob' }))).toMatchObject({
    subject: 'bob',
  });
});

test('a changed file is read when a token names a key that was not there', async () => {
  write([first]);
  const { verifier, clock } = await opened();
  const token = await second.sign({ sub: 'ada' });
  await expect(verifier.verify(token)).rejects.toThrow('No verification keys configured');
  write([first, second]);
  clock.now += 1000;
  expect(await verifier.verify(token)).toMatchObject({ subject: 'ada' });
});

test('a key that was removed from the file is no longer accepted after a while', async () => {
  write([first, second]);
  const { verifier, clock } = await opened();
  const token = await first.sign({});
  await verifier.verify(token);
  write([second]);
  clock.now += 60_000;
  await until('the key is gone', () =>
    verifier.verify(token).then(
      () => false,
      () => true,
    ),
  );
});

test('a file that becomes invalid leaves the keys as they were', async () => {
  write([first]);
  const { verifier, clock, logged } = await opened();
  write('{"keys":');
  clock.now += 1000;
  await expect(verifier.verify(await second.sign({}))).rejects.toThrow('No verification keys configured');
  expect(logged.at(-1)).toMatchObject({ level: 'warn', message: expect.stringContaining('stay in use') });
  await verifier.verify(await first.sign({}));
  write([second]);
  clock.now += 1000;
  await verifier.verify(await second.sign({}));
});
