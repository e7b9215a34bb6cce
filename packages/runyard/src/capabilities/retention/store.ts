import { type Database, type Statement, statement } from '../../platform/storage/database.js';
import { endOfTime, idOfDay, type SlicedTable } from '../../platform/storage/slices.js';

/** A place in the order in which runs ended. */
export interface EndedPlace {
  readonly endedAt: number;
  readonly runId: string;
}

/** As in the index `runs_ended`. */
const ended = `status IN ('completed', 'error', 'cancelled', 'regenerated')`;

const readEnded = statement(
  'retention_ended_runs',
  `SELECT run_id, updated_at FROM runs
   WHERE ${ended} AND (updated_at, run_id) > (?, ?) AND updated_at <= ?
   ORDER BY updated_at, run_id LIMIT ?`,
);

const readProgress = statement(
  'retention_progress',
  `SELECT removed_until FROM retention_progress WHERE name = 'events'`,
);

const noteProgress = statement(
  'note_retention_progress',
  `INSERT INTO retention_progress (name, removed_until) VALUES ('events', ?)
   ON CONFLICT (name) DO UPDATE SET removed_until = excluded.removed_until
   WHERE retention_progress.removed_until < excluded.removed_until`,
);

// A run that is continued in between keeps what is left: the store checks once more whether it has ended.
const removeBlocks: Statement = {
  name: 'remove_event_blocks',
  sqlite: `DELETE FROM event_blocks WHERE rowid IN (
      SELECT blocks.rowid FROM json_each(?1) AS given CROSS JOIN runs CROSS JOIN event_blocks AS blocks
      WHERE runs.run_id = given.value AND blocks.run_id = runs.run_id
        AND runs.${ended} AND runs.updated_at <= ?2
      LIMIT ?3)
    RETURNING 1 AS removed`,
  // Those in slices are dropped with them.
  // in one order: two processes that remove the same wait for each other, and not each for the other
  postgres: `DELETE FROM event_blocks USING (
      SELECT blocks.run_id, blocks.first_index
      FROM unnest($1::text[]) AS given(run_id) JOIN runs USING (run_id) JOIN event_blocks AS blocks USING (run_id)
      WHERE runs.${ended} AND runs.updated_at <= $2 AND NOT (blocks.run_id >= $4 AND blocks.run_id < $5)
      ORDER BY blocks.run_id, blocks.first_index LIMIT $3 FOR UPDATE OF blocks) AS old
    WHERE event_blocks.run_id = old.run_id AND event_blocks.first_index = old.first_index
    RETURNING 1 AS removed`,
};

// The events of runs that ended with their first write are in the row of the run.
const packedEvents = (given: string, until: string, locked: string) => `
  UPDATE runs SET packed_events = NULL WHERE run_id IN (
    SELECT run_id FROM runs WHERE run_id ${given} AND ${ended} AND updated_at <= ${until}
      AND packed_events IS NOT NULL ORDER BY run_id ${locked})
  RETURNING 1 AS removed`;

const removePacked: Statement = {
  name: 'remove_packed_events',
  sqlite: packedEvents('IN (SELECT value FROM json_each(?1))', '?2', ''),
  postgres: packedEvents('= ANY($1::text[])', '$2', 'FOR UPDATE'),
};

// Long texts that only events referred to.
const textsOfEvents = (given: string, until: string) => `
  DELETE FROM run_texts WHERE kept = 0 AND run_id IN (
    SELECT run_id FROM runs WHERE run_id ${given} AND ${ended} AND updated_at <= ${until})
  RETURNING 1 AS removed`;

const removeTexts: Statement = {
  name: 'remove_event_texts',
  sqlite: textsOfEvents('IN (SELECT value FROM json_each(?1))', '?2'),
  postgres: textsOfEvents('= ANY($1::text[])', '$2'),
};

const lockedInOrder = { sqlite: '', postgres: 'FOR UPDATE' } as const;

// Of a run that has not ended there is more to come. Asked like this, each run is looked up by its key.
const removeTraces = ({ locked }: { locked: string }) => `
  DELETE FROM traces WHERE run_id IN (
    SELECT run_id FROM traces
    WHERE start_time < ? AND end_time < ? AND coalesce(
      (SELECT runs.status FROM runs WHERE runs.run_id = traces.run_id), 'gone')
        NOT IN ('pending', 'running', 'paused')
    ORDER BY start_time, run_id LIMIT ? ${locked})
  RETURNING 1 AS removed`;

// The scores are removed with it.
const removeEvals = ({ locked }: { locked: string }) => `
  DELETE FROM run_evals WHERE (run_id, eval) IN (
    SELECT run_id, eval FROM run_evals WHERE created_at < ?
    ORDER BY created_at, run_id, eval LIMIT ? ${locked})
  RETURNING 1 AS removed`;

