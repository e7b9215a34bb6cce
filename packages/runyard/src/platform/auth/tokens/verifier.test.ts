import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type LogLine, recordingLog } from '../../../../test/support/clients/http-server.js';
import { signedWithSecret, signingKey } from '../../../../test/support/clients/issuer.js';
import { errors } from '../../../core/errors/errors.js';
import { silentLog } from '../../../core/log.js';
import { loadSettings, type SettingsInput } from '../../settings/config.js';
import { TokenVerifier } from './verifier.js';

const secret = 'a secret that is long enough for HS256';
const now = Date.parse('2026-01-01T00:00:00Z');
const seconds = now / 1000;

async function verifierOf(code: SettingsInput, clock: () => number = () => now): Promise<TokenVerifier> {
  const { settings } = loadSettings({ cwd: '/project', code });
  const verifier = new TokenVerifier(settings, { log: silentLog, now: clock, serviceId: 'my-service' });
  await verifier.open();
  return verifier;
}

/** A token by hand, where no library would make it. */
function handmade(header: unknown, payload: unknown, key = secret): string {
  const part = (value: unknown) =>
    (Buffer.isBuffer(value)
      ? value
      : Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
    ).toString('base64url');
  const signed = `${part(header)}.${part(payload)}`;
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
}
const withClaims = (claims: unknown) => handmade({ alg: 'HS256', typ: 'JWT' }, claims);

const rsa = signingKey('RS256');
const missingAudience =
  'Invalid token: Token is missing the "aud" claim. Audience verification requires this claim to be present in the token.';
const wrongAudience = 'Invalid token audience - token not valid for this Runyard instance';

