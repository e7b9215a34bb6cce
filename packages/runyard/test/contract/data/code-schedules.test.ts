import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { evalBody } from '../../../src/capabilities/evals/schema.js';
import { accuracy } from '../../../src/evals.js';
import { agent, type RunyardOptions, type ScheduleSettings, schedule } from '../../../src/index.js';
import { tokenSettings } from '../../support/clients/tokens.js';
import { type Body, TestService } from '../../support/service.js';

const folder = mkdtempSync(join(tmpdir(), 'runyard-code-schedules-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const writer = agent({ id: 'writer', model: 'offline' });

const question = { input: 'Hello', expectedOutput: 'Hello' };
const greets = {
  agent_id: 'writer',
  eval_type: 'accuracy',
  input: 'Hello',
  expected_output: 'Hello',
} as const;
/** In place of what a report runs. */
const noRun = { agent: undefined, message: undefined };

const report = (over: Partial<ScheduleSettings> = {}) =>
  schedule({ name: 'report', cron: '0 0 1 1 *', agent: writer, message: 'Write.', ...over });

/** Starts a service on the same data, and stops it when the work is done. */
async function withService(
  options: RunyardOptions,
  work: (get: (path: string) => Promise<Body>, send: TestService['call']) => Promise<void>,
): Promise<void> {
  const service = await TestService.start({ agents: [writer], dataDir: folder, ...options });
  try {
    await work(
      async (path) => (await service.get(path)).body,
      (method, path, init) => service.call(method, path, init),
    );
  } finally {
    await service.stop();
  }
}

const json = (body: object) => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

test('schedules of the code are stored, changed and retired with it, and keep what callers decided', async () => {
  let first: Body;
  await withService({ schedules: [report()] }, async (get, send) => {
    const { data } = await get('/schedules');
    first = data[0];
    expect(data).toEqual([first]);
    expect(first).toMatchObject({
      name: 'report',
      source: 'code',
      created_by: '__scheduler__',
      endpoint: '/agents/writer/runs',
      payload: { message: 'Write.' },
      enabled: true,
    });
    const path = `/schedules/${first.id}`;
    const changed = await send('PATCH', path, json({ cron_expr: '@daily' }));
    expect([changed.status, changed.body.error_code]).toEqual([409, 'schedule_of_code']);
    expect((await send('DELETE', path)).status).toBe(409);
    const taken = await send(
      'POST',
      '/schedules',
      json({ name: 'report', cron_expr: '@daily', endpoint: '/health', method: 'GET' }),
    );
    expect(taken.status).toBe(409);
    expect((await send('POST', `${path}/disable`)).body.enabled).toBe(false);
  });

  // the same one, changed, and disabled as a caller left it
  const second = schedule({
    name: 'other',
    cron: '@yearly',
    endpoint: '/health',
    method: 'GET',
    enabled: false,
  });
  await withService({ schedules: [report({ message: 'Write more.' }), second] }, async (get) => {
    const { data } = await get('/schedules');
    expect(data).toHaveLength(2);
    expect(data.find(({ name }: Body) => name === 'report')).toMatchObject({
      id: first.id,
      payload: { message: 'Write more.' },
      enabled: false,
    });
    expect(data.find(({ name }: Body) => name === 'other').enabled).toBe(false);
  });

  await withService({ schedules: [second] }, async (get, send) => {
    const path = `/schedules/${first.id}`;
    expect(await get(path)).toMatchObject({
      enabled: false,
      disabled_reason: 'The code of the service no longer defines it.',
    });
    for (const act of ['enable', 'trigger']) expect((await send('POST', `${path}/${act}`)).status).toBe(409);
  });

  await withService({ schedules: [report(), second] }, async (get, send) => {
    expect(await get(`/schedules/${first.id}`)).toMatchObject({ disabled_reason: null, enabled: false });
    expect((await send('POST', `/schedules/${first.id}/enable`)).body.enabled).toBe(true);
  });

  await withService({}, async (get, send) => {
    expect((await get('/schedules')).data.map(({ enabled }: Body) => enabled)).toEqual([false, false]);
    expect((await send('DELETE', `/schedules/${first.id}`)).status).toBe(204);
  });
});

test.each([
  [{ cron: '* * * * * *' }, /Schedule 'report': Invalid cron expression.*Seconds/],
  [{ timezone: '+02:00' }, /timezone/],
  [{ agent: undefined }, /exactly one of agent, team, workflow, evaluation and endpoint/],
  [{ endpoint: '/health' }, /exactly one of/],
  [{ agent: undefined, message: undefined, endpoint: '//evil.example' }, /endpoint must not contain/],
  [{ agent: undefined, endpoint: '/health' }, /message belongs to/],
  [{ method: 'GET' }, /method belongs to endpoint/],
  [{ jitterSeconds: 4000 }, /jitterSeconds/],
  [{ message: undefined }, /message is missing\. Give the message of the run/],
  [{ ...noRun, evaluation: { ...greets, evalType: 'accuracy' } }, /evalType is not an option.*eval_type/],
  [{ ...noRun, evaluation: accuracy({ agent: writer, ...question }) }, /evaluation is .*POST \/eval-runs/],
  [{ ...noRun, evaluation: { ...greets, team_id: 't' } }, /exactly one of agent_id, team_id and workflow_id/],
  [{ ...noRun, evaluation: { ...greets, input: undefined } }, /exactly one of input, dataset_id, dataset/],
] as const)('a schedule with %o is refused', (over, text) => {
  // what JavaScript may give
  expect(() => report(over as Partial<ScheduleSettings>)).toThrow(text);
});

test.each([
  [[report(), report()], /Two schedules have the name 'report'/],
  [[report({ agent: 'nobody' })], /agent 'nobody', which is not registered/],
  [
    [schedule({ name: 'x', cron: '@daily', evaluation: { ...greets, agent_id: 'nobody' } })],
    /agent 'nobody', which is not registered/,
  ],
  [
    [schedule({ name: 'x', cron: '@daily', endpoint: '/nowhere' })],
    /No route of this service matches POST \/nowhere/,
  ],
])('a service does not start with schedules that cannot be meant', async (schedules, text) => {
  await expect(withService({ schedules }, async () => {})).rejects.toThrow(text);
});

test('with authorization, the service itself may run components and evals, and nothing else', async () => {
  const options = { ...tokenSettings, agents: [writer] };
  const evaluation = schedule({ name: 'eval', cron: '@yearly', evaluation: greets });
  const service = await TestService.start({ ...options, schedules: [report(), evaluation] });
  await service.stop();
  const calling = schedule({ name: 'x', cron: '@daily', endpoint: '/sessions', method: 'GET' });
  await expect(TestService.start({ ...options, schedules: [calling] })).rejects.toThrow(
    "Schedule 'x': Insufficient permissions. Required scope(s): sessions:read",
  );
});

test('the names of an eval in code are those of the request', () => {
  const inCode = () => report({ ...noRun, evaluation: { ...greets, no_such_option: 1 } as never });
  expect(inCode).toThrow(/evaluation\.no_such_option is not an option/);
  for (const field of Object.keys(evalBody.shape)) {
    const given = { ...noRun, evaluation: { ...greets, [field]: Symbol('none') } as never };
    expect(() => report(given), field).toThrow(new RegExp(`evaluation\\.${field} is `));
    expect(() => report(given), field).not.toThrow(/is not an option/);
  }
});

test('a run, an eval and a call are requests of the service to itself', () => {
  const of = (settings: Omit<ScheduleSettings, 'name' | 'cron'>) => {
    const { method, endpoint, payload } = schedule({ name: 'x', cron: '@daily', ...settings }).definition;
    return [method, endpoint, payload];
  };
  expect(of({ team: 'a b', payload: { session_id: 's' }, message: 'Go.' })).toEqual([
    'POST',
    '/teams/a%20b/runs',
    { session_id: 's', message: 'Go.' },
  ]);
  expect(of({ evaluation: greets })).toEqual(['POST', '/eval-runs', greets]);
  expect(of({ endpoint: '/metrics/refresh' })).toEqual(['POST', '/metrics/refresh', null]);
});
