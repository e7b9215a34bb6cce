import type { Migration } from '../../../platform/storage/database.js';

/** Events that runs of workflows are sent: they are kept until a function waits for them. */
export const receivedEvents: Migration = {
  version: 30,
  name: 'received-events',

  up: () => [
    `CREATE TABLE received_events (
      run_id text NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
      event_id text NOT NULL,
      name text NOT NULL,
      data text NOT NULL,
      position integer NOT NULL,
      taken_by text,
      open integer NOT NULL,
      received_at bigint NOT NULL,
      CONSTRAINT received_events_pk PRIMARY KEY (run_id, event_id)
    )`,
    'CREATE INDEX received_events_open ON received_events (run_id) WHERE open = 1',
  ],

  down: () => ['DROP TABLE received_events'],
};
