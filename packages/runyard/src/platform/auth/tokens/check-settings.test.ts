import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { signingKey } from '../../../../test/support/clients/issuer.js';
import { loadSettings, type SettingsInput } from '../../settings/config.js';
import { checkAuthSettings } from './check-settings.js';
import { authMode } from './settings.js';

const settingsOf = (code: SettingsInput, env = {}) => loadSettings({ cwd: '/project', code, env }).settings;
const check = (code: SettingsInput) => checkAuthSettings(settingsOf(code));

const secret = 'a secret that is long enough for HS256';
const rsa = signingKey('RS256').pem;
const ec = signingKey('ES256').pem;
const bare = rsa.replace(/-----[^-]+-----|\n/g, '');
/** A self-signed one, without its armour: its private half was never kept. */
const certificate =
  'MIIBiTCCAS+gAwIBAgIUL/Cz8ZjH8k/f7dbptrXonhJ1aKUwCgYIKoZIzj0EAwIwGTEXMBUGA1UEAwwOaXNzdWVyLmV4' +
  'YW1wbGUwIBcNMjYxMTE1MTExNDUwWhgPMjEyNjEwMjIxMTE0NTBaMBkxFzAVBgNVBAMMDmlzc3Vlci5leGFtcGxlMFkw' +
  'EwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE7PPiIND4XoU//qFrLNUX7K7Y5j7rdrC0KiigrQUviQas8muvehT57GfcG1xT' +
  'veosZkr4RsmkkFKFTjTqj1Z+f6NTMFEwHQYDVR0OBBYEFG0qyncEnrqmWJ+meUPP6+A8lDB3MB8GA1UdIwQYMBaAFG0q' +
  'yncEnrqmWJ+meUPP6+A8lDB3MA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIgGicQmF9ZeKvT3gLTUyy7' +
  '6S1CYMpEruAaIKGFPk9U6noCIQDcP+QaDXj8XkTnjh5deSK/18iMXhiKRl7aPy0sIs6rZA==';
const weakRsa = generateKeyPairSync('rsa', { modulusLength: 1024 });
const privatePem = weakRsa.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
const weakPem = weakRsa.publicKey.export({ type: 'spki', format: 'pem' }) as string;
const jwksUrl = 'https://issuer.example/jwks.json';

describe('a start is refused', () => {
  test.each<[string, SettingsInput, RegExp]>([
    ['authorization without a key', { authorization: true }, /Set jwtKeys .*, jwksFile or jwksUrl/],
    [
      'authorization with only a security key',
      { authorization: true, securityKey: 'x'.repeat(32) },
      /no key to verify tokens/,
    ],
    ['algorithms without a key', { jwtAlgorithms: ['RS256'] }, /jwtAlgorithms is set, but there is no key/],
    ['tokens that nobody checks', { jwtValidate: false }, /trustUnverifiedTokens: true/],
    ['a short secret', { jwtKeys: [secret, 'short'] }, /key 2 is a secret of 5 bytes.*32 bytes or more/],
    ['a secret too short for HS512', { jwtKeys: [secret], jwtAlgorithms: ['HS512'] }, /HS512 one of 64/],
    ['a secret for RS256', { jwtKeys: [secret], jwtAlgorithms: ['RS256'] }, /key 1 is for HS256, but/],
    ['a public key for HS256', { jwtKeys: [rsa], jwtAlgorithms: ['HS256'] }, /key 1 is for RS256/],
    [
      'HS256 without a secret',
      { jwtKeys: [rsa], jwtAlgorithms: ['RS256', 'HS256'] },
      /HS256, which needs a secret/,
    ],
    ['HS256 for a published JWKS', { jwksUrl, jwtAlgorithms: ['HS256'] }, /HS256, which needs a secret/],
    ['an EC key for RS256', { jwtKeys: [ec], jwtAlgorithms: ['RS256'] }, /key 1 is for ES256/],
    ['a weak RSA key', { jwtKeys: [weakPem] }, /RSA key of 1024 bits/],
    ['a private key', { jwtKeys: [privatePem] }, /is a private key/],
    ['half a PEM text', { jwtKeys: [rsa.slice(0, 100)] }, /PEM text that cannot be read/],
    ['a public key without its armour', { jwtKeys: [bare] }, /public key without its first and last line/],
    ['a certificate without its armour', { jwtKeys: [certificate] }, /public key without its first/],
    ['a key of SSH', { jwtKeys: [`ssh-rsa ${bare}`] }, /public key without/],
    ['a key in JSON', { jwtKeys: ['{"kty":"RSA","n":"…","e":"AQAB"}'] }, /is a key in JSON/],
    ['isolation without tokens', { userIsolation: true }, /cannot distinguish callers/],
    ['a short security key', { securityKey: 'letmein' }, /has 7 characters/],
    [
      'a security key of a service account',
      { securityKey: 'runyard_pat_0123456789' },
      /prefix of service account tokens/,
    ],
    ['everything public', { authorization: true, jwtKeys: [secret], publicPaths: ['/**'] }, /every path/],
  ])('%s', (_what, code, text) => {
    expect(() => check(code)).toThrow(text);
  });

  test('without showing any key', () => {
    for (const code of [{ jwtKeys: ['hunter2'] }, { securityKey: 'hunter2' }]) {
      expect(() => check(code)).toThrow(/openssl/);
      expect(() => check(code)).not.toThrow('hunter2');
    }
    for (const name of ['jwtKeys', 'securityKey', 'jwksUrl']) {
      const refused = () => loadSettings({ cwd: '/project', code: { [name]: { hunter2: 'hunter2' } } });
      expect(refused).toThrow(name);
      expect(refused).not.toThrow('hunter2');
    }
  });
});

