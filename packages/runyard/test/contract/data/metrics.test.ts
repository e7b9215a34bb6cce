import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { agent, Runyard, step, team, workflow } from '../../../src/index.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { startService } from '../../support/service.js';
import { until } from '../../support/until.js';

const call = (member: string, task: string) => ({
  toolCalls: [{ name: 'delegate_task_to_member', arguments: { member_id: member, task }, id: `ask ${task}` }],
});

function registered() {
  const book = new ScriptBook();
  const writer = agent({ id: 'writer', model: book.model });
  const desk = team({ id: 'desk', model: book.model, members: [writer] });
  const flow = workflow({ id: 'flow', steps: [step({ name: 'write', agent: writer })] });
  return { book, options: { agents: [writer], teams: [desk], workflows: [flow] } };
}

/** All days together: the test may run over midnight. */
const total = (metrics: Record<string, number>[], field: string) =>
  metrics.reduce((sum, day) => sum + day[field]!, 0);

describe('GET /metrics', () => {
  test('has nothing to show at first', async () => {
    const service = await startService({});
    expect((await service.get('/metrics')).body).toEqual({ metrics: [], updated_at: null });
  });

  test('shows runs, members, sessions, users and tokens of what has just ended', async () => {
    const { book, options } = registered();
    const service = await startService(options);
    await service.run('writer', { message: 'one', user_id: 'ada', session_id: 's' });
    await service.run('writer', { message: 'two', user_id: 'ada', session_id: 's' });
    expect(total((await service.get('/metrics')).body.metrics, 'agent_runs_count')).toBe(2);
    book.write('lead', call('writer', 'help'));
    await service.submit('/teams/desk/runs', { message: 'lead', stream: false, user_id: 'bob' });
    await service.submit('/workflows/flow/runs', { message: 'flow', stream: false });
    const counts = async () => {
      const { metrics } = (await service.get('/metrics')).body;
      return ['agent', 'team', 'workflow'].map((kind) => [
        total(metrics, `${kind}_runs_count`),
        total(metrics, `${kind}_sessions_count`),
      ]);
    };
    // on a slow machine a count takes so long that the next one has to wait
    await expect.poll(counts).toEqual([
      [2, 1],
      [2, 1],
      [1, 1],
    ]);
    const { body } = await service.get('/metrics');
    const today = body.metrics.at(-1);
    expect(Object.keys(today)).toEqual([
      'id',
      'agent_runs_count',
      'agent_sessions_count',
      'team_runs_count',
      'team_sessions_count',
      'workflow_runs_count',
      'workflow_sessions_count',
      'users_count',
      'token_metrics',
      'model_metrics',
      'date',
      'created_at',
      'updated_at',
    ]);
    // two calls of the agent, two of the leader, one of its member, one of the workflow's step
    const tokens = body.metrics.map((day: { token_metrics: Record<string, number> }) => day.token_metrics);
    expect(total(tokens, 'input_tokens')).toBe(60);
    expect(total(tokens, 'output_tokens')).toBe(30);
    expect(today.users_count).toBeGreaterThanOrEqual(1);
    const models = body.metrics.flatMap((day: { model_metrics: object[] }) => day.model_metrics);
    expect(total(models, 'count')).toBe(4);
    expect(today.date).toMatch(/^\d{4}-\d\d-\d\dT00:00:00Z$/);
    expect(body.updated_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  });

  test('takes days as dates, and as times that are midnight in UTC', async () => {
    const { options } = registered();
    const service = await startService(options);
    await service.run('writer', { message: 'one' });
    const { date } = (await service.get('/metrics')).body.metrics[0];
    const day = date.slice(0, 10);
    const seconds = Date.parse(date) / 1000;
    for (const from of [day, date, `${day}T00:00`, `${day} 00:00:00+00:00`, `${seconds}`, `${seconds}000`]) {
      const query = `starting_date=${encodeURIComponent(from)}`;
      expect((await service.get(`/metrics?${query}`)).body.metrics, from).toHaveLength(1);
    }
    for (const query of [
      'ending_date=2020-01-01',
      'starting_date=9999-12-31',
      `starting_date=${day}&ending_date=1960-01-01`,
    ])
      expect((await service.get(`/metrics?${query}`)).body).toEqual({ metrics: [], updated_at: null });
  });

  test('refuses an invalid day', async () => {
    const service = await startService({});
    const inexact = 'Datetimes provided to dates should have zero time - e.g. be exact dates';
    const fault = async (given: string) => {
      const { status, body } = await service.get(`/metrics?ending_date=${encodeURIComponent(given)}`);
      expect([status, body.detail[0].loc], given).toEqual([422, ['query', 'ending_date']]);
      return body.detail[0];
    };
    for (const given of ['2026-11-15T00:00:01Z', '2026-11-15T00:00:00+01:00', '1700000001'])
      expect(await fault(given)).toMatchObject({ type: 'date_from_datetime_inexact', msg: inexact });
    for (const given of ['yesterday', '2026-13-01', '2026-02-30', '2026-02-03T25:00', '2026/02/03', ''])
      expect(await fault(given)).toMatchObject({
        type: 'date_from_datetime_parsing',
        msg: expect.stringMatching(/^Input should be a valid date or datetime, /),
      });
  });
});

describe('POST /metrics/refresh', () => {
  test('answers with the days that it counted', async () => {
    const { options } = registered();
    const service = await startService(options);
    const refresh = () => service.call('POST', '/metrics/refresh');
    expect([(await refresh()).status, (await refresh()).body]).toEqual([200, []]);
    await service.run('writer', { message: 'one' });
    const { body } = await refresh();
    expect(body).toMatchObject([{ agent_runs_count: 1, model_metrics: [{ count: 1 }] }]);
    expect((await service.get('/metrics')).body.metrics.map(({ id }: { id: string }) => id)).toEqual([
      body[0].id,
    ]);
  });

  test('begins in the background, and the status shows it, also after a restart', async () => {
    const { options } = registered();
    const service = await startService(options);
    const status = async () => (await service.get('/metrics/refresh/status')).body;
    expect(await status()).toEqual({ status: 'idle', started_at: null, finished_at: null, error: null });
    await service.run('writer', { message: 'one' });
    const started = await service.call('POST', '/metrics/refresh?background=true');
    expect([started.status, started.body]).toEqual([
      202,
      { status: 'started', message: 'Metrics refresh started in background' },
    ]);
    const done = await until('the refresh is done', async () => {
      const now = await status();
      return now.status === 'completed' && now;
    });
    expect(done).toMatchObject({ finished_at: expect.stringMatching(/^[-\dT:]+(\.\d{6})?Z$/), error: null });
    await service.app.close({ graceMs: 0 });
    const again = new Runyard({
      ...options,
      port: 0,
      dataDir: service.app.settings.dataDir,
      log: service.app.log,
    });
    const { url } = await again.listen();
    try {
      expect(await (await fetch(`${url}/metrics/refresh/status`)).json()).toEqual(done);
    } finally {
      await again.close({ graceMs: 0 });
    }
  });

  test('reports to the second caller that a refresh is under way', async () => {
    const service = await startService({});
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => service.call('POST', '/metrics/refresh?background=true')),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    const running = answers.filter(({ body }) => body.status === 'already_running');
    for (const { body } of running)
      expect(body.message).toBe('A metrics refresh is already in progress for this database');
    expect(running.length).toBeLessThan(6);
  });
});

describe('the database', () => {
  const routes = ['GET /metrics', 'POST /metrics/refresh', 'GET /metrics/refresh/status'];

  test.each(routes)('is chosen for %s', async (route) => {
    const folder = mkdtempSync(join(tmpdir(), 'runyard-metrics-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const service = await startService({ databases: { other: `sqlite://${folder}/other.db` } });
    const [method, path] = route.split(' ') as [string, string];
    const ask = async (query: string) => {
      const { status, body } = await service.call(method, `${path}?${query}`);
      return status === 200 ? status : [status, body.detail];
    };
    expect(await ask('db_id=default')).toBe(200);
    expect(await ask('db_id=other&table=daily_metrics')).toBe(200);
    expect(await ask('')).toEqual([
      400,
      'The db_id query parameter is required when using multiple databases',
    ]);
    expect(await ask('db_id=nowhere')).toEqual([404, "No database found with id 'nowhere'"]);
    expect(await ask('table=sessions')).toEqual([
      400,
      'The db_id query parameter is required when passing a table',
    ]);
  });
});