// A key that is taken again while this waits for it is a new one.
const removeKeys = ({ locked }: { locked: string }) => `
  DELETE FROM idempotency_keys
  WHERE created_at <= ? AND (user_key, kind, component_id, key) IN (
    SELECT user_key, kind, component_id, key FROM idempotency_keys
    WHERE created_at <= ? ORDER BY created_at LIMIT ? ${locked})
  RETURNING 1 AS removed`;

// Steps, events and texts are removed with their job.
const removeJobs = ({ locked }: { locked: string }) => `
  DELETE FROM jobs WHERE run_id IN (
    SELECT run_id FROM jobs WHERE ${ended} AND updated_at <= ?
    ORDER BY updated_at, run_id LIMIT ? ${locked})
  RETURNING 1 AS removed`;

// Their results are removed with them.
const removeEvalRuns = ({ locked }: { locked: string }) => `
  DELETE FROM eval_runs WHERE eval_run_id IN (
    SELECT eval_run_id FROM eval_runs
    WHERE created_at < ? AND updated_at < ? AND status NOT IN ('pending', 'running')
    ORDER BY created_at, eval_run_id LIMIT ? ${locked})
  RETURNING 1 AS removed`;

// Attempts in progress are recorded when they end.
const removeScheduleRuns = ({ locked }: { locked: string }) => `
  DELETE FROM schedule_runs WHERE id IN (
    SELECT id FROM schedule_runs WHERE created_at <= ? AND status <> 'running'
    ORDER BY created_at, id LIMIT ? ${locked})
  RETURNING 1 AS removed`;

// Requests, events and messages are removed with their session.
const removeMcpSessions = ({ locked }: { locked: string }) => `
  DELETE FROM mcp_sessions WHERE used_at <= ? AND session_id IN (
    SELECT session_id FROM mcp_sessions WHERE used_at <= ?
    ORDER BY used_at, session_id LIMIT ? ${locked})
  RETURNING 1 AS removed`;

// One in progress has a lease that is renewed.
const removeMcpRequests = ({ locked }: { locked: string }) => `
  DELETE FROM mcp_requests WHERE request_key IN (
    SELECT request_key FROM mcp_requests WHERE created_at <= ? AND (answered_at IS NOT NULL OR lease_until <= ?)
    ORDER BY created_at, request_key LIMIT ? ${locked})
  RETURNING 1 AS removed`;

// One that was prolonged while this waits for it stays. Codes and refresh tokens are removed with their grant, too.
const removeExpired =
  (table: string, key: string) =>
  ({ locked }: { locked: string }) =>
    `
  DELETE FROM ${table} WHERE expires_at <= ? AND ${key} IN (
    SELECT ${key} FROM ${table} WHERE expires_at <= ? ORDER BY expires_at, ${key} LIMIT ? ${locked})
  RETURNING 1 AS removed`;

const removeMedia = ({ locked }: { locked: string }) => `
  DELETE FROM media_contents WHERE hash IN (
    SELECT hash FROM media_contents WHERE released_at <= ? ORDER BY released_at, hash LIMIT ? ${locked})
  RETURNING 1 AS removed`;

// Late ones, too: a call of a run that was cancelled may store bytes when the run has ended. One that failed may continue.
const removeUnusedMedia = ({ locked }: { locked: string }) => `
  DELETE FROM media_contents WHERE hash IN (
    SELECT hash FROM media_contents AS owned WHERE owner IS NOT NULL AND created_at <= ? AND coalesce(
      (SELECT runs.status FROM runs WHERE runs.run_id = owned.owner), 'gone')
        NOT IN ('pending', 'running', 'paused', 'error')
    ORDER BY owner, created_at LIMIT ? ${locked})
  RETURNING 1 AS removed`;

// A few rows of large tables, however PostgreSQL's statistics are at the moment.
const byIndexAlone = `
  SELECT set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true)`;

const removeOldTraces = inBoth('remove_traces', removeTraces);
const removeOldEvals = inBoth('remove_run_evals', removeEvals);
const removeOldKeys = inBoth('remove_idempotency_keys', removeKeys);
const removeOldJobs = inBoth('remove_jobs', removeJobs);
const removeOldEvalRuns = inBoth('remove_eval_runs', removeEvalRuns);
const removeExpiredOauth = [
  inBoth('remove_mcp_oauth_grants', removeExpired('mcp_oauth_grants', 'grant_id')),
  inBoth('remove_mcp_oauth_tokens', removeExpired('mcp_oauth_tokens', 'hash')),
  inBoth('remove_mcp_oauth_clients', removeExpired('mcp_oauth_clients', 'client_id')),
];
const removeExpiredResponses = inBoth(
  'remove_cached_responses',
  removeExpired('cached_responses', 'cache_key'),
);
const removeReleasedMedia = inBoth('remove_released_media', removeMedia);
const removeUnused = inBoth('remove_unused_media', removeUnusedMedia);
const removeOldScheduleRuns = inBoth('remove_schedule_runs', removeScheduleRuns);
const removeOldMcpSessions = inBoth('remove_mcp_sessions', removeMcpSessions);
const removeOldMcpRequests = inBoth('remove_mcp_requests', removeMcpRequests);

