import type { Statement } from '../../platform/storage/database.js';
import { scopedStatement } from '../../platform/storage/scope.js';

/* Parts of the transaction that removes sessions. Each takes the ids; the first also whose they have to be. */

/** On PostgreSQL sessions are locked in the order of their ids before anything else is, as runs do it. */
export const sessionsToRemove = scopedStatement('sessions_to_remove', 'user_id', (owned, dialect) =>
  dialect === 'sqlite'
    ? `SELECT session_id FROM sessions WHERE session_id IN (SELECT value FROM json_each(?))${owned}`
    : `SELECT session_id FROM sessions WHERE session_id = ANY(?::text[])${owned}
       ORDER BY session_id FOR UPDATE`,
);

/** State, summary, usage and runs go with the row. */
export const removeSessionRows: Statement = {
  name: 'remove_sessions',
  sqlite: 'DELETE FROM sessions WHERE session_id IN (SELECT value FROM json_each(?))',
  postgres: 'DELETE FROM sessions WHERE session_id = ANY($1::text[])',
};
