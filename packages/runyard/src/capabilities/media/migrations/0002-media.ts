import type { Migration } from '../../../platform/storage/database.js';

/** The bytes of media, once per content. */
export const media: Migration = {
  version: 2,
  name: 'media',

  up: (dialect) => [
    `CREATE TABLE media_contents (
      hash text NOT NULL PRIMARY KEY,
      bytes ${dialect === 'postgres' ? 'bytea' : 'blob'} NOT NULL,
      size bigint NOT NULL,
      created_at bigint NOT NULL
    )`,
  ],

  down: () => ['DROP TABLE media_contents'],
};
