import type { Statement } from '../../platform/storage/database.js';

/** A part of the transaction that removes sessions: what models answered there is given to no later call. */
export const removeResponsesOfSessions: Statement = {
  name: 'remove_responses_of_sessions',
  sqlite: 'DELETE FROM cached_responses WHERE session_id IN (SELECT value FROM json_each(?))',
  postgres: 'DELETE FROM cached_responses WHERE session_id = ANY($1::text[])',
};
