import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agent } from '../../../src/index.js';
import { Gatehouse, type Holder } from '../../support/clients/tokens.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import type { Answer, Body } from '../../support/service.js';

const managing = ['schedules:read', 'schedules:write', 'schedules:delete'];

let house: Gatehouse;
let admin: Holder;
let ada: Holder;
let bob: Holder;

beforeAll(async () => {
  house = await Gatehouse.shared({ agents: [agent({ id: 'plain', model: new ScriptBook().model })] });
  admin = await house.admin();
  ada = await house.person('ada', [...managing, 'agents:plain:run']);
  bob = await house.person('bob', [...managing, 'agents:other:run']);
});
afterAll(() => house.service.stop());

let made = 0;
const nightly = (over: Body = {}): Body => ({
  name: `nightly ${++made}`,
  cron_expr: '0 3 * * *',
  endpoint: '/agents/plain/runs',
  ...over,
});

const create = (over: Body = {}, holder: Holder = admin) => holder.send('POST', '/schedules', nightly(over));

async function created(over: Body = {}, holder: Holder = admin): Promise<Body> {
  const { status, body } = await create(over, holder);
  expect([status, body.detail]).toEqual([201, undefined]);
  return body;
}

const text = ({ status, body }: Answer) => [status, body?.detail];
const faults = ({ status, body }: Answer) => [
  status,
  body.detail.map(({ type, loc, msg }: Body) => [type, loc.join('.'), msg]),
];

