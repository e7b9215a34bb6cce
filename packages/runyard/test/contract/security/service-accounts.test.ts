import { expect, test } from 'vitest';
import { serviceAccountRoutes } from '../../../src/capabilities/service-accounts/routes.js';
import { anonymousCaller, type Caller } from '../../../src/platform/auth/caller.js';
import { Rights } from '../../../src/platform/auth/rights.js';
import { ApiCheck } from '../../support/clients/api-check.js';
import { startServer } from '../../support/clients/http-server.js';
import { AccountsProcess, adminScope, holding } from '../../support/components/service-accounts.js';
import { freshSqlite } from '../../support/databases.js';
import type { Answer, Body } from '../../support/service.js';

const root: Caller = { ...anonymousCaller, proven: true };
const caller = (...scopes: string[]): Caller => ({ ...root, ...holding(...scopes) });

/** The routes of service accounts for the caller that the test chooses; checks every answer against the description. */
async function startAccounts() {
  const process = new AccountsProcess(await (await freshSqlite()).open());
  let present = root;
  const { url } = await startServer(serviceAccountRoutes, {
    services: { serviceAccounts: process.accounts },
    resolveCaller: () => present,
  });
  const api = ApiCheck.of(await (await fetch(`${url}/openapi.json`)).text());
  const call = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const response = await fetch(url + path, {
      method,
      ...(body !== undefined && {
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    });
    const text = await response.text();
    api.check(method, path, response.status, response.headers.get('content-type') ?? '', text);
    const { status, headers } = response;
    return { status, headers, text, body: text === '' ? undefined : (JSON.parse(text) as Body) };
  };
  return {
    process,
    call,
    create: (body: unknown) => call('POST', '/service-accounts', body),
    as: (other: Caller) => {
      present = other;
    },
  };
}

const scopes = (...given: string[]) => given.map((scope) => ({ scope }));
const scopeRecord = (raw: string, namespace: string, sub: string | null, permission: string) => ({
  id: null,
  raw,
  namespace,
  sub_namespace: sub,
  permission,
  value: 'allow',
});

test('a new account comes with its token, which no other answer shows', async () => {
  const { create, call, process } = await startAccounts();
  const before = Math.floor(Date.now() / 1000);
  const { status, body, headers } = await create({ name: 'ci-bot', unknown: 'ignored' });
  expect(status).toBe(201);
  expect(headers.get('cache-control')).toBe('no-store');
  const { token, ...record } = body;
  expect(token).toMatch(/^runyard_pat_[0-9A-Za-z]{43}$/);
  expect(record).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
    name: 'ci-bot',
    principal: 'sa:ci-bot',
    user_id: null,
    token_prefix: token.slice(0, 16),
    scopes: [
      scopeRecord('agents:run', 'agents', null, 'run'),
      scopeRecord('teams:run', 'teams', null, 'run'),
      scopeRecord('workflows:run', 'workflows', null, 'run'),
      scopeRecord('sessions:read', 'sessions', null, 'read'),
      scopeRecord('config:read', 'config', null, 'read'),
    ],
    created_at: expect.any(Number),
    expires_at: record.created_at + 90 * 86_400,
    last_used_at: null,
    revoked_at: null,
    created_by: null,
  });
  expect(record.created_at).toBeGreaterThanOrEqual(before);
  expect(await process.outcome(token)).toBe('sa:ci-bot');
  const list = await call('GET', '/service-accounts');
  expect(list.text).not.toContain(token.slice(16));
  expect(list.body).toEqual({
    data: [expect.objectContaining({ id: record.id })],
    meta: { page: 1, limit: 20, total_pages: 1, total_count: 1, search_time_ms: 0 },
  });
  expect(Object.keys(list.body.data[0]).sort()).toEqual(Object.keys(record).sort());
});