describe('a token is refused with the text of its fault', () => {
  test.each<[string, string, string, SettingsInput?]>([
    ['expired', withClaims({ exp: seconds - 11 }), 'Token has expired'],
    [
      'wrong secret',
      handmade({ alg: 'HS256' }, {}, 'x'.repeat(32)),
      'Invalid token: Signature verification failed',
    ],
    ['no signature', withClaims({}).replace(/[^.]*$/, ''), 'Invalid token: Signature verification failed'],
    [
      'a changed payload',
      withClaims({}).replace('.e30.', '.e31.'),
      'Invalid token: Signature verification failed',
    ],
    ['no JWT', 'Bearer', 'Invalid token: Not enough segments'],
    ['nothing', '', 'Invalid token: Not enough segments'],
    ['two segments', 'a.b', 'Invalid token: Not enough segments'],
    ['five segments', 'a.b.c.d.e', 'Invalid token: Too many segments'],
    ['a header that is no base64url', 'a.b.c', 'Invalid token: Invalid header padding'],
    ['a header that is no JSON', 'abcd.e30.abcd', 'Invalid token: Invalid header string: it is not UTF-8'],
    [
      'a header that is a list',
      handmade([], {}),
      'Invalid token: Invalid header string: must be a json object',
    ],
    [
      'a payload that is no base64url',
      withClaims({}).replace('.e30.', '.e3!.'),
      'Invalid token: Invalid payload padding',
    ],
    ['a padded signature', `${withClaims({})}=`, 'Invalid token: Invalid crypto padding'],
    ['a signature with a line end', `${withClaims({})}\n`, 'Invalid token: Invalid crypto padding'],
    ['alg none', handmade({ alg: 'none' }, {}), 'Invalid token: The specified alg value is not allowed'],
    ['alg None', handmade({ alg: 'None' }, {}), 'Invalid token: The specified alg value is not allowed'],
    ['another alg', handmade({ alg: 'HS512' }, {}), 'Invalid token: The specified alg value is not allowed'],
    [
      'an alg of every object',
      handmade({ alg: 'constructor' }, {}),
      'Invalid token: The specified alg value is not allowed',
    ],
    [
      'an alg that is no text',
      handmade({ alg: ['HS256'] }, {}),
      'Invalid token: The specified alg value is not allowed',
    ],
    ['no alg', handmade({ typ: 'JWT' }, {}), 'Invalid token: Algorithm not specified'],
    [
      'crit',
      handmade({ alg: 'HS256', crit: ['b64'], b64: false }, {}),
      'Invalid token: Unsupported critical extension',
    ],
    [
      'a kid that is no text',
      handmade({ alg: 'HS256', kid: 1 }, {}),
      'Invalid token: Key ID header parameter must be a string',
    ],
    [
      'a payload that is no JSON',
      withClaims('{"sub":'),
      'Invalid token: Invalid payload string: it is not JSON that is read here',
    ],
    [
      'a payload that is a text',
      withClaims('"x"'),
      'Invalid token: Invalid payload string: must be a json object',
    ],
    [
      'a payload that is no UTF-8',
      withClaims(Buffer.from([0x22, 0xff, 0x22])),
      'Invalid token: Invalid payload string: it is not UTF-8',
    ],
    [
      'deep claims',
      withClaims(`{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`),
      'Invalid token: Invalid payload string: it is not JSON that is read here',
    ],
    [
      'an oversized token',
      withClaims({ pad: 'x'.repeat(13_000) }),
      'Invalid token: Token is longer than 16384 characters',
    ],
    ['nbf ahead', withClaims({ nbf: seconds + 11 }), 'Invalid token: The token is not yet valid (nbf)'],
    ['iat ahead', withClaims({ iat: seconds + 11 }), 'Invalid token: The token is not yet valid (iat)'],
    ['sub a number', withClaims({ sub: 1 }), 'Invalid token: Subject must be a string'],
    ['sub null', withClaims({ sub: null }), 'Invalid token: Subject must be a string'],
    [
      'exp a text',
      withClaims({ exp: '1' }),
      'Invalid token: Expiration Time claim (exp) must be an integer.',
    ],
    [
      'exp beyond numbers',
      withClaims('{"exp":1e999}'),
      'Invalid token: Invalid payload string: it is not JSON that is read here',
    ],
    ['nbf a text', withClaims({ nbf: 'x' }), 'Invalid token: Not Before claim (nbf) must be an integer.'],
    ['iat null', withClaims({ iat: null }), 'Invalid token: Issued At claim (iat) must be an integer.'],
    ['a service account', withClaims({ sub: 'sa:robot' }), 'Invalid token subject'],
    ['an OAuth state', withClaims({ sub: '__oauth__:x' }), 'Invalid token subject'],
    ['the scheduler', withClaims({ sub: '__scheduler__' }), 'Invalid token subject'],
    ['a subject with U+0000', withClaims({ sub: 'a\0' }), 'Invalid token subject'],
    ['half a character', withClaims('{"sub":"\\ud800"}'), 'Invalid token subject'],
    ['an endless subject', withClaims({ sub: 'x'.repeat(256) }), 'Invalid token subject'],
    ['no aud', withClaims({}), missingAudience, { jwtAudience: ['a'] }],
    ['an empty aud', withClaims({ aud: [] }), missingAudience, { jwtAudience: ['a'] }],
    ['another aud', withClaims({ aud: ['b', 'c'] }), wrongAudience, { jwtAudience: ['a'] }],
    ['not for this service', withClaims({ aud: 'other' }), wrongAudience, { jwtVerifyAudience: true }],
    [
      'an aud that is no text',
      withClaims({ aud: [1] }),
      'Invalid token: Invalid claim format in token',
      { jwtAudience: ['a'] },
    ],
    ['no iss', withClaims({}), 'Invalid token: Token is missing the "iss" claim', { jwtIssuer: 'https://a' }],
    [
      'another iss',
      withClaims({ iss: 'https://a/' }),
      'Invalid token: Invalid issuer',
      { jwtIssuer: 'https://a' },
    ],
  ])('%s', async (_what, token, text, settings = {}) => {
    const verifier = await verifierOf({ jwtKeys: [secret], ...settings });
    await expect(verifier.verify(token)).rejects.toMatchObject({ status: 401, message: text });
  });

  test('a WebSocket can report which audience was expected', async () => {
    const verifier = await verifierOf({ jwtKeys: [secret], jwtAudience: ['adm'] });
    const fault = await verifier.verify(withClaims({ aud: 'zz' })).catch((error: Error) => error);
    expect(fault).toMatchObject({
      code: 'token_audience',
      cause: { message: "Invalid audience. Expected one of: ['adm'], got: ['zz']" },
    });
  });

  test('the fault of the key that signed is reported, whatever the others say', async () => {
    const keys = [
      secret,
      'another secret of more than 32 bytes',
      'a third secret that signed nothing at all',
    ];
    const verifier = await verifierOf({ jwtKeys: [...keys, rsa.pem] });
    const early = await signedWithSecret(secret, { nbf: seconds + 100 });
    await expect(verifier.verify(early)).rejects.toThrow('The token is not yet valid (nbf)');
    await expect(verifier.verify(await rsa.sign({ exp: seconds - 100 }))).rejects.toThrow(
      'Token has expired',
    );
  });
});

