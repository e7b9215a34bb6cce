import type { Migration } from '../../../platform/storage/database.js';

/** What Slack delivered, the runs that it led to, and the workspaces that have installed the app. */
export const slackTables: Migration = {
  version: 27,
  name: 'slack',

  up: (dialect) => [
    `CREATE TABLE slack_deliveries (
      mount text NOT NULL,
      delivery_id text NOT NULL,
      lane text NOT NULL,
      order_key text NOT NULL,
      position text NOT NULL,
      payload text NOT NULL,
      run_id text,
      progress text,
      attempts integer NOT NULL,
      last_error text,
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL,
      next_at bigint,
      lease_id text,
      lease_until bigint NOT NULL,
      CONSTRAINT slack_deliveries_pk PRIMARY KEY (mount, delivery_id)
    )${dialect === 'sqlite' ? ' WITHOUT ROWID' : ''}`,
    'CREATE INDEX slack_deliveries_due ON slack_deliveries (mount, lane, next_at) WHERE next_at IS NOT NULL',
    'CREATE INDEX slack_deliveries_order ON slack_deliveries (mount, order_key) WHERE next_at IS NOT NULL',
    'CREATE INDEX slack_deliveries_lease ON slack_deliveries (lease_id) WHERE lease_id IS NOT NULL',
    'CREATE INDEX slack_deliveries_by_update ON slack_deliveries (updated_at)',
    // Without a foreign key: the row is there before the run.
    `CREATE TABLE slack_runs (
      run_id text NOT NULL PRIMARY KEY,
      mount text NOT NULL,
      thread_key text NOT NULL,
      place text NOT NULL,
      notes text NOT NULL,
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL
    )`,
    'CREATE INDEX slack_runs_of_thread ON slack_runs (mount, thread_key, created_at)',
    'CREATE INDEX slack_runs_by_update ON slack_runs (updated_at)',
    `CREATE TABLE slack_installations (
      mount text NOT NULL,
      owner_id text NOT NULL,
      name text NOT NULL,
      bot_user_id text NOT NULL,
      sealed_token text NOT NULL,
      scopes text NOT NULL,
      installed_by text NOT NULL,
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL,
      CONSTRAINT slack_installations_pk PRIMARY KEY (mount, owner_id)
    )`,
  ],

  down: () => ['DROP TABLE slack_installations', 'DROP TABLE slack_runs', 'DROP TABLE slack_deliveries'],
};
