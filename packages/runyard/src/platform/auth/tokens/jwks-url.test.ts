import { expect, test } from 'vitest';
import { type LogLine, recordingLog } from '../../../../test/support/clients/http-server.js';
import {
  type Issuer,
  signedWithSecret,
  signingKey,
  startIssuer,
} from '../../../../test/support/clients/issuer.js';
import { until } from '../../../../test/support/until.js';
import { loadSettings, type SettingsInput } from '../../settings/config.js';
import { jwksUrlLoader } from './jwks-url.js';
import { TokenVerifier } from './verifier.js';

const first = signingKey('ES256', 'first');
const second = signingKey('ES256', 'second');
const secret = 'a secret that is long enough for HS256';

async function trusting(issuer: Issuer, given: SettingsInput = {}) {
  const clock = { now: Date.now() };
  const logged: LogLine[] = [];
  const code: SettingsInput = { jwksUrl: issuer.url, jwtAlgorithms: ['ES256'], ...given };
  const verifier = new TokenVerifier(loadSettings({ cwd: '/project', code }).settings, {
    log: recordingLog(logged),
    now: () => clock.now,
    serviceId: 'service',
  });
  await verifier.open();
  return { verifier, logged, clock };
}

const unavailable = { status: 503, message: 'Authentication is temporarily unavailable' };
const unknownKey = { status: 401, message: 'Invalid token: No verification keys configured' };

test('an issuer is asked with the first token, once for all that come together', async () => {
  const issuer = await startIssuer(first, second);
  const { verifier } = await trusting(issuer);
  expect(issuer.asked()).toBe(0);
  const tokens = await Promise.all(['a', 'b', 'c'].map((sub) => first.sign({ sub })));
  const verified = await Promise.all(tokens.map((token) => verifier.verify(token)));
  expect(verified.map(({ subject }) => subject)).toEqual(['a', 'b', 'c']);
  await verifier.verify(await second.sign({}));
  expect(issuer.asked()).toBe(1);
});

test('a new key is known with the first token that names it', async () => {
  const issuer = await startIssuer(first);
  const { verifier, clock } = await trusting(issuer);
  await verifier.verify(await first.sign({}));
  issuer.publish(second);
  clock.now += 10_000;
  expect(await verifier.verify(await second.sign({ sub: 'ada' }))).toMatchObject({ subject: 'ada' });
  await expect(verifier.verify(await first.sign({}))).rejects.toMatchObject(unknownKey);
});

test('tokens with unknown keys do not cause repeated requests', async () => {
  const issuer = await startIssuer(first);
  const { verifier, clock } = await trusting(issuer);
  await verifier.verify(await first.sign({}));
  clock.now += 10_000;
  for (let count = 0; count < 20; count++) {
    const token = await first.sign({}, { kid: `random ${count}` });
    await expect(verifier.verify(token)).rejects.toMatchObject(unknownKey);
    clock.now += 100;
  }
  expect(issuer.asked()).toBe(2);
});

test('a token without a kid, or with another, is checked with the key that has none', async () => {
  const nameless = signingKey('ES256');
  const { verifier } = await trusting(await startIssuer(first, nameless));
  expect(await verifier.verify(await nameless.sign({ sub: 'ada' }))).toMatchObject({ subject: 'ada' });
  expect(await verifier.verify(await nameless.sign({ sub: 'bob' }, { kid: 'x' }))).toMatchObject({
    subject: 'bob',
  });
  await expect(verifier.verify(await nameless.sign({}, { kid: 'first' }))).rejects.toThrow(
    'Signature verification failed',
  );
});

test('keys are read again in the background, and a withdrawn one goes with the tokens that it signed', async () => {
  const issuer = await startIssuer(first, second);
  const { verifier, clock } = await trusting(issuer);
  const token = await first.sign({ sub: 'ada' });
  const other = await second.sign({});
  await verifier.verify(token);
  clock.now += 300_000;
  issuer.publish(second);
  // both are kept from now on for a minute, and still are when the answer of the issuer comes
  await verifier.verify(token);
  await until('the key is gone', () =>
    verifier.verify(token).then(
      () => false,
      () => true,
    ),
  );
  await verifier.verify(other);
});