describe('a token is accepted', () => {
  test('with what it claims', async () => {
    const verifier = await verifierOf({ jwtKeys: [secret] });
    const claims = { sub: 'ada', scopes: ['agents:run'], exp: seconds + 60, plan: { tier: 'gold' } };
    expect(await verifier.verify(withClaims(claims))).toEqual({
      claims,
      subject: 'ada',
      scopes: ['agents:run'],
      expiresAt: now + 70_000,
    });
  });

  test('without any claim, forever and for no user', async () => {
    const verifier = await verifierOf({ jwtKeys: [secret] });
    const nothing = { claims: {}, subject: null, scopes: [], expiresAt: null };
    expect(await verifier.verify(withClaims({}))).toEqual(nothing);
    expect(await verifier.verify(withClaims({ sub: '' }))).toMatchObject({ subject: null });
  });

  test.each([
    [{ scopes: 'a:b c:d' }, ['a:b c:d']],
    [{ scope: 'a:b  c:d' }, ['a:b', 'c:d']],
    [{ scopes: ['a:b', 1, null], scope: 'a:b c:d' }, ['a:b', 'c:d']],
    [{ scopes: { admin: true }, scope: ['a:b'] }, []],
  ])('with the scopes of %j', async (claims, scopes) => {
    const verifier = await verifierOf({ jwtKeys: [secret] });
    expect((await verifier.verify(withClaims(claims))).scopes).toEqual(scopes);
  });

  test('with names of claims that are settings', async () => {
    const verifier = await verifierOf({ jwtKeys: [secret], userIdClaim: 'uid', scopesClaim: 'rights' });
    const token = withClaims({ sub: 'sa:ignored', uid: 'ada', rights: ['a:b'], scopes: ['c:d'] });
    expect(await verifier.verify(token)).toMatchObject({ subject: 'ada', scopes: ['a:b'] });
    await expect(verifier.verify(withClaims({ uid: 'sa:x' }))).rejects.toThrow('Invalid token subject');
    await expect(verifier.verify(withClaims({ uid: 7 }))).rejects.toThrow('Subject must be a string');
  });

  test('without a user, when the claim is a property of every object', async () => {
    const verifier = await verifierOf({
      jwtKeys: [secret],
      userIdClaim: 'constructor',
      scopesClaim: 'toString',
    });
    expect(await verifier.verify(withClaims({}))).toMatchObject({ subject: null, scopes: [] });
  });

  test.each([
    [{ aud: 'b' }, { jwtAudience: ['a', 'b'] }],
    [{ aud: ['x', 'a'] }, { jwtAudience: ['a', 'b'] }],
    [{ aud: 'my-service' }, { jwtVerifyAudience: true }],
    [{ aud: 7 }, {}],
    [{ iss: 'https://a' }, { jwtIssuer: 'https://a' }],
    [{ exp: seconds - 9, nbf: seconds + 10, iat: seconds + 10 }, {}],
    [{ exp: seconds - 59 }, { jwtLeewaySeconds: 60 }],
  ])('that claims %j under %j', async (claims, settings) => {
    const verifier = await verifierOf({ jwtKeys: [secret], ...settings });
    expect(await verifier.verify(withClaims(claims))).toMatchObject({ claims });
  });

  test('until its end and the leeway are over, also when it was seen before', async () => {
    let clock = now;
    const verifier = await verifierOf({ jwtKeys: [secret] }, () => clock);
    const token = withClaims({ exp: seconds + 20 });
    const { expiresAt } = await verifier.verify(token);
    clock = expiresAt! - 1;
    await verifier.verify(token);
    clock = expiresAt!;
    await expect(verifier.verify(token)).rejects.toThrow('Token has expired');
  });

  test('and its claims cannot be changed for the next request', async () => {
    const verifier = await verifierOf({ jwtKeys: [secret] });
    const token = withClaims({ sub: 'ada', scopes: ['a:b'], plan: { tiers: ['gold'] } });
    const { claims, scopes } = await verifier.verify(token);
    expect(() => Object.assign(claims, { sub: 'eve' })).toThrow(TypeError);
    expect(() => (claims.plan as { tiers: string[] }).tiers.push('x')).toThrow(TypeError);
    expect(() => (scopes as string[]).push('c:d')).toThrow(TypeError);
  });
});