function inBoth(name: string, sql: (lock: { locked: string }) => string): Statement {
  return {
    name,
    sqlite: sql({ locked: lockedInOrder.sqlite }),
    postgres: statement('', sql({ locked: lockedInOrder.postgres })).postgres,
  };
}

const readSurplus = statement(
  'surplus_responses',
  'SELECT expires_at FROM cached_responses ORDER BY expires_at DESC, cache_key DESC LIMIT 1 OFFSET ?',
);

/** From which id on the rows of each table are left to the slices that are dropped. */
export type LeftFrom = Readonly<Record<SlicedTable['name'], string>>;

const leaveToSlices = `SELECT set_config('runyard.steps_left_from', $1, true),
  set_config('runyard.event_blocks_left_from', $2, true)`;

const readOldRuns = statement(
  'old_runs',
  `SELECT run_id, session_id FROM runs WHERE ${ended} AND updated_at <= ?
   ORDER BY updated_at, run_id LIMIT ?`,
);

// As runs do it: sessions first, in their order.
const lockSessions =
  'SELECT 1 FROM sessions WHERE session_id = ANY($1::text[]) ORDER BY session_id FOR NO KEY UPDATE';

// One that was continued meanwhile stays.
const ofRuns = (given: string, until: string, locked: string) => `
  DELETE FROM runs WHERE run_id IN (
    SELECT run_id FROM runs WHERE run_id ${given} AND ${ended} AND updated_at <= ${until} ORDER BY run_id ${locked})
  RETURNING run_id`;

const removeOldRuns: Statement = {
  name: 'remove_old_runs',
  sqlite: ofRuns('IN (SELECT value FROM json_each(?1))', '?2', ''),
  postgres: ofRuns('= ANY($1::text[])', '$2', 'FOR UPDATE'),
};

const removeTracesOfRuns: Statement = {
  name: 'remove_traces_of_runs',
  sqlite: 'DELETE FROM traces WHERE run_id IN (SELECT value FROM json_each(?1))',
  postgres: 'DELETE FROM traces WHERE run_id = ANY($1::text[])',
};

// What models answered there is given to no later call.
const removeResponsesOfSessions: Statement = {
  name: 'remove_responses_of_empty_sessions',
  sqlite: 'DELETE FROM cached_responses WHERE session_id IN (SELECT value FROM json_each(?1))',
  postgres: 'DELETE FROM cached_responses WHERE session_id = ANY($1::text[])',
};

const emptySessions = (given: string, until: string) => `
  DELETE FROM sessions WHERE session_id ${given} AND updated_at <= ${until}
    AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.session_id = sessions.session_id)
  RETURNING session_id`;

const removeEmptySessions: Statement = {
  name: 'remove_empty_sessions',
  sqlite: emptySessions('IN (SELECT value FROM json_each(?1))', '?2'),
  postgres: emptySessions('= ANY($1::text[])', '$2'),
};

/** Finds and removes what is too old, in one database. Each call is one short statement. */
export class RetentionStore {
  constructor(private readonly database: Database) {}

  /** The events of all runs that ended before this are gone. */
  async removedUntil(): Promise<number> {
    const [row] = await this.database.read<{ removed_until: number }>(readProgress, []);
    return row?.removed_until ?? 0;
  }

  async noteRemoved(until: number): Promise<void> {
    await this.database.transaction((run) => run(noteProgress[this.database.dialect], [until]));
  }

  /** The runs that ended after a place and up to a time, in order. */
  async ended(after: EndedPlace, until: number, limit: number): Promise<EndedPlace[]> {
    const parameters = [after.endedAt, after.runId, until, limit];
    const rows = await this.database.read<{ run_id: string; updated_at: number }>(readEnded, parameters);
    return rows.map((row) => ({ runId: row.run_id, endedAt: row.updated_at }));
  }