test('a key that was withdrawn while no requests came is no longer accepted', async () => {
  const issuer = await startIssuer(first, second);
  const { verifier, clock } = await trusting(issuer);
  await verifier.verify(await first.sign({}));
  issuer.publish(second);
  clock.now += 3_600_000;
  const stale = await Promise.all(['a', 'b'].map((sub) => first.sign({ sub })));
  const verified = await Promise.allSettled(stale.map((token) => verifier.verify(token)));
  expect(verified.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await verifier.verify(await second.sign({}));
  expect(issuer.asked()).toBe(2);
});

test('an issuer whose tokens for other services would open this one is a warning in the log', async () => {
  const issuer = await startIssuer(first);
  const warnings = async (given: SettingsInput) =>
    (await trusting(issuer, given)).logged.map(({ message }) => message);
  expect(await warnings({})).toEqual([expect.stringContaining('Set jwtAudience')]);
  expect(await warnings({ jwtAudience: ['runyard'] })).toEqual([]);
  expect(await warnings({ jwtVerifyAudience: true })).toEqual([]);
});

test('while the issuer is unavailable its last keys stay valid, and it is not called for each token', async () => {
  const issuer = await startIssuer(first);
  const { verifier, logged, clock } = await trusting(issuer);
  await verifier.verify(await first.sign({}));
  issuer.answer((response) => response.destroy());
  clock.now += 300_000;
  await verifier.verify(await first.sign({ sub: 'a' }));
  await until('the failure is logged', () => logged.some(({ level }) => level === 'warn'));
  await verifier.verify(await first.sign({ sub: 'b' }));
  expect(issuer.asked()).toBe(2);
  expect(logged.at(-1)?.message).toContain('the previous keys stay in use');
});

test('an issuer that was never there is 503, until it is', async () => {
  const issuer = await startIssuer(first);
  issuer.answer((response) => response.writeHead(500).end());
  const { verifier, clock } = await trusting(issuer);
  const token = await first.sign({ sub: 'ada' });
  await expect(verifier.verify(token)).rejects.toMatchObject(unavailable);
  issuer.publish(first);
  await expect(verifier.verify(token)).rejects.toMatchObject(unavailable);
  expect(issuer.asked()).toBe(1);
  clock.now += 1000;
  expect(await verifier.verify(token)).toMatchObject({ subject: 'ada' });
});

test('keys of the settings are valid while the issuer is unavailable', async () => {
  const issuer = await startIssuer(first);
  issuer.answer((response) => response.destroy());
  const { verifier } = await trusting(issuer, { jwtKeys: [secret], jwtAlgorithms: ['ES256', 'HS256'] });
  expect(await verifier.verify(await signedWithSecret(secret, { sub: 'ada' }))).toMatchObject({
    subject: 'ada',
  });
  await expect(verifier.verify(await first.sign({}))).rejects.toMatchObject(unavailable);
});

test.each<[string, string, Parameters<Issuer['answer']>[0]]>([
  ['a redirect', 'status 302', (response) => response.writeHead(302, { location: '/elsewhere' }).end()],
  ['no JSON', 'is not a JWKS', (response) => response.end('<html>')],
  ['no list of keys', 'is not a JWKS', (response) => response.end('{"keys":{}}')],
  ['no usable key', 'holds no key', (response) => response.end('{"keys":[{"kty":"x"},null]}')],
  [
    'a published secret',
    'cannot be published',
    (response) => response.end(JSON.stringify({ keys: [{ kty: 'oct', k: 'c2VjcmV0'.repeat(10) }] })),
  ],
  ['more than a JWKS', 'larger than', (response) => response.end(' '.repeat(1_048_577))],
  ['no UTF-8', 'not valid', (response) => response.end(Buffer.from([0xff]))],
])('an issuer that answers with %s has no keys', async (_what, reason, answer) => {
  const issuer = await startIssuer();
  issuer.answer(answer);
  const { verifier, logged } = await trusting(issuer, {
    jwtKeys: [secret],
    jwtAlgorithms: ['HS256', 'ES256'],
  });
  await expect(verifier.verify(await first.sign({}))).rejects.toMatchObject(unavailable);
  expect(String(logged.at(-1)?.fields.error)).toContain(reason);
});

test('an issuer that does not end its answer is given up', async () => {
  const issuer = await startIssuer();
  issuer.answer((response) => response.write('{"keys":['));
  const load = jwksUrlLoader(issuer.url, { algorithms: new Set(['ES256']), timeoutMs: 50 });
  await expect(load()).rejects.toThrow('timeout');
});

test('entries for other purposes and of other kinds are left out', async () => {
  const encrypting = { ...second.jwk, use: 'enc' };
  const published = [
    encrypting,
    { ...second.jwk, kid: 'third', alg: 'ES384' },
    { kty: 'AKP', kid: 'new' },
    first.jwk,
  ];
  const issuer = await startIssuer();
  issuer.answer((response) => response.end(JSON.stringify({ keys: published })));
  const { verifier } = await trusting(issuer);
  await verifier.verify(await first.sign({}));
  await expect(verifier.verify(await second.sign({}))).rejects.toMatchObject(unknownKey);
  await expect(verifier.verify(await second.sign({}, { kid: 'third' }))).rejects.toMatchObject(unknownKey);
});
