import type { Migration } from '../../../platform/storage/database.js';

/** Identities of programs. A revoked account keeps its row, which records who could do what, and until when. */
export const serviceAccounts: Migration = {
  version: 9,
  name: 'service-accounts',

  up: () => [
    // The token itself is nowhere. `scopes` is a JSON list of texts.
    `CREATE TABLE service_accounts (
      id text NOT NULL PRIMARY KEY,
      name text NOT NULL,
      token_hash text NOT NULL,
      token_prefix text NOT NULL,
      scopes text NOT NULL,
      user_id text,
      created_by text,
      created_at bigint NOT NULL,
      expires_at bigint,
      last_used_at bigint,
      revoked_at bigint
    )`,
    'CREATE UNIQUE INDEX service_accounts_by_token ON service_accounts (token_hash)',
    // A name is one account at a time: of two who take it at once, one gets it.
    'CREATE UNIQUE INDEX service_accounts_by_name ON service_accounts (name) WHERE revoked_at IS NULL',
    'CREATE INDEX service_accounts_by_creation ON service_accounts (created_at, id)',
  ],

  down: () => ['DROP TABLE service_accounts'],
};
