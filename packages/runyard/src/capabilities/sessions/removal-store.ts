import type { Statement } from '../../platform/storage/database.js';

/*
 * Parts of the transaction that removes sessions. Each takes the ids; the first also whose they have to be, with null
 * for anybody's.
 */

/** On PostgreSQL sessions are locked in the order of their ids before anything else is, as runs do it. */
export const sessionsToRemove: Statement = {
  name: 'sessions_to_remove',
  sqlite: `
    SELECT session_id FROM sessions
    WHERE session_id IN (SELECT value FROM json_each(?1)) AND (?2 IS NULL OR user_id = ?2)`,
  postgres: `
    SELECT session_id FROM sessions
    WHERE session_id = ANY($1::text[]) AND ($2::text IS NULL OR user_id = $2::text)
    ORDER BY session_id FOR UPDATE`,
};

/** State, summary, usage and runs go with the row. */
export const removeSessionRows: Statement = {
  name: 'remove_sessions',
  sqlite: 'DELETE FROM sessions WHERE session_id IN (SELECT value FROM json_each(?))',
  postgres: 'DELETE FROM sessions WHERE session_id = ANY($1::text[])',
};
