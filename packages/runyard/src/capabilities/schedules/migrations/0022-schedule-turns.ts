import type { Migration } from '../../../platform/storage/database.js';

/** Which execution of a schedule has its turn, where executions do not overlap. */
export const scheduleTurns: Migration = {
  version: 22,
  name: 'schedule turns',

  up: () => [
    `CREATE TABLE schedule_turns (
      schedule_id text NOT NULL PRIMARY KEY REFERENCES schedules (id) ON DELETE CASCADE,
      job_id text NOT NULL
    )`,
  ],

  down: () => ['DROP TABLE schedule_turns'],
};