test('scopes and the end are as asked for, and the maker is remembered', async () => {
  const { create, as } = await startAccounts();
  as(caller(adminScope));
  const made = await create({
    name: 'reader',
    scopes: [{ scope: 'agents:*:run', effect: 'allow' }, { scope: 'system:read' }, { scope: 'agents:*:run' }],
    expires_in_days: 7,
  });
  expect(made.body).toMatchObject({ user_id: 'ada', created_by: 'ada' });
  expect(made.body.expires_at - made.body.created_at).toBe(7 * 86_400);
  expect(made.body.scopes).toEqual([
    scopeRecord('agents:*:run', 'agents', '*', 'run'),
    scopeRecord('system:read', 'config', null, 'read'),
  ]);
  const lasting = await create({ name: 'lasting', scopes: [], never_expires: true, expires_in_days: 7 });
  expect(lasting.body).toMatchObject({ scopes: [], expires_at: null });
  const usual = await create({ name: 'usual', scopes: null, expires_in_days: null });
  expect(usual.body.scopes).toHaveLength(5);
  expect(usual.body.expires_at - usual.body.created_at).toBe(90 * 86_400);
});

test.each([
  [{}, 'name', 'missing', 'Field required'],
  [{ name: 7 }, 'name', 'string_type', 'Input should be a valid string'],
  [{ name: 'a'.repeat(64) }, 'name', 'string_too_long', 'String should have at most 63 characters'],
  ...['', 'Big', '-dash', 'a b', 'a\n', 'ä', 'sa:x'].map(
    (name) => [{ name }, 'name', 'value_error', 'Value error, name must match'] as const,
  ),
  [{ name: 'a', scopes: 'agents:run' }, 'scopes', 'list_type', 'Input should be a valid list'],
  [{ name: 'a', scopes: [{}] }, 'scopes.0.scope', 'missing', 'Field required'],
  [
    { name: 'a', scopes: [{ scope: 'agents:run', effect: 'deny' }] },
    'scopes.0.effect',
    'value_error',
    'Value error, a service account has no deny scopes',
  ],
  [
    { name: 'a', scopes: [{ scope: 'agents:run', effect: 'maybe' }] },
    'scopes.0.effect',
    'literal_error',
    "Input should be 'allow' or 'deny'",
  ],
  [
    { name: 'a', expires_in_days: 0 },
    'expires_in_days',
    'greater_than_equal',
    'Input should be greater than',
  ],
  [{ name: 'a', expires_in_days: 3651 }, 'expires_in_days', 'less_than_equal', 'Input should be less than'],
  [{ name: 'a', expires_in_days: 1.5 }, 'expires_in_days', 'int_type', 'Input should be a valid integer'],
  [{ name: 'a', never_expires: null }, 'never_expires', 'bool_type', 'Input should be a valid boolean'],
] as const)('%j is refused with its place', async (body, place, type, msg) => {
  const { create, call } = await startAccounts();
  const answer = await create(body);
  expect(answer.status).toBe(422);
  expect(answer.body.detail).toHaveLength(1);
  expect(answer.body.detail[0]).toMatchObject({ type, loc: ['body', ...locationOf(place)] });
  expect(answer.body.detail[0].msg).toContain(msg);
  expect((await call('GET', '/service-accounts')).body.meta.total_count).toBe(0);
});

function locationOf(place: string): (string | number)[] {
  return place.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}

test('of several faults the first in the order of the contract is reported', async () => {
  const { create, as } = await startAccounts();
  const refusal = async (body: object) => {
    const { status, body: answer } = await create({ name: 'taken', ...body });
    return `${status} ${typeof answer.detail === 'string' ? answer.detail : answer.detail[0].type}`;
  };
  await create({ name: 'taken' });
  as(anonymousCaller);
  const bad = scopes('nonsense', 'sessions:write', 'a:b:c:d');
  expect(await refusal({ name: 'No', scopes: bad })).toBe('422 value_error');
  expect(await refusal({ scopes: bad })).toBe('400 Invalid scope(s): nonsense, a:b:c:d');
  expect(await refusal({ scopes: scopes('agents:run', 'sessions:write', adminScope) })).toContain(
    `400 Privileged scope(s) require allow_privileged_scopes=true: sessions:write, ${adminScope}. `,
  );
  const privileged = { scopes: scopes('sessions:write'), allow_privileged_scopes: true };
  const anonymous = '401 JWT authentication is required to mint a service account.';
  expect(await refusal(privileged)).toBe(anonymous);
  expect(await refusal({})).toBe(anonymous);
  as(caller('service_accounts:write', 'agents:run'));
  expect(await refusal(privileged)).toBe('403 Cannot grant scope(s) you do not hold: sessions:write');
  const taken = "409 An active service account named 'taken' already exists. Revoke it first to rotate.";
  expect(await refusal({ scopes: scopes('agents:x:run') })).toBe(taken);
  as({ ...root, userId: 'sub', rights: Rights.unlimited });
  expect(await refusal(privileged)).toBe(taken);
});

