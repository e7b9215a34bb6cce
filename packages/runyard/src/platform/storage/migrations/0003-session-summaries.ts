import type { Migration } from './migration.js';

/** What a session was about so far. Not every session has it, so that it is no part of the sessions' rows. */
export const sessionSummaries: Migration = {
  version: 3,
  name: 'session-summaries',

  async up(database) {
    await database.schema
      .createTable('session_summaries')
      .addColumn('session_id', 'text', (column) =>
        column.primaryKey().notNull().references('sessions.session_id').onDelete('cascade'),
      )
      .addColumn('summary', 'text', (column) => column.notNull())
      .addColumn('topics', 'text', (column) => column.notNull())
      .addColumn('covers_until', 'bigint', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .execute();
  },

  async down(database) {
    await database.schema.dropTable('session_summaries').execute();
  },
};
