import type { Migration } from '../../../platform/storage/database.js';

/** Bytes that belong to one run, which does not keep them. */
export const ownedMedia: Migration = {
  version: 31,
  name: 'owned-media',

  up: () => [
    'ALTER TABLE media_contents ADD COLUMN owner text',
    'ALTER TABLE media_contents ADD COLUMN released_at bigint',
    'CREATE INDEX media_contents_owned ON media_contents (owner, created_at, hash) WHERE owner IS NOT NULL',
    'CREATE INDEX media_contents_released ON media_contents (released_at, hash) WHERE released_at IS NOT NULL',
  ],

  down: () => [
    'DROP INDEX media_contents_released',
    'DROP INDEX media_contents_owned',
    'ALTER TABLE media_contents DROP COLUMN released_at',
    'ALTER TABLE media_contents DROP COLUMN owner',
  ],
};
