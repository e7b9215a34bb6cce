import type { Migration } from '../../../platform/storage/database.js';

/** Where clients want to be notified of their runs, what they have received, and the key that signs it. */
export const pushNotifications: Migration = {
  version: 24,
  name: 'push-notifications',

  up: (dialect) => [
    // Without a foreign key: a run in the foreground may be stored after the address that is notified of it.
    `CREATE TABLE push_configs (
      run_id text NOT NULL,
      config_id text NOT NULL,
      mount text NOT NULL,
      dialect text NOT NULL,
      issuer text NOT NULL,
      url text NOT NULL,
      token text,
      scheme text,
      credentials text,
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL,
      state text NOT NULL,
      reported text NOT NULL,
      attempts integer NOT NULL,
      last_error text,
      next_at bigint,
      lease_id text,
      lease_until bigint NOT NULL,
      CONSTRAINT push_configs_pk PRIMARY KEY (run_id, config_id)
    )${dialect === 'sqlite' ? ' WITHOUT ROWID' : ''}`,
    'CREATE INDEX push_configs_due ON push_configs (mount, next_at) WHERE next_at IS NOT NULL',
    'CREATE INDEX push_configs_by_update ON push_configs (updated_at)',
    `CREATE TABLE push_keys (
      name text NOT NULL PRIMARY KEY,
      private_key text NOT NULL,
      created_at bigint NOT NULL
    )`,
  ],

  down: () => ['DROP TABLE push_keys', 'DROP TABLE push_configs'],
};
