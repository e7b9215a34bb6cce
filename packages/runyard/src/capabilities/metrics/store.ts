import { newId } from '../../core/ids.js';
import {
  type Database,
  type ListReads,
  type RunStatement,
  statement,
  timeOf,
} from '../../platform/storage/database.js';
import { storedJson } from '../../platform/storage/text.js';
import {
  byKind,
  type DailyMetrics,
  type DayCounts,
  dayCountsOf,
  isEmpty,
  type KindCount,
  kinds,
  tokenFields,
  type UsageSum,
} from './daily-metrics.js';
import { dayMs, dayOf, startOf } from './day.js';
import { changedEvals, evalMetricsOf } from './eval-sums-store.js';
import type { DailyMetricsTable } from './tables.js';

/** Days to show; both ends belong to them. */
export interface DayRange {
  readonly from?: number;
  readonly to?: number;
}

/** Runs of a day that paused, ended or were graded lately. Another text means that there was a change. */
export interface ChangedDay {
  readonly day: number;
  readonly trace: string;
}

const tokenSums = tokenFields.map((field) => `CAST(sum(${field}) AS bigint) AS ${field}`).join(', ');

// By the row without a purpose that each run has: the others of the run are beside it.
const sumUsage = statement(
  'metrics_of_day',
  `SELECT kind, provider, model, CAST(sum(run_count) AS bigint) AS run_count, ${tokenSums}
   FROM run_usage WHERE (session_id, run_id) IN (
     SELECT session_id, run_id FROM run_usage WHERE day = ? AND purpose = '')
   GROUP BY kind, provider, model, purpose = ''`,
);

// all sessions, in the words of their index
const ofAnyKind = `kind IN ('agent', 'team', 'workflow')`;

const countSessions = statement(
  'sessions_of_day',
  `SELECT kind, count(*) AS count FROM sessions
   WHERE ${ofAnyKind} AND created_at >= ? AND created_at < ? GROUP BY kind`,
);

const countUsers = statement(
  'users_of_day',
  `SELECT count(*) AS count FROM (
     SELECT user_id FROM run_usage WHERE day = ? AND purpose = '' AND user_id <> ''
     UNION SELECT user_id FROM sessions
       WHERE ${ofAnyKind} AND created_at >= ? AND created_at < ? AND user_id <> '') AS users`,
);

const columns = [
  'day',
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
  'eval_metrics',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof DailyMetricsTable)[];

/** A day that is counted again keeps its id and when it was first counted. */
const writeDay = statement(
  'write_metrics_of_day',
  `INSERT INTO daily_metrics (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
   ON CONFLICT (day) DO UPDATE SET ${columns
     .filter((name) => name !== 'day' && name !== 'id' && name !== 'created_at')
     .map((name) => `${name} = excluded.${name}`)
     .join(', ')}`,
);

const removeDay = statement('remove_metrics_of_day', 'DELETE FROM daily_metrics WHERE day = ?');

/** Two who count the same day come one after the other, so that the older sum never goes over the newer one. */
const takeTurn = `SELECT id FROM metrics_refresh WHERE id = 'metrics' FOR UPDATE`;

const changesOf = (column: string) => `
  (SELECT ${column} FROM run_usage WHERE purpose = '' AND day = used.day AND updated_at > ?)`;

// Each used day is found behind the one before it: there are few, and few of them have changed.
const changedDays = statement(
  'changed_days',
  `SELECT day, changes, moved FROM (
     WITH RECURSIVE used(day) AS (
       SELECT min(day) FROM run_usage WHERE purpose = ''
       UNION ALL
       SELECT (SELECT min(run_usage.day) FROM run_usage WHERE purpose = '' AND run_usage.day > used.day)
       FROM used WHERE used.day IS NOT NULL
     )
     SELECT used.day, ${changesOf('CAST(sum(updated_at - ?) AS bigint)')} AS moved,
       ${changesOf('count(*)')} AS changes
     FROM used WHERE used.day IS NOT NULL
   ) AS days WHERE changes > 0`,
);

interface DayTrace {
  readonly day: number;
  readonly changes: number;
  readonly moved: number;
}

/** So that the sum of many times stays a number that is exact. */
const recently = Date.UTC(2026, 0, 1);

const nextUsedDay = statement(
  'next_used_day',
  `SELECT min(day) AS day FROM run_usage WHERE purpose = '' AND day > ?`,
);

const nextSession = statement(
  'next_session',
  `SELECT min(created_at) AS created_at FROM (${kinds
    .map(
      (kind) =>
        `SELECT min(created_at) AS created_at FROM sessions WHERE kind = '${kind}' AND created_at >= ?`,
    )
    .join(' UNION ALL ')}) AS firsts`,
);

const unfinishedDays = statement(
  'unfinished_days',
  `SELECT day FROM daily_metrics WHERE updated_at < (CAST(day AS bigint) + 1) * ${dayMs} AND updated_at <= ?
   ORDER BY day`,
);

const lastUpdate = statement('last_update', 'SELECT max(updated_at) AS updated_at FROM daily_metrics');