test('an account hands on no more than it holds', async () => {
  const { create, as, process } = await startAccounts();
  const parent = await create({
    name: 'parent',
    scopes: scopes('agents:x:run', 'service_accounts:write'),
    allow_privileged_scopes: true,
  });
  const { principal, scopes: held } = await process.tokens.verify(parent.body.token, '127.0.0.1');
  as({ ...caller(...held), userId: principal });
  const child = await create({ name: 'child', scopes: scopes('agents:x:run') });
  expect(child.body).toMatchObject({ user_id: 'sa:parent', created_by: 'sa:parent' });
  const wider = await create({ name: 'wider', scopes: scopes('agents:run') });
  expect([wider.status, wider.body.detail]).toEqual([
    403,
    'Cannot grant scope(s) you do not hold: agents:run',
  ]);
  const admin = { name: 'wider', scopes: scopes(adminScope), allow_privileged_scopes: true };
  expect((await create(admin)).status).toBe(403);
});

test('revoking is for good, can be repeated, and sets the name free', async () => {
  const { create, call, process } = await startAccounts();
  const first = (await create({ name: 'ci-bot' })).body;
  expect(await process.outcome(first.token)).toBe('sa:ci-bot');
  for (let time = 0; time < 2; time++) {
    const revoked = await call('DELETE', `/service-accounts/${first.id}`);
    expect([revoked.status, revoked.text]).toEqual([204, '']);
  }
  expect(await process.outcome(first.token)).toBe('401 Invalid or expired service account token');
  const second = (await create({ name: 'ci-bot' })).body;
  const all = (await call('GET', '/service-accounts')).body.data;
  expect(all.map(({ id }: Body) => id)).toEqual([second.id, first.id]);
  expect(all.map(({ revoked_at }: Body) => typeof revoked_at)).toEqual(['object', 'number']);
  const active = (await call('GET', '/service-accounts?include_revoked=no')).body;
  expect(active.data.map(({ id }: Body) => id)).toEqual([second.id]);
  expect(active.meta.total_count).toBe(1);
  const unknown = await call('DELETE', '/service-accounts/nope');
  expect([unknown.status, unknown.body.detail]).toEqual([404, "Service account 'nope' not found"]);
});

test('the list comes in pages, sorted as asked, also without a token on an open service', async () => {
  const { create, call, as } = await startAccounts();
  for (const name of ['b', 'c', 'a']) await create({ name });
  as(anonymousCaller);
  const names = async (query: string) =>
    (await call('GET', `/service-accounts?${query}`)).body.data.map(({ name }: Body) => name).join('');
  expect(await names('sort_by=name&sort_order=asc')).toBe('abc');
  expect(await names('sort_by=name')).toBe('cba');
  expect(await names('sort_by=token_hash&sort_order=upwards')).toBe('acb');
  expect(await names('sort_by=name&sort_order=asc&limit=2&page=2')).toBe('c');
  const past = await call('GET', '/service-accounts?limit=2&page=3');
  expect(past.body).toEqual({
    data: [],
    meta: { page: 3, limit: 2, total_pages: 2, total_count: 3, search_time_ms: 0 },
  });
  for (const query of ['limit=0', 'limit=101', 'page=0', 'include_revoked=maybe'])
    expect((await call('GET', `/service-accounts?${query}`)).status, query).toBe(422);
});
