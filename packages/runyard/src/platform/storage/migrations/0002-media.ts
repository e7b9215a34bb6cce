import { queryBuilder } from '../query-builder.js';
import type { Migration } from './migration.js';

/** The bytes of media, once per content. */
export const media: Migration = {
  version: 2,
  name: 'media',

  async up(database, dialect) {
    const { sql } = queryBuilder();
    await database.schema
      .createTable('media_contents')
      .addColumn('hash', 'text', (column) => column.primaryKey().notNull())
      .addColumn('bytes', dialect === 'postgres' ? sql`bytea` : 'blob', (column) => column.notNull())
      .addColumn('size', 'bigint', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute();
  },

  async down(database) {
    await database.schema.dropTable('media_contents').execute();
  },
};