/** The daily sums of one database. They cover the whole service: callers who may read them see all of them. */
export class MetricsStore {
  constructor(private readonly database: Database) {}

  /** As they are shown; for counting, as they are. */
  async days({ from, to }: DayRange, reads: ListReads = this.database): Promise<DailyMetrics[]> {
    let selection = reads.query.selectFrom('daily_metrics').selectAll();
    if (from !== undefined) selection = selection.where('day', '>=', from);
    if (to !== undefined) selection = selection.where('day', '<=', to);
    return (await selection.orderBy('day').execute()).map(metricsFromRow);
  }

  listedDays(range: DayRange): Promise<DailyMetrics[]> {
    return this.days(range, this.database.lists);
  }

  /** When any day was last counted. */
  async updatedAt(): Promise<number | null> {
    const rows = await this.database.read<{ updated_at: number | null }>(lastUpdate, []);
    return rows[0]?.updated_at ?? null;
  }

  /** Counts a day again, from all its data; a day without data is not kept. */
  count(day: number, now: number): Promise<void> {
    const { dialect } = this.database;
    return this.database.transaction(async (run) => {
      if (dialect === 'postgres') await run(takeTurn);
      const counts = await this.countsOf(run, day);
      if (isEmpty(counts)) await run(removeDay[dialect], [day]);
      else
        await run(
          writeDay[dialect],
          valuesOf({ day, id: newId(), createdAt: now, updatedAt: now, ...counts }),
        );
    });
  }

  /** The days of runs that paused, ended or were graded after a time of the database. */
  async changedSince(time: number): Promise<ChangedDay[]> {
    const days = new Map<number, string>();
    const asked = [
      { changed: changedDays, parameters: [recently, time, time] },
      { changed: changedEvals, parameters: [recently, time] },
    ];
    for (const { changed, parameters } of asked) {
      const rows = await this.database.read<DayTrace>(changed, parameters);
      for (const { day, changes, moved } of rows)
        days.set(day, `${days.get(day) ?? ''} ${changed.name} ${changes} ${moved}`);
    }
    return Array.from(days, ([day, trace]) => ({ day, trace }));
  }

  /** Whether a day was never counted, or has more sessions than were counted. */
  async isUncounted(day: number): Promise<boolean> {
    const [counted] = await this.days({ from: day, to: day });
    if (counted === undefined) return true;
    const range = [startOf(day), startOf(day + 1)];
    const found = byKind(await this.database.read<KindCount>(countSessions, range));
    return kinds.some((kind) => found[kind] > counted.sessions[kind]);
  }

  /** The next day on which something happened. */
  async dayAfter(day: number): Promise<number | undefined> {
    const used = await this.database.read<{ day: number | null }>(nextUsedDay, [day]);
    const from = kinds.map(() => startOf(day + 1));
    const sessions = await this.database.read<{ created_at: number | null }>(nextSession, from);
    const created = sessions[0]?.created_at ?? null;
    const found = [used[0]?.day ?? [], created === null ? [] : dayOf(created)].flat();
    return found.length === 0 ? undefined : Math.min(...found);
  }

  /** The days that were last counted before they ended, and not after a time. */
  async unfinished(countedUntil: number): Promise<number[]> {
    const rows = await this.database.read<{ day: number }>(unfinishedDays, [countedUntil]);
    return rows.map(({ day }) => day);
  }

  /** The database's own time. */
  now(): Promise<number> {
    return timeOf(this.database);
  }

  private async countsOf(run: RunStatement, day: number): Promise<DayCounts> {
    const { dialect } = this.database;
    const range = [startOf(day), startOf(day + 1)];
    const sums = await run<UsageSum>(sumUsage[dialect], [day]);
    const sessions = await run<KindCount>(countSessions[dialect], range);
    const users = await run<{ count: number }>(countUsers[dialect], [day, ...range]);
    return dayCountsOf(sums, sessions, users[0]?.count ?? 0, await evalMetricsOf(run, dialect, day));
  }
}

function valuesOf(metrics: DailyMetrics) {
  const { day, id, runs, sessions, users, tokens, models, evals, createdAt, updatedAt } = metrics;
  return [
    day,
    id,
    runs.agent,
    sessions.agent,
    runs.team,
    sessions.team,
    runs.workflow,
    sessions.workflow,
    users,
    JSON.stringify(tokens),
    JSON.stringify(models),
    JSON.stringify(evals),
    createdAt,
    updatedAt,
  ];
}

function metricsFromRow(row: DailyMetricsTable): DailyMetrics {
  return {
    day: row.day,
    id: row.id,
    runs: { agent: row.agent_runs_count, team: row.team_runs_count, workflow: row.workflow_runs_count },
    sessions: {
      agent: row.agent_sessions_count,
      team: row.team_sessions_count,
      workflow: row.workflow_sessions_count,
    },
    users: row.users_count,
    tokens: storedJson(row.token_metrics),
    models: storedJson(row.model_metrics),
    evals: storedJson(row.eval_metrics),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
