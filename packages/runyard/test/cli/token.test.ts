import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { CommandFailure } from '../../src/cli/failure.js';
import { token as printToken } from '../../src/cli/token.js';
import { agent } from '../../src/index.js';
import { startService } from '../support/service.js';
import { entry, project, run } from './support.js';

const secret = 'a secret that is long enough for HS256';
const env = { RUNYARD_JWT_KEYS: secret, RUNYARD_AUTHORIZATION: 'true' };

const token = (words: readonly string[], variables: Record<string, string> = env, files = {}) =>
  run(['token', ...words], { cwd: project(files), env: variables });

function claimsIn(printed: string) {
  const [, payload = ''] = printed.split('.');
  return JSON.parse(Buffer.from(payload, 'base64url').toString());
}

describe('runyard token', () => {
  test('prints only a token, which the service accepts with the requested claims', async () => {
    const words = ['--user', 'ada', '--scopes', 'agents:read,sessions:read', '--expires', '30m'];
    const { code, stdout, stderr } = await token(words);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    const claims = claimsIn(stdout);
    expect(claims).toEqual({
      sub: 'ada',
      scopes: ['agents:read', 'sessions:read'],
      iat: expect.any(Number),
      exp: claims.iat + 1800,
    });
    expect(stderr).toMatch(
      /^Token for ada with agents:read, sessions:read, valid until \d{4}-\d\d-\d\dT[\d:]+Z\.\n$/,
    );
    const service = await startService({
      agents: [agent({ id: 'a', model: 'offline' })],
      authorization: true,
      jwtKeys: [secret],
    });
    const headers = { authorization: `Bearer ${stdout.trim()}` };
    expect((await service.get('/agents', headers)).status).toBe(200);
    expect((await service.get('/memories', headers)).status).toBe(403);
  });

  test('follows the settings of the application, whatever that prints', async () => {
    const settings = {
      authorization: true,
      jwtKeys: ['x'.repeat(64)],
      jwtAlgorithms: ['HS512'],
      jwtIssuer: 'https://issuer.example',
      jwtVerifyAudience: true,
      id: 'shop',
      userIdClaim: 'uid',
      scopesClaim: 'rights',
      adminScope: 'our-root',
    };
    const code = `console.log('a word of the application');\n${entry(`{ settings: ${JSON.stringify(settings)} }`)}`;
    const words = ['--user', 'ada', '--admin', '--claim', 'tier=gold', '--claim', 'level=3'];
    const outcome = await token(words, {}, { 'agents.ts': code });
    expect(outcome.stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    expect(outcome.stderr).toContain('a word of the application');
    expect(claimsIn(outcome.stdout)).toMatchObject({
      uid: 'ada',
      rights: ['our-root'],
      iss: 'https://issuer.example',
      aud: 'shop',
      tier: 'gold',
      level: 3,
    });
    const [header = ''] = outcome.stdout.split('.');
    expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toMatchObject({ alg: 'HS512' });
  });

  test('offers a secret where none is set, and that secret works', async () => {
    const { code, stdout, stderr } = await token(['--user', 'ada'], {});
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    const offered = Object.fromEntries(
      Array.from(stderr.matchAll(/^ {2}export (\w+)=(\w+)$/gm), ([, name, value]) => [name, value]),
    );
    expect(Object.keys(offered)).toEqual(['RUNYARD_AUTHORIZATION', 'RUNYARD_JWT_KEYS']);
    expect(await token(['--user', 'ada'], offered)).toMatchObject({ code: 0 });
    expect((await token(['--user', 'ada'], {})).stderr).not.toContain(offered.RUNYARD_JWT_KEYS);
  });

  test('says why it cannot sign for a service that has no secret', async () => {
    const { publicKey } = generateKeyPairSync('ed25519');
    const pem = publicKey.export({ type: 'spki', format: 'pem' }) as string;
    const withPem = await token(['--user', 'ada'], { JWT_VERIFICATION_KEY: pem });
    expect(withPem).toMatchObject({ code: 1, stdout: '' });
    expect(withPem.stderr).toContain('This service verifies tokens with public keys');
    const published = { RUNYARD_JWKS_URL: 'http://127.0.0.1:1/jwks.json' };
    expect((await token(['--user', 'ada'], published)).stderr).toContain('public keys');
    const keyed = await token(['--user', 'ada'], { RUNYARD_SECURITY_KEY: 'the-one-key-of-this-service' });
    expect(keyed).toMatchObject({ code: 1, stdout: '' });
    expect(keyed.stderr).toContain('one shared key (securityKey)');
    expect(keyed.stderr).not.toContain('the-one-key');
  });

  test.each([
    [{ user: 'sa:ci' }, 'flag --user is "sa:ci"; it is reserved'],
    [{ user: '__scheduler__' }, 'flag --user is "__scheduler__"; it is reserved'],
    [{ user: '' }, 'flag --user is empty'],
    [{ expires: '8' }, 'flag --expires is "8"; allowed: a time of at most 365d'],
    [{ expires: '400d' }, 'flag --expires is "400d"'],
    [{ scopes: 'agents:run,nonsense' }, 'flag --scopes has nonsense; allowed'],
    [{ scopes: 'agent:run' }, 'Did you mean agents:run?'],
    [{ scopes: 'sessions:mine:read' }, 'flag --scopes has sessions:mine:read; allowed'],
    [{ scopes: 'agents:run;nonsense' }, 'flag --scopes has nonsense; allowed'],
    [{ claim: ['tier'] }, 'flag --claim is "tier"; allowed: name=value'],
    [{ claim: ['exp=1'] }, 'flag --claim names exp'],
  ])('%j is refused with what to do', async (flags, text) => {
    vi.stubEnv('RUNYARD_JWT_KEYS', secret);
    vi.stubEnv('RUNYARD_AUTHORIZATION', 'true');
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    const refused = printToken(undefined, { user: 'ada', expires: '8h', claim: [], ...flags });
    await expect(refused).rejects.toThrow(text);
    await expect(refused).rejects.toBeInstanceOf(CommandFailure);
  });

  test.each([
    [['--user', 'ada', '--scopes', 'agent:run'], 'Did you mean agents:run?'],
    [[], "required option '--user <id>' not specified"],
  ])('%j ends with 1 and prints no token', async (words, text) => {
    const { code, stdout, stderr } = await token(words);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(text);
  });

  test('names a secret that is too short as the service would', async () => {
    const { code, stderr } = await token(['--user', 'ada'], { RUNYARD_JWT_KEYS: 'short' });
    expect(code).toBe(1);
    expect(stderr).toContain('jwtKeys: key 1 is a secret of 5 bytes');
  });
});
