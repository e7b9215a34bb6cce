import { expect, it } from 'vitest';
import { RefreshStore } from '../../../src/capabilities/metrics/refresh-store.js';
import { DatabaseMetrics } from '../../../src/capabilities/metrics/service.js';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { silentLog } from '../../../src/core/log.js';
import type { CountedRuns, ModelUsage } from '../../../src/core/runs/journal/ports.js';
import type { Run } from '../../../src/core/runs/run.js';
import { systemTimers } from '../../../src/platform/engine/local/timers.js';
import { type Database, timeOf } from '../../../src/platform/storage/database.js';
import { forEachDatabase } from '../../support/databases.js';
import { gate, until } from '../../support/until.js';
import { aRun, creation, finished } from '../builders.js';

const dayMs = 86_400_000;
const monday = 20_000;
const at = (day: number, time = 0) => day * dayMs + time;

const nothing = {
  inputTokens: 0,
  outputTokens: 0,
  totalTokens: 0,
  audioInputTokens: 0,
  audioOutputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  cost: null,
};

/** The clock is the test's, the rest is the process's own. */
function metricsOf(database: Database, now: number) {
  const timers = { ...systemTimers, time: now, now: () => timers.time };
  return { timers, metrics: new DatabaseMetrics(database, { timers, log: silentLog }) };
}

interface Used {
  readonly models?: readonly Partial<ModelUsage>[];
  readonly runs?: readonly CountedRuns[];
}

/** A run that has ended, with its usage. */
function ended(given: Partial<Run>, { models = [], runs }: Used = {}) {
  const run = aRun({ ...finished, ...given });
  const main = { provider: run.modelProvider ?? '', model: run.model ?? '', count: 1 };
  return creation(run, {
    usage: {
      run,
      runs: runs ?? [main],
      models: models.map((model) => ({
        purpose: 'model',
        provider: 'Runyard',
        model: 'offline',
        ...nothing,
        ...model,
      })),
    },
  });
}

