import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agent, type RunyardOptions, step, team, workflow } from '../../../src/index.js';
import { type Answer, TestService } from '../../support/service.js';
import { decidedScopes } from './contract-scopes.js';
import { componentParameterOf, type Operation, operations } from './operations.js';
import { bearer, tokenSettings } from './tokens.js';

const writer = agent({ id: 'writer', model: 'offline' });
const components = {
  agents: [writer, agent({ id: 'other', model: 'offline' })],
  teams: ['writer', 'other'].map((id) => team({ id, model: 'offline', members: [writer] })),
  workflows: ['writer', 'other'].map((id) =>
    workflow({ id, steps: [step({ name: 'only', agent: writer })] }),
  ),
};

/** In paths components are this one, and users are the caller; anything else there does not exist. */
const component = 'writer';
const asker = 'ada';
const absent = 'absent';

let service: TestService;
let renamed: TestService;

beforeAll(async () => {
  const options: RunyardOptions = { ...tokenSettings, ...components };
  service = await TestService.start(options);
  renamed = await TestService.start({ ...options, adminScope: 'yard:master' });
});
afterAll(() => Promise.all([service.stop(), renamed.stop()]));

/** A request that names nothing that there is, and sends nothing. */
async function ask(operation: Operation, headers: Record<string, string>, at = service): Promise<Answer> {
  const named = componentParameterOf(operation);
  const path = operation.template.replace(/\{(\w+)\}/g, (_all, name) =>
    name === named ? component : name === 'user_id' ? asker : absent,
  );
  return at.call(operation.method, path, { headers });
}

async function holding(operation: Operation, ...scopes: string[]): Promise<Answer> {
  return ask(operation, await bearer({ scopes, subject: asker }));
}

function expectPassed({ status, text }: Answer): void {
  expect([401, 403], `${status} ${text}`).not.toContain(status);
  expect(status, text).toBeLessThan(500);
}

function expectRefused(answer: Answer, { scopes }: Operation): void {
  expect(answer.status, answer.text).toBe(403);
  expect(answer.body.detail).toBe(`Insufficient permissions. Required scope(s): ${scopes.join(', ')}`);
}

const everyScope = [...new Set(operations.flatMap(({ scopes }) => scopes))];

/** Texts that look as if they allowed much, and allow nothing. */
const noScopes = [
  '*',
  '*:*',
  '*:*:*',
  'admin',
  'agent_os',
  'agent_os:*',
  'AGENT_OS:ADMIN',
  ' agent_os:admin',
];

function withInstance(scope: string, instance: string): string {
  const [resource, action] = scope.split(':');
  return `${resource}:${instance}:${action}`;
}

describe.each(operations)('$name', (operation) => {
  const { scopes, isPublic } = operation;
  const isList = /^GET \/(agents|teams|workflows)$/.test(operation.name);

  it('requires what was decided', () => {
    const asked = isPublic ? 'public' : scopes.join(', ') || 'any identity';
    const decided = decidedScopes.get(operation.name);
    expect(
      decided,
      `Nobody decided who may call ${operation.name}: give it an entry in contract-scopes.ts`,
    ).toBeDefined();
    expect(asked).toBe(decided);
  });

  it('is closed to callers without a valid token, unless it is public', async () => {
    const answers = [await ask(operation, {}), await ask(operation, { authorization: 'Bearer garbage' })];
    for (const { status } of answers) {
      if (isPublic) expect([200, 404]).toContain(status);
      else expect(status).toBe(401);
    }
    if (!isPublic) expect(answers[0]?.body.detail).toBe('Authorization header missing');
  });

  it('is open to administrators, by the scope that is configured alone', async () => {
    const usual = await bearer({ scopes: ['agent_os:admin'], subject: 'root' });
    const chosen = await bearer({ scopes: ['yard:master'], subject: 'root' });
    expectPassed(await ask(operation, usual));
    expectPassed(await ask(operation, chosen, renamed));
    if (scopes.length === 0) return;
    expectRefused(await ask(operation, chosen), operation);
    expectRefused(await ask(operation, usual, renamed), operation);
  });

  if (scopes.length === 0) {
    it('needs no scope', async () => expectPassed(await holding(operation)));
    return;
  }

  it('is closed to callers who lack the scope', async () => {
    expectRefused(await holding(operation), operation);
    const others = everyScope.filter((scope) => !scopes.includes(scope));
    expectRefused(await holding(operation, ...others, ...noScopes), operation);
    const [resource] = scopes[0]!.split(':');
    expectRefused(await holding(operation, `${resource}:*`, `${resource}:*:*`, `*:${scopes[0]}`), operation);
  });

  it.each(scopes)('is open to callers who hold %s, for all of it or for any', async (scope) => {
    expectPassed(await holding(operation, scope));
    expectPassed(await holding(operation, withInstance(scope, '*')));
  });

  it.each(scopes)('takes %s of one instance where components are named, and nowhere else', async (scope) => {
    const own = await holding(operation, withInstance(scope, component));
    const other = await holding(operation, withInstance(scope, 'other'));
    if (isList) {
      expect(own.body.map(({ id }: { id: string }) => id)).toEqual([component]);
      expect(other.body.map(({ id }: { id: string }) => id)).toEqual(['other']);
      expect((await holding(operation, withInstance(scope, 'nothing'))).body).toEqual([]);
      return;
    }
    if (componentParameterOf(operation) === undefined) expectRefused(own, operation);
    else expectPassed(own);
    expectRefused(other, operation);
    expectRefused(await holding(operation, withInstance(scope, absent)), operation);
  });
});

it('reads an older name of a resource', async () => {
  const config = operations.find(({ name }) => name === 'GET /config')!;
  expectPassed(await holding(config, 'system:read'));
});

it('reveals no paths to a caller without a token', async () => {
  const { status } = await service.get('/no-such-path');
  expect(status).toBe(401);
  const known = await bearer({});
  expect((await service.get('/no-such-path', known)).status).toBe(404);
});