describe('a schedule', () => {
  test('is created with its defaults, and shows every field', async () => {
    const before = Math.floor(Date.now() / 1000);
    const body = await created({
      name: 'nightly report',
      payload: { message: 'hi', session_state: { a: 1 } },
    });
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'nightly report',
      description: null,
      method: 'POST',
      endpoint: '/agents/plain/runs',
      payload: { message: 'hi', session_state: { a: 1 } },
      cron_expr: '0 3 * * *',
      timezone: 'UTC',
      timeout_seconds: 3600,
      max_retries: 0,
      retry_delay_seconds: 60,
      overlap: 'skip',
      missed: 'once',
      jitter_seconds: 0,
      enabled: true,
      disabled_reason: null,
      source: 'api',
      created_by: 'root',
      next_run_at: expect.any(Number),
      created_at: expect.any(Number),
      updated_at: null,
    });
    expect(body.next_run_at % 86_400).toBe(3 * 3600);
    expect(body.next_run_at).toBeGreaterThan(before);
    expect(body.created_at).toBeGreaterThanOrEqual(before);
    expect(await admin.get(`/schedules/${body.id}`)).toMatchObject({ status: 200, body });
    const { body: page } = await admin.get('/schedules?limit=1');
    expect(page).toMatchObject({ data: [body], meta: { page: 1, limit: 1, search_time_ms: 0 } });
  });

  test('is stored as sent, with its method in capitals', async () => {
    const body = await created({
      method: 'get',
      endpoint: '/sessions?limit=5',
      cron_expr: ' @Daily ',
      timezone: 'america/new_york',
    });
    expect(body).toMatchObject({ method: 'GET', cron_expr: ' @Daily ', timezone: 'america/new_york' });
  });

  test.each([
    [{ cron_expr: '61 * * * *' }, 'Invalid cron expression: 61 * * * *'],
    [{ cron_expr: '@every 5m' }, 'Invalid cron expression: @every 5m'],
    [{ cron_expr: '0 0 31 2 *' }, 'Invalid cron expression: 0 0 31 2 *. Its date never comes.'],
    [{ timezone: 'Mars/Base' }, 'Invalid timezone: Mars/Base'],
    [{ timezone: '+02:00' }, 'Invalid timezone: +02:00'],
    [{ timezone: '' }, 'Invalid timezone: '],
    [{ endpoint: '/nothing/here' }, 'No route of this service matches POST /nothing/here'],
    [{ endpoint: '/sessions', method: 'PUT' }, 'No route of this service matches PUT /sessions'],
  ])('with %j is refused', async (over, detail) => {
    expect(text(await create(over))).toEqual([422, detail]);
  });

  test('with seconds is refused, and the answer states why', async () => {
    const { status, body } = await create({ cron_expr: '*/10 * * * * *' });
    expect([status, body.detail]).toEqual([
      422,
      expect.stringContaining('Seconds and years are not supported'),
    ]);
    expect((await create({ cron_expr: '0 0 0 * *' })).body.reason).toBe(
      "'0' is not a valid day of the month (1-31).",
    );
  });

  test.each([
    [{ name: '-x' }, 'body.name'],
    [{ endpoint: 'agents/plain/runs' }, 'body.endpoint'],
    [{ endpoint: '/http://example.com' }, 'body.endpoint'],
    [{ endpoint: '//example.com/x' }, 'body.endpoint'],
    [{ endpoint: '/\\example.com' }, 'body.endpoint'],
    [{ endpoint: '/agents/../config' }, 'body.endpoint'],
    [{ endpoint: '/agents/%2e%2E/config' }, 'body.endpoint'],
    [{ endpoint: '/agents/a%2fb/runs' }, 'body.endpoint'],
    [{ endpoint: '/agents/a\tb/runs' }, 'body.endpoint'],
    [{ endpoint: '/agents/%zz/runs' }, 'body.endpoint'],
    [{ method: 'TRACE' }, 'body.method'],
    [{ payload: { text: 'x'.repeat(300_000) } }, 'body.payload'],
  ])('with %o is refused as a value', async (over, loc) => {
    const { status, body } = await create(over);
    expect([status, body.detail.map((item: Body) => [item.type, item.loc.join('.')])]).toEqual([
      422,
      [['value_error', loc]],
    ]);
  });

  test('is refused beyond its bounds', async () => {
    const bounds = { timeout_seconds: 86_401, max_retries: 11, retry_delay_seconds: 0, jitter_seconds: 3601 };
    expect((await create(bounds)).body.detail).toHaveLength(4);
    const required = await admin.send('POST', '/schedules', {});
    expect(required.body.detail.map(({ loc, msg }: Body) => [loc[1], msg])).toEqual(
      ['name', 'cron_expr', 'endpoint'].map((field) => [field, 'Field required']),
    );
  });

  test('has a name of its own, also among those that are created at once', async () => {
    const all = await Promise.all([1, 2, 3].map(() => create({ name: 'same' })));
    expect(all.map(text).toSorted()).toEqual([
      [201, undefined],
      [409, "Schedule with name 'same' already exists"],
      [409, "Schedule with name 'same' already exists"],
    ]);
    const other = await created();
    const renamed = await admin.send('PATCH', `/schedules/${other.id}`, { name: 'same' });
    expect(text(renamed)).toEqual([409, "Schedule with name 'same' already exists"]);
  });

  test('cannot trigger schedules', async () => {
    const { id } = await created();
    for (const action of ['trigger/', '%74rigger']) {
      const { status, body } = await create({ endpoint: `/schedules/${id}/${action}` });
      expect([status, body.error_code]).toEqual([422, 'endpoint_triggers_schedules']);
    }
  });
});