describe('keys and algorithms', () => {
  test.each(['RS256', 'RS512', 'PS256', 'PS384', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'] as const)(
    '%s with a public key',
    async (algorithm) => {
      const key = signingKey(algorithm);
      const verifier = await verifierOf({ jwtKeys: [key.pem], jwtAlgorithms: [algorithm] });
      expect(await verifier.verify(await key.sign({ sub: 'ada' }))).toMatchObject({ subject: 'ada' });
      const other = await signingKey(algorithm, undefined, 'stranger').sign({ sub: 'ada' });
      await expect(verifier.verify(other)).rejects.toThrow('Signature verification failed');
    },
  );

  test.each(['HS256', 'HS384', 'HS512'] as const)('%s with a secret', async (algorithm) => {
    const long = secret.repeat(2);
    const verifier = await verifierOf({ jwtKeys: [long], jwtAlgorithms: [algorithm] });
    const token = await signedWithSecret(long, { sub: 'ada' }, algorithm);
    expect(await verifier.verify(token)).toMatchObject({ subject: 'ada' });
  });

  test('a public key is no secret, however the token is headed', async () => {
    const forged = [rsa.pem, rsa.pem.trim(), rsa.pem.replaceAll('\n', '\\n')].map((key) =>
      handmade({ alg: 'HS256' }, { sub: 'admin' }, key),
    );
    const only = await verifierOf({ jwtKeys: [rsa.pem] });
    const both = await verifierOf({ jwtKeys: [rsa.pem, secret] });
    for (const token of forged) {
      await expect(only.verify(token)).rejects.toThrow('The specified alg value is not allowed');
      await expect(both.verify(token)).rejects.toThrow('Signature verification failed');
    }
  });

  test('a key within the token is ignored', async () => {
    const eve = signingKey('RS256', undefined, 'stranger');
    const verifier = await verifierOf({ jwtKeys: [rsa.pem] });
    const token = await eve.sign(
      { sub: 'admin' },
      { jwk: eve.jwk, jku: 'http://127.0.0.1:9/', x5u: 'http://127.0.0.1:9/' },
    );
    await expect(verifier.verify(token)).rejects.toThrow('Signature verification failed');
  });

  test('a PEM text whose line ends were written as two characters', async () => {
    const verifier = await verifierOf({ jwtKeys: [rsa.pem.trim().replaceAll('\n', '\\n')] });
    expect(await verifier.verify(await rsa.sign({ sub: 'ada' }))).toMatchObject({ subject: 'ada' });
  });
});

describe('tokens that are not checked', () => {
  const trusting = { jwtValidate: false, trustUnverifiedTokens: true };

  test('say who the caller is, expired or not', async () => {
    const verifier = await verifierOf(trusting);
    const token = handmade({ alg: 'none' }, { sub: 'ada', scopes: ['a:b'], exp: 1 });
    expect(await verifier.verify(token)).toMatchObject({ subject: 'ada', scopes: ['a:b'], expiresAt: null });
  });

  test.each(['nonsense', 'a.b.c', handmade({ alg: 'HS256' }, '[]')])('and %s says nothing', async (token) => {
    const verifier = await verifierOf(trusting);
    expect(await verifier.verify(token)).toEqual({ claims: {}, subject: null, scopes: [], expiresAt: null });
  });

  test('but never one of the names of the service itself', async () => {
    const verifier = await verifierOf(trusting);
    await expect(verifier.verify(withClaims({ sub: 'sa:x' }))).rejects.toThrow(errors.tokenSubject().message);
  });

  test('are a warning in the log', async () => {
    const logged: LogLine[] = [];
    const { settings } = loadSettings({ cwd: '/project', code: trusting });
    await new TokenVerifier(settings, { log: recordingLog(logged), serviceId: 's' }).open();
    expect(logged).toMatchObject([{ level: 'warn', message: expect.stringContaining('not verified') }]);
  });
});
