import { type Database, type Statement, statement } from '../../platform/storage/database.js';
import { endOfTime, idOfDay, type SlicedTable } from '../../platform/storage/slices.js';
import {
  ended,
  expiredOauth,
  expiredResponses,
  oldEvalRuns,
  oldEvals,
  oldJobs,
  oldKeys,
  oldMcpRequests,
  oldMcpSessions,
  oldScheduleRuns,
  oldTraces,
  type Removal,
  releasedMedia,
  unusedMedia,
} from './removals-store.js';

/** A place in the order in which runs ended. */
export interface EndedPlace {
  readonly endedAt: number;
  readonly runId: string;
}

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

// A few rows of large tables, however PostgreSQL's statistics are at the moment.
const byIndexAlone = `
  SELECT set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true)`;

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
    return this.removeFound(oldTraces, [before, before, limit]);
  }

  /** Removes what live evals found before a time. */
  removeEvals(before: number, limit: number): Promise<number> {
    return this.removeFound(oldEvals, [before, limit]);
  }

  /** Removes keys that were taken up to a time. */
  removeKeys(until: number, limit: number): Promise<number> {
    return this.removeFound(oldKeys, [until, until, limit]);
  }

  /** Removes jobs that ended up to a time, and answers with how many. */
  removeJobs(until: number, limit: number): Promise<number> {
    return this.removeFound(oldJobs, [until, limit]);
  }

  /** Removes evals that ended before a time. */
  removeEvalRuns(before: number, limit: number): Promise<number> {
    return this.removeFound(oldEvalRuns, [before, before, limit]);
  }

  /** Removes attempts of schedules that began up to a time. */
  removeScheduleRuns(until: number, limit: number): Promise<number> {
    return this.removeFound(oldScheduleRuns, [until, limit]);
  }

  /** Removes sessions of MCP clients that were not used since a time. */
  removeMcpSessions(before: number, limit: number): Promise<number> {
    return this.removeFound(oldMcpSessions, [before, before, limit]);
  }

  /** Removes requests of MCP clients that began before a time, and are no longer in progress. */
  removeMcpRequests(before: number, limit: number): Promise<number> {
    return this.removeFound(oldMcpRequests, [before, before, limit]);
  }

  /** Removes clients, grants and tokens of the authorization server that expired up to a time. */
  async removeExpiredOauth(until: number, limit: number): Promise<number> {
    const removed: number[] = [];
    for (const each of expiredOauth) removed.push(await this.removeFound(each, [until, until, limit]));
    return Math.max(...removed);
  }

  /** Removes bytes of runs that do not keep them and ended up to a time. */
  removeReleasedMedia(until: number, limit: number): Promise<number> {
    return this.removeFound(releasedMedia, [until, limit]);
  }

  /** Removes such bytes that were stored up to a time for a run that is not there, or has ended without them. */
  removeUnusedMedia(until: number, limit: number): Promise<number> {
    return this.removeFound(unusedMedia, [until, limit]);
  }

  /** Removes answers of models that expire up to a time. */
  removeResponses(until: number, limit: number): Promise<number> {
    return this.removeFound(expiredResponses, [until, until, limit]);
  }

  /** When the first of those answers expires that are more than may be kept; undefined when there are none. */
  async surplusUntil(most: number): Promise<number | undefined> {
    const [row] = await this.database.read<{ expires_at: number }>(readSurplus, [most]);
    return row?.expires_at;
  }

  /** Most sweeps find nothing. On SQLite, such a sweep needs neither the lock nor the thread of the writer. */
  private async removeFound(
    { find, found, remove }: Removal,
    parameters: readonly number[],
  ): Promise<number> {
    if (this.database.dialect === 'sqlite') {
      const one = await this.database.read(find, [...parameters.slice(-found, -1), 1]);
      if (one.length === 0) return 0;
    }
    return this.remove(remove, parameters);
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