  /**
   * Removes events of those of the runs that ended up to a time, and answers with how many blocks of them. Blocks of ids
   * from `leftFrom` on are dropped with their slice.
   */
  async removeEvents(
    runIds: readonly string[],
    until: number,
    limit: number,
    leftFrom: string,
  ): Promise<number> {
    await this.remove(removeTexts, [runIds, until]);
    await this.remove(removePacked, [runIds, until]);
    const inSlices = this.database.dialect === 'postgres' ? [leftFrom, idOfDay(endOfTime)] : [];
    return this.remove(removeBlocks, [runIds, until, limit, ...inSlices]);
  }

  /**
   * Removes runs that ended up to a time, with all that belongs to them, and sessions that have no others and were not
   * changed since. The usage stays with its session. Rows in slices are left to them.
   */
  removeRuns(until: number, limit: number, leftFrom: LeftFrom): Promise<number> {
    const { dialect } = this.database;
    return this.database.transaction(async (run) => {
      if (dialect === 'postgres') {
        await run(byIndexAlone);
        await run(leaveToSlices, [leftFrom.steps, leftFrom.event_blocks]);
      }
      const found = await run<{ run_id: string; session_id: string }>(readOldRuns[dialect], [until, limit]);
      if (found.length === 0) return 0;
      const sessionIds = [...new Set(found.map((row) => row.session_id))];
      if (dialect === 'postgres') await run(lockSessions, [sessionIds]);
      const runIds = found.map((row) => row.run_id);
      const removed = await run<{ run_id: string }>(removeOldRuns[dialect], [runIds, until]);
      await run(removeTracesOfRuns[dialect], [removed.map((row) => row.run_id)]);
      const empty = await run<{ session_id: string }>(removeEmptySessions[dialect], [sessionIds, until]);
      await run(removeResponsesOfSessions[dialect], [empty.map((row) => row.session_id)]);
      return found.length;
    });
  }

  /** Removes traces that ended before a time. */
  removeTraces(before: number, limit: number): Promise<number> {
    return this.remove(removeOldTraces, [before, before, limit]);
  }

  /** Removes what live evals found before a time. */
  removeEvals(before: number, limit: number): Promise<number> {
    return this.remove(removeOldEvals, [before, limit]);
  }

  /** Removes keys that were taken up to a time. */
  removeKeys(until: number, limit: number): Promise<number> {
    return this.remove(removeOldKeys, [until, until, limit]);
  }

  /** Removes jobs that ended up to a time, and answers with how many. */
  removeJobs(until: number, limit: number): Promise<number> {
    return this.remove(removeOldJobs, [until, limit]);
  }

  /** Removes evals that ended before a time. */
  removeEvalRuns(before: number, limit: number): Promise<number> {
    return this.remove(removeOldEvalRuns, [before, before, limit]);
  }

  /** Removes attempts of schedules that began up to a time. */
  removeScheduleRuns(until: number, limit: number): Promise<number> {
    return this.remove(removeOldScheduleRuns, [until, limit]);
  }

  /** Removes sessions of MCP clients that were not used since a time. */
  removeMcpSessions(before: number, limit: number): Promise<number> {
    return this.remove(removeOldMcpSessions, [before, before, limit]);
  }

  /** Removes requests of MCP clients that began before a time, and are no longer in progress. */
  removeMcpRequests(before: number, limit: number): Promise<number> {
    return this.remove(removeOldMcpRequests, [before, before, limit]);
  }

  /** Removes clients, grants and tokens of the authorization server that expired up to a time. */
  async removeExpiredOauth(until: number, limit: number): Promise<number> {
    const removed: number[] = [];
    for (const each of removeExpiredOauth) removed.push(await this.remove(each, [until, until, limit]));
    return Math.max(...removed);
  }

  /** Removes bytes of runs that do not keep them and ended up to a time. */
  removeReleasedMedia(until: number, limit: number): Promise<number> {
    return this.remove(removeReleasedMedia, [until, limit]);
  }

  /** Removes such bytes that were stored up to a time for a run that is not there, or has ended without them. */
  removeUnusedMedia(until: number, limit: number): Promise<number> {
    return this.remove(removeUnused, [until, limit]);
  }

  /** Removes answers of models that expire up to a time. */
  removeResponses(until: number, limit: number): Promise<number> {
    return this.remove(removeExpiredResponses, [until, until, limit]);
  }

  /** When the first of those answers expires that are more than may be kept; undefined when there are none. */
  async surplusUntil(most: number): Promise<number | undefined> {
    const [row] = await this.database.read<{ expires_at: number }>(readSurplus, [most]);
    return row?.expires_at;
  }

  private async remove(
    statement: Statement,
    parameters: readonly (string | number | readonly string[])[],
  ): Promise<number> {
    const { dialect } = this.database;
    const removed = await this.database.transaction(async (run) => {
      if (dialect === 'postgres') await run(byIndexAlone);
      return run(statement[dialect], parameters);
    });
    return removed.length;
  }
}