forEachDatabase((_dialect, freshPlace) => {
  async function yard(now = at(monday, 3_600_000)) {
    const place = await freshPlace();
    const database = await place.open();
    const runs = new RunStore(database);
    return { place, database, runs, ...metricsOf(database, now) };
  }

  it('sums up a day: runs, sessions, users, tokens, models', async () => {
    const { runs, metrics } = await yard();
    const spoken = { audioInputTokens: 1, audioOutputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4 };
    await runs.commit([
      ended(
        { sessionId: 'a', userId: 'ada', createdAt: at(monday) },
        { models: [{ inputTokens: 10, outputTokens: 5, totalTokens: 15, reasoningTokens: 2, ...spoken }] },
      ),
      ended(
        { sessionId: 'a', userId: 'ada', createdAt: at(monday, 1) },
        {
          models: [
            { inputTokens: 1, totalTokens: 1 },
            { purpose: 'memory_model', model: 'tiny', outputTokens: 7, totalTokens: 7 },
          ],
        },
      ),
      ended(
        { sessionId: 't', kind: 'team', userId: 'bob', createdAt: at(monday, dayMs - 1) },
        {
          runs: [
            { provider: 'Runyard', model: 'offline', count: 2 },
            { provider: 'Acme', model: 'large', count: 1 },
          ],
        },
      ),
      ended({ sessionId: 'w', kind: 'workflow', model: null, modelProvider: null, createdAt: at(monday) }),
      ended({ sessionId: 'e', userId: '', createdAt: at(monday) }),
    ]);
    const { days, updatedAt } = await metrics.days({});
    expect(updatedAt).toBe(at(monday, 3_600_000));
    expect(days).toEqual([
      {
        day: monday,
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        runs: { agent: 3, team: 3, workflow: 1 },
        sessions: { agent: 2, team: 1, workflow: 1 },
        users: 2,
        tokens: {
          input_tokens: 11,
          output_tokens: 12,
          total_tokens: 23,
          audio_total_tokens: 3,
          audio_input_tokens: 1,
          audio_output_tokens: 2,
          cache_read_tokens: 3,
          cache_write_tokens: 4,
          reasoning_tokens: 2,
        },
        models: [
          { model_id: 'offline', model_provider: 'Runyard', count: 5 },
          { model_id: 'large', model_provider: 'Acme', count: 1 },
        ],
        evals: [],
        createdAt: at(monday, 3_600_000),
        updatedAt: at(monday, 3_600_000),
      },
    ]);
  });

  it('X1: counts late data: runs in old sessions, sessions that come later, and gaps', async () => {
    const { database, runs, metrics, timers } = await yard(at(monday + 1));
    await runs.commit([ended({ sessionId: 'old', userId: 'ada', createdAt: at(monday) })]);
    const [first] = (await metrics.days({})).days;
    expect(first).toMatchObject({ day: monday, runs: { agent: 1 }, sessions: { agent: 1 } });

    // a run in a session of a day that is over counts on its own day
    timers.time = at(monday + 2);
    await runs.commit([ended({ sessionId: 'old', userId: 'ada', createdAt: at(monday + 1, 5) })]);
    expect(
      (await metrics.days({})).days.map(({ day, runs: { agent }, sessions, users }) => [
        day,
        agent,
        sessions.agent,
        users,
      ]),
    ).toEqual([
      [monday, 1, 1, 1],
      [monday + 1, 1, 0, 1],
    ]);

    // a run that ends long after it began, and one before everything that was counted
    timers.time = at(monday + 9);
    await runs.commit([
      ended({ sessionId: 'old', userId: 'ada', createdAt: at(monday, 7) }, { models: [{ totalTokens: 4 }] }),
      ended({ sessionId: 'older', createdAt: at(monday - 30) }),
    ]);
    const { days } = await metrics.days({});
    expect(days.map(({ day, runs: { agent } }) => [day, agent])).toEqual([
      [monday - 30, 1],
      [monday, 2],
      [monday + 1, 1],
    ]);
    expect(days[1]).toMatchObject({ id: first!.id, createdAt: first!.createdAt, updatedAt: at(monday + 9) });
    expect(days[1]!.tokens.total_tokens).toBe(4);

    // sessions that were brought in, as old as they are
    const session = { kind: 'team' as const, component_id: 'x', user_id: 'eve' };
    await database.query
      .insertInto('sessions')
      .values(
        [at(monday, 9), at(monday - 3)].map((time) => ({
          ...session,
          session_id: `brought ${time}`,
          created_at: time,
          updated_at: time,
        })),
      )
      .execute();
    const refreshed = await metrics.refresh();
    expect(refreshed.map(({ day, sessions: { team }, users }) => [day, team, users])).toEqual([
      [monday - 3, 1, 1],
      [monday, 1, 2],
    ]);
  });

  it('X2: keeps a provider with a colon whole', async () => {
    const { runs, metrics } = await yard();
    await runs.commit([
      ended({ model: 'm2', modelProvider: 'Q:R', createdAt: at(monday) }),
      ended({ model: 'm2:Q', modelProvider: 'R', createdAt: at(monday) }),
    ]);
    expect((await metrics.days({})).days[0]!.models).toEqual([
      { model_id: 'm2', model_provider: 'Q:R', count: 1 },
      { model_id: 'm2:Q', model_provider: 'R', count: 1 },
    ]);
  });

  it('counts a run once, however often it rests', async () => {
    const { runs, metrics } = await yard();
    const paused = ended(
      { runId: 'r', status: 'paused', createdAt: at(monday) },
      { models: [{ totalTokens: 5 }] },
    );
    await runs.commit([paused]);
    expect((await metrics.days({})).days[0]).toMatchObject({
      runs: { agent: 1 },
      tokens: { total_tokens: 5 },
    });
    const { usage } = ended({ runId: 'r', createdAt: at(monday) }, { models: [{ totalTokens: 9 }] });
    const update = {
      ...finished,
      nextEventIndex: 0,
      updatedAt: at(monday, 9),
      wakeAt: null,
      definition: null,
      askers: [],
    };
    const claims = { attempt: 1, status: 'paused', now: at(monday + 1) } as const;
    await runs.commit([{ runId: 'r', attempt: 2, update, claims, steps: [], usage: usage! }]);
    expect((await metrics.days({})).days[0]).toMatchObject({
      runs: { agent: 1 },
      tokens: { total_tokens: 9 },
    });
  });

  it('shows the days that are asked for, and when anything was last counted', async () => {
    const { runs, metrics, timers } = await yard();
    await runs.commit([monday, monday + 1, monday + 2].map((day) => ended({ createdAt: at(day) })));
    await metrics.days({});
    timers.time = at(monday + 5);
    await runs.commit([ended({ createdAt: at(monday + 2) })]);
    const days = async (range: object) => {
      const found = await metrics.days(range);
      return [found.days.map(({ day }) => day - monday), found.updatedAt];
    };
    expect(await days({ from: monday + 1 })).toEqual([[1, 2], at(monday + 5)]);
    expect(await days({ to: monday })).toEqual([[0], at(monday + 5)]);
    expect(await days({ from: monday + 1, to: monday + 1 })).toEqual([[1], at(monday + 5)]);
    expect(await days({ from: monday + 2, to: monday })).toEqual([[], null]);
  });

  it('lowers only days that are not over when a session is deleted', async () => {
    const { database, runs, metrics, timers } = await yard(at(monday + 1, 10));
    await runs.commit([ended({ sessionId: 'over', createdAt: at(monday) })]);
    await runs.commit([
      ended({ sessionId: 'gone', createdAt: at(monday + 1) }),
      ended({ sessionId: 'kept', createdAt: at(monday + 1) }),
    ]);
    await metrics.refresh();
    await database.query.deleteFrom('sessions').where('session_id', 'in', ['over', 'gone']).execute();
    timers.time += 120_000;
    const counts = async () =>
      (await metrics.days({})).days.map(({ day, sessions }) => [day - monday, sessions.agent]);
    expect(await counts()).toEqual([
      [0, 1],
      [1, 1],
    ]);
    await database.query.deleteFrom('sessions').execute();
    await metrics.refresh();
    expect(await counts()).toEqual([[0, 1]]);
  });

  it('counts only what has changed', async () => {
    const { runs, metrics, timers } = await yard(at(monday + 9));
    await runs.commit([monday, monday + 1].map((day) => ended({ createdAt: at(day) })));
    expect((await metrics.refresh()).map(({ day }) => day)).toEqual([monday, monday + 1]);
    timers.time = at(monday + 10);
    expect(await metrics.refresh()).toEqual([]);
    await runs.commit([ended({ createdAt: at(monday + 1) })]);
    expect((await metrics.refresh()).map(({ day }) => day)).toEqual([monday + 1]);
    // another process's count is looked at once
    expect((await metrics.days({})).days.map(({ updatedAt }) => updatedAt - at(monday))).toEqual([
      9 * dayMs,
      10 * dayMs,
    ]);
  });

  it('lets one of many begin, in any process', async () => {
    const { place, database, metrics } = await yard();
    const stores = [database, await place.open()].map((one) => new RefreshStore(one));
    const claims = Array.from({ length: 12 }, (_, index) =>
      stores[index % 2]!.claim({ owner: `owner ${index}`, now: 5, expiresAt: 10, gone: null }),
    );
    expect((await Promise.all(claims)).filter(Boolean)).toEqual([true]);
    expect(await stores[1]!.read()).toMatchObject({ status: 'running', startedAt: 5 });
    expect(await metrics.status()).toMatchObject({ status: 'failed', startedAt: 5 });
  });

  it('reports the outcome of a refresh to every process', async () => {
    const { place, runs, metrics, timers } = await yard();
    const other = metricsOf(await place.open(), timers.time).metrics;
    expect(await other.status()).toEqual({ status: 'idle', startedAt: null, finishedAt: null, error: null });
    await runs.commit(Array.from({ length: 20 }, (_, day) => ended({ createdAt: at(monday - day) })));
    expect(await metrics.startRefresh()).toBe(true);
    const done = await until('the refresh is done', async () => {
      const status = await other.status();
      return status.status === 'completed' && status;
    });
    expect(done).toEqual({
      status: 'completed',
      startedAt: expect.any(Number),
      finishedAt: expect.any(Number),
      error: null,
    });
    expect((await other.days({})).days).toHaveLength(20);
  });

  it('counts a session that has no run yet', async () => {
    const { database, runs, metrics, timers } = await yard(Date.now());
    await runs.commit([ended({ createdAt: at(monday) })]);
    await metrics.days({});
    timers.time = Date.now();
    const session = { session_id: 'new', kind: 'workflow' as const, component_id: '', user_id: 'ada' };
    await database.query
      .insertInto('sessions')
      .values({ ...session, created_at: timers.time, updated_at: timers.time })
      .execute();
    expect((await metrics.days({})).days[1]).toMatchObject({
      runs: { workflow: 0 },
      sessions: { workflow: 1 },
      users: 1,
    });
  });

  it('refuses to begin while another process holds the refresh, and takes it over when that process is gone', async () => {
    const { database, metrics } = await yard();
    await metrics.refresh();
    const hold = database.query.updateTable('metrics_refresh');
    await hold
      .set({
        status: 'running',
        owner: 'elsewhere:1:x',
        started_at: 5,
        finished_at: null,
        lease_expires_at: (await timeOf(database)) + 3_600_000,
      })
      .execute();
    expect(await metrics.startRefresh()).toBe(false);
    expect(await metrics.status()).toMatchObject({ status: 'running', startedAt: 5 });
    // a request for the days gets them nevertheless, and leaves the status to the process that holds it
    expect(await metrics.refresh()).toEqual([]);
    expect(await metrics.status()).toMatchObject({ status: 'running', startedAt: 5 });

    await hold.set({ lease_expires_at: await timeOf(database) }).execute();
    expect(await metrics.status()).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('stopped'),
    });
    expect(await metrics.startRefresh()).toBe(true);
    await until('it is done', async () => (await metrics.status()).status === 'completed');
  });

  it.each([3_600_000, -3_600_000])(
    'takes no refresh from a process whose clock is %d ms off, and does not let it take one',
    async (ms) => {
      const { place, database, runs } = await yard();
      await runs.commit([ended({ createdAt: at(monday) })]);
      let rest = gate();
      const process = (one: Database, off: number) =>
        new DatabaseMetrics(one, {
          timers: {
            ...systemTimers,
            now: () => Date.now() + off,
            soon: (work) => void rest.opened.then(work),
          },
          log: silentLog,
        });
      const both = [process(database, 0), process(await place.open(), ms)] as const;
      for (const [holds, asks] of [both, both.toReversed()] as [DatabaseMetrics, DatabaseMetrics][]) {
        rest = gate();
        const before = await timeOf(database);
        expect(await holds.startRefresh()).toBe(true);
        expect(await asks.startRefresh()).toBe(false);
        expect(await asks.status()).toMatchObject({ status: 'running' });
        rest.open();
        const { startedAt, finishedAt } = await until('it is done', async () => {
          const status = await asks.status();
          return status.status === 'completed' && status;
        });
        expect(startedAt).toBeGreaterThanOrEqual(before);
        expect(finishedAt).toBeLessThanOrEqual(await timeOf(database));
      }
    },
  );

  it('reports that a refresh failed, without revealing internals of the service', async () => {
    const { database, runs, metrics } = await yard();
    await runs.commit([ended({ createdAt: at(monday) })]);
    await metrics.refresh();
    await database.query.schema
      .alterTable('daily_metrics')
      .renameColumn('users_count', 'elsewhere')
      .execute();
    expect(await metrics.startRefresh()).toBe(true);
    const failed = await until('it has failed', async () => {
      const status = await metrics.status();
      return status.status === 'failed' && status;
    });
    expect(failed.error).toBe('The metrics could not be counted. The log of the service says why.');
    await database.query.schema
      .alterTable('daily_metrics')
      .renameColumn('elsewhere', 'users_count')
      .execute();
    expect(await metrics.refresh()).toHaveLength(1);
    expect(await metrics.status()).toMatchObject({ status: 'completed', error: null });
  });

  it('comes to the right sums when several count while runs end', async () => {
    const { place, runs, metrics, timers } = await yard();
    const other = metricsOf(await place.open(), timers.time).metrics;
    for (let round = 0; round < 10; round += 1) {
      await Promise.all([
        runs.commit([ended({ createdAt: at(monday) }, { models: [{ totalTokens: 1 }] })]),
        metrics.days({}),
        other.days({}),
      ]);
    }
    for (const one of [metrics, other]) {
      expect((await one.days({})).days[0]).toMatchObject({
        runs: { agent: 10 },
        tokens: { total_tokens: 10 },
      });
    }
  });
});
