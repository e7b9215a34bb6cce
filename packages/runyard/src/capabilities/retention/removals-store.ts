import { type Statement, statement } from '../../platform/storage/database.js';

/** As in the index `runs_ended`. */
export const ended = `status IN ('completed', 'error', 'cancelled', 'regenerated')`;

/** Removes what a query finds. */
export interface Removal {
  readonly find: Statement;
  /** How many of the parameters are those of the query: the last ones. */
  readonly found: number;
  readonly remove: Statement;
}

/**
 * `remove` up to its list, and the query without its limit. `candidates`: the same query where it would read many rows
 * to find none, without the condition that they are read for.
 */
function removal(name: string, remove: string, found: string, candidates = found): Removal {
  const sql = (locked: string) => `${remove} (${found} LIMIT ? ${locked}) RETURNING 1 AS removed`;
  return {
    find: statement(`find_${name}`, `${candidates} LIMIT ?`),
    found: found.split('?').length,
    remove: { name: `remove_${name}`, sqlite: sql(''), postgres: statement('', sql('FOR UPDATE')).postgres },
  };
}

// Of a run that has not ended there is more to come. Asked like this, each run is looked up by its key.
export const oldTraces = removal(
  'traces',
  'DELETE FROM traces WHERE run_id IN',
  `SELECT run_id FROM traces
   WHERE start_time < ? AND end_time < ? AND coalesce(
     (SELECT runs.status FROM runs WHERE runs.run_id = traces.run_id), 'gone')
       NOT IN ('pending', 'running', 'paused')
   ORDER BY start_time, run_id`,
  'SELECT 1 FROM traces WHERE start_time < ? AND end_time < ?',
);

// The scores are removed with it.
export const oldEvals = removal(
  'run_evals',
  'DELETE FROM run_evals WHERE (run_id, eval) IN',
  'SELECT run_id, eval FROM run_evals WHERE created_at < ? ORDER BY created_at, run_id, eval',
);

// A key that is taken again while this waits for it is a new one.
export const oldKeys = removal(
  'idempotency_keys',
  'DELETE FROM idempotency_keys WHERE created_at <= ? AND (user_key, kind, component_id, key) IN',
  `SELECT user_key, kind, component_id, key FROM idempotency_keys
   WHERE created_at <= ? ORDER BY created_at`,
);

// Steps, events and texts are removed with their job.
export const oldJobs = removal(
  'jobs',
  'DELETE FROM jobs WHERE run_id IN',
  `SELECT run_id FROM jobs WHERE ${ended} AND updated_at <= ? ORDER BY updated_at, run_id`,
);

// Their results are removed with them.
export const oldEvalRuns = removal(
  'eval_runs',
  'DELETE FROM eval_runs WHERE eval_run_id IN',
  `SELECT eval_run_id FROM eval_runs
   WHERE created_at < ? AND updated_at < ? AND status NOT IN ('pending', 'running')
   ORDER BY created_at, eval_run_id`,
);

// Attempts in progress are recorded when they end.
export const oldScheduleRuns = removal(
  'schedule_runs',
  'DELETE FROM schedule_runs WHERE id IN',
  `SELECT id FROM schedule_runs WHERE created_at <= ? AND status <> 'running' ORDER BY created_at, id`,
);

// Requests, events and messages are removed with their session.
export const oldMcpSessions = removal(
  'mcp_sessions',
  'DELETE FROM mcp_sessions WHERE used_at <= ? AND session_id IN',
  'SELECT session_id FROM mcp_sessions WHERE used_at <= ? ORDER BY used_at, session_id',
);

// One in progress has a lease that is renewed.
export const oldMcpRequests = removal(
  'mcp_requests',
  'DELETE FROM mcp_requests WHERE request_key IN',
  `SELECT request_key FROM mcp_requests
   WHERE created_at <= ? AND (answered_at IS NOT NULL OR lease_until <= ?) ORDER BY created_at, request_key`,
);

// One that was prolonged while this waits for it stays.
function expired(table: string, key: string): Removal {
  return removal(
    table,
    `DELETE FROM ${table} WHERE expires_at <= ? AND ${key} IN`,
    `SELECT ${key} FROM ${table} WHERE expires_at <= ? ORDER BY expires_at, ${key}`,
  );
}

// Codes and refresh tokens are removed with their grant, too.
export const expiredOauth = [
  expired('mcp_oauth_grants', 'grant_id'),
  expired('mcp_oauth_tokens', 'hash'),
  expired('mcp_oauth_clients', 'client_id'),
];
export const expiredResponses = expired('cached_responses', 'cache_key');

export const releasedMedia = removal(
  'released_media',
  'DELETE FROM media_contents WHERE hash IN',
  'SELECT hash FROM media_contents WHERE released_at <= ? ORDER BY released_at, hash',
);

// Late ones, too: a call of a run that was cancelled may store bytes when the run has ended. One that failed may continue.
export const unusedMedia = removal(
  'unused_media',
  'DELETE FROM media_contents WHERE hash IN',
  `SELECT hash FROM media_contents AS owned WHERE owner IS NOT NULL AND created_at <= ? AND coalesce(
     (SELECT runs.status FROM runs WHERE runs.run_id = owned.owner), 'gone')
       NOT IN ('pending', 'running', 'paused', 'error')
   ORDER BY owner, created_at`,
  'SELECT 1 FROM media_contents WHERE owner IS NOT NULL AND created_at <= ?',
);