describe('settings that fit together', () => {
  test.each<[SettingsInput, ReturnType<typeof authMode>]>([
    [{}, 'none'],
    [{ securityKey: 'x'.repeat(16) }, 'security_key'],
    [{ securityKey: 'x'.repeat(16), jwtKeys: [secret] }, 'jwt'],
    [{ jwtKeys: [secret] }, 'jwt'],
    [{ authorization: true, jwtKeys: [secret, rsa, ec] }, 'jwt'],
    [{ authorization: true, jwksUrl }, 'jwt'],
    [{ jwksFile: 'jwks.json', jwtAlgorithms: ['HS256'] }, 'jwt'],
    [{ authorization: true, jwtValidate: false, trustUnverifiedTokens: true }, 'jwt'],
  ])('%j', (code, mode) => {
    const settings = settingsOf(code);
    checkAuthSettings(settings);
    expect(authMode(settings)).toBe(mode);
  });

  test('isolation is on with authorization, unless it is turned off by name', () => {
    expect(settingsOf({ authorization: true }).userIsolation).toBe(true);
    expect(settingsOf({ authorization: true, userIsolation: false }).userIsolation).toBe(false);
    expect(settingsOf({}).userIsolation).toBe(false);
  });
});

describe('the environment', () => {
  test('holds one key whole, with its commas and its line ends', () => {
    const settings = settingsOf({}, { JWT_VERIFICATION_KEY: 'a,b, c' });
    expect(settings.jwtKeys).toEqual(['a,b, c']);
    expect(settingsOf({}, { JWT_VERIFICATION_KEY: rsa }).jwtKeys).toEqual([rsa.trim()]);
  });

  test('has names of its own that win over the names of the reference', () => {
    const env = {
      JWT_VERIFICATION_KEY: 'theirs',
      RUNYARD_JWT_KEYS: 'one,two',
      JWT_JWKS_FILE: 'theirs.json',
      RUNYARD_JWKS_FILE: 'ours.json',
      OS_SECURITY_KEY: 'theirs',
    };
    expect(settingsOf({}, env)).toMatchObject({
      jwtKeys: ['one', 'two'],
      jwksFile: '/project/ours.json',
      securityKey: 'theirs',
    });
  });

  test.each(['https://user:password@issuer.example/jwks.json', 'ftp://issuer.example/', 'issuer.example'])(
    'cannot name %s as the address of a JWKS',
    (url) => {
      expect(() => settingsOf({}, { RUNYARD_JWKS_URL: url })).toThrow(/value not shown.*allowed: an address/);
    },
  );
});
