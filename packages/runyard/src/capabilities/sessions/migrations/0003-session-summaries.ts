import type { Migration } from '../../../platform/storage/database.js';

/** What a session was about so far. Not every session has it, so that it is no part of the sessions' rows. */
export const sessionSummaries: Migration = {
  version: 3,
  name: 'session-summaries',

  up: () => [
    `CREATE TABLE session_summaries (
      session_id text NOT NULL PRIMARY KEY REFERENCES sessions (session_id) ON DELETE CASCADE,
      summary text NOT NULL,
      topics text NOT NULL,
      covers_until bigint NOT NULL,
      updated_at bigint NOT NULL
    )`,
  ],

  down: () => ['DROP TABLE session_summaries'],
};
