import type { Migration } from '../../../platform/storage/database.js';
import {
  aheadOf,
  defaultOf,
  endOfTime,
  idOfDay,
  type SlicedTable,
  slicedTables,
  today,
} from '../../../platform/storage/slices.js';

/**
 * On PostgreSQL, steps and events are partitioned by the time in the id of their run, so that old ones are dropped and not
 * deleted row by row. What is there stays where it is: its table becomes the partition of all ids outside the slices.
 * A trigger removes the journals of removed runs at once, instead of a reference for each row.
 */
export const slices: Migration = {
  version: 35,
  name: 'slices',

  up: (dialect) =>
    dialect === 'postgres' ? [...tables.flatMap(sliced), tryLock, forgetJournal, onRemoval] : [],

  down: (dialect) =>
    dialect === 'postgres'
      ? [
          'DROP TRIGGER runs_removed ON runs',
          'DROP FUNCTION runyard_forget_journal()',
          'DROP FUNCTION runyard_try_lock(text)',
          ...tables.flatMap(whole),
        ]
      : [],
};

const tables = Object.values(slicedTables);

/** Processes whose clocks are ahead make ids of tomorrow. */
const daysAhead = 2;

function sliced({ name, key }: SlicedTable): string[] {
  const first = today() + daysAhead;
  const [from, to] = [idOfDay(first), idOfDay(endOfTime)];
  const inSlices = `run_id >= '${from}' AND run_id < '${to}'`;
  const rest = defaultOf(name);
  return [
    `ALTER TABLE ${name} DROP CONSTRAINT ${name}_run_id_fkey`,
    `ALTER TABLE ${name} RENAME TO ${rest}`,
    `ALTER TABLE ${rest} RENAME CONSTRAINT ${name}_pk TO ${rest}_pk`,
    `CREATE TABLE ${name} (LIKE ${rest}) PARTITION BY RANGE (run_id)`,
    `ALTER TABLE ${name} ADD CONSTRAINT ${name}_pk PRIMARY KEY (${key})`,
    // ids that clients chose may look like those of times to come
    `CREATE TABLE ${name}_moved AS SELECT * FROM ${rest} WHERE ${inSlices}`,
    `DELETE FROM ${rest} WHERE ${inSlices}`,
    // with it, no further slice has to look through the rows that are there
    `ALTER TABLE ${rest} ADD CONSTRAINT ${rest}_ids CHECK (NOT (${inSlices}))`,
    `ALTER TABLE ${name} ATTACH PARTITION ${rest} DEFAULT`,
    `CREATE TABLE ${aheadOf(name, first)} PARTITION OF ${name} FOR VALUES FROM ('${from}') TO ('${to}')`,
    `INSERT INTO ${name} SELECT * FROM ${name}_moved`,
    `DROP TABLE ${name}_moved`,
  ];
}

/** One table again. The partitions are dropped with the table that they are parts of. */
function whole({ name, key }: SlicedTable): string[] {
  return [
    `CREATE TABLE ${name}_whole (LIKE ${name})`,
    // the rows of runs that were removed wait for their slice to be dropped
    `INSERT INTO ${name}_whole SELECT * FROM ${name} WHERE EXISTS (SELECT 1 FROM runs WHERE runs.run_id = ${name}.run_id)`,
    `DROP TABLE ${name}`,
    `ALTER TABLE ${name}_whole RENAME TO ${name}`,
    `ALTER TABLE ${name} ADD CONSTRAINT ${name}_pk PRIMARY KEY (${key})`,
    `ALTER TABLE ${name} ADD CONSTRAINT ${name}_run_id_fkey FOREIGN KEY (run_id)
      REFERENCES runs (run_id) ON DELETE CASCADE`,
  ];
}

/** Whether the lock was to be had within `lock_timeout`: a failure would end the transaction. */
const tryLock = `
  CREATE FUNCTION runyard_try_lock(name text) RETURNS boolean LANGUAGE plpgsql AS $$
  BEGIN
    EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', name);
    RETURN true;
  EXCEPTION WHEN lock_not_available THEN
    RETURN false;
  END $$`;

/**
 * Retention sets from which id on the rows are left to the slices that it drops. Without the settings a plan that was made
 * while the tables were empty would read them from end to end. The tables are those beside the one that runs are removed
 * from, whichever schema the session looks in.
 */
const forgetJournal = `
  CREATE FUNCTION runyard_forget_journal() RETURNS trigger LANGUAGE plpgsql
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
  DECLARE
    name text;
    left_from text;
  BEGIN
    FOREACH name IN ARRAY ARRAY[${tables.map(({ name }) => `'${name}'`).join(', ')}] LOOP
      left_from := coalesce(nullif(current_setting('runyard.' || name || '_left_from', true), ''), '${idOfDay(endOfTime)}');
      EXECUTE format('DELETE FROM %I.%I AS stored USING gone WHERE stored.run_id = gone.run_id
        AND NOT (gone.run_id >= %L AND gone.run_id < ''${idOfDay(endOfTime)}'')', TG_TABLE_SCHEMA, name, left_from);
    END LOOP;
    RETURN NULL;
  END $$`;

const onRemoval = `
  CREATE TRIGGER runs_removed AFTER DELETE ON runs REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION runyard_forget_journal()`;