describe('a change', () => {
  test('touches what it names alone', async () => {
    const schedule = await created({ description: 'd', payload: { a: 1 } });
    const path = `/schedules/${schedule.id}`;
    expect((await admin.send('PATCH', path, {})).body).toEqual(schedule);
    const { body } = await admin.send('PATCH', path, { description: null, payload: null, max_retries: 3 });
    expect(body).toEqual({
      ...schedule,
      description: null,
      payload: null,
      max_retries: 3,
      updated_at: expect.any(Number),
    });
    const retimed = await admin.send('PATCH', path, { cron_expr: '0 4 * * *' });
    expect(retimed.body.next_run_at % 86_400).toBe(4 * 3600);
    const bad = await admin.send('PATCH', path, { name: null, timeout_seconds: null });
    expect(faults(bad)).toEqual([
      422,
      [
        ['value_error', 'body.name', "Value error, 'name' cannot be set to null"],
        ['value_error', 'body.timeout_seconds', "Value error, 'timeout_seconds' cannot be set to null"],
      ],
    ]);
    expect(text(await admin.send('PATCH', path, { cron_expr: 'x' }))).toEqual([
      422,
      'Invalid cron expression: x',
    ]);
  });

  test('enables and disables, by its own routes and as a field', async () => {
    const { id, name, next_run_at } = await created();
    const path = `/schedules/${id}`;
    const state = { id, name, next_run_at, updated_at: expect.any(Number) };
    expect((await admin.send('POST', `${path}/disable`)).body).toEqual({ ...state, enabled: false });
    // while it is disabled, its next tick stays as it was
    expect((await admin.send('PATCH', path, { cron_expr: '@hourly' })).body).toMatchObject({
      enabled: false,
      next_run_at,
    });
    expect(text(await admin.send('POST', `${path}/trigger`))).toEqual([409, 'Schedule is disabled']);
    const enabled = (await admin.send('POST', `${path}/enable`)).body;
    expect(enabled).toEqual({ ...state, enabled: true, next_run_at: expect.any(Number) });
    expect(enabled.next_run_at % 3600).toBe(0);
    expect((await admin.send('PATCH', path, { enabled: false })).body.enabled).toBe(false);
    const { body } = await admin.get('/schedules?enabled=false');
    expect(body.data.map((one: Body) => one.id)).toContain(id);
  });

  test('removes it with its history', async () => {
    const { id } = await created();
    expect((await admin.get(`/schedules/${id}/runs`)).body).toMatchObject({ data: [], meta: { limit: 100 } });
    expect(text(await admin.get(`/schedules/${id}/runs/none`))).toEqual([404, 'Schedule run not found']);
    expect((await admin.delete(`/schedules/${id}`)).status).toBe(204);
    for (const path of [`/schedules/${id}`, `/schedules/${id}/runs`])
      expect(text(await admin.get(path))).toEqual([404, 'Schedule not found']);
    expect(text(await admin.delete(`/schedules/${id}`))).toEqual([404, 'Schedule not found']);
  });
});

describe('rights', () => {
  test('a schedule calls nothing that its creator could not call', async () => {
    await created({}, ada);
    expect(text(await create({}, bob))).toEqual([
      403,
      'Insufficient permissions. Required scope(s): agents:run',
    ]);
    expect(text(await create({ endpoint: '/sessions', method: 'GET' }, ada))).toEqual([
      403,
      'Insufficient permissions. Required scope(s): sessions:read',
    ]);
    const encoded = await create({ endpoint: '/agents/pl%61in/runs' }, bob);
    expect(encoded.status).toBe(403);
    // an open route needs no scope
    await created({ endpoint: '/health', method: 'GET' }, bob);
  });

  test('users see and change only their own, each with names of their own', async () => {
    const own = await created({ name: 'of each' }, ada);
    await created({ name: 'of each', endpoint: '/agents/other/runs' }, bob);
    expect((await bob.get('/schedules')).body.data.map((one: Body) => one.created_by)).not.toContain('ada');
    const path = `/schedules/${own.id}`;
    const denied = [
      await bob.get(path),
      await bob.get(`${path}/runs`),
      await bob.send('PATCH', path, { name: 'mine' }),
      await bob.delete(path),
      await bob.send('POST', `${path}/disable`),
      await bob.send('POST', `${path}/enable`),
      await bob.send('POST', `${path}/trigger`),
    ];
    expect(denied.map(text)).toEqual(denied.map(() => [404, 'Schedule not found']));
    expect((await admin.get(path)).body).toEqual(own);
  });

  test('one who changes what is called answers for it; other changes leave the creator', async () => {
    const { id } = await created({}, ada);
    const path = `/schedules/${id}`;
    expect((await admin.send('PATCH', path, { cron_expr: '@hourly' })).body.created_by).toBe('ada');
    expect((await admin.send('PATCH', path, { payload: { message: 'x' } })).body.created_by).toBe('root');
    expect((await ada.get(path)).body.created_by).toBe('root');
    // one who could not call it now cannot change it either
    const lesser = await house.person('ada', managing);
    for (const answer of [
      await lesser.send('PATCH', path, { description: 'x' }),
      await lesser.send('POST', `${path}/enable`),
      await lesser.send('POST', `${path}/trigger`),
    ])
      expect(text(answer)).toEqual([403, 'Insufficient permissions. Required scope(s): agents:run']);
    expect((await lesser.send('POST', `${path}/disable`)).status).toBe(200);
  });
});
