import type { CreateTableBuilder, Kysely } from 'kysely';
import type { Dialect } from '../database.js';
import { queryBuilder } from '../query-builder.js';
import type { Migration } from './migration.js';

/** Sessions with their state, and runs with their journal and events. */
export const foundation: Migration = {
  version: 1,
  name: 'foundation',

  async up(database, dialect) {
    await createSessions(database, dialect);
    await createRuns(database);
    await createJournal(database);
    if (dialect === 'postgres') await createRefusal(database);
  },

  async down(database, dialect) {
    if (dialect === 'postgres')
      await queryBuilder().sql`DROP FUNCTION runyard_refuse(text)`.execute(database);
    for (const table of ['event_blocks', 'steps', 'runs', 'session_state', 'sessions']) {
      await database.schema.dropTable(table).execute();
    }
  },
};

/** SQLite then stores the rows in the order of their key, without a second index: it pays for small rows. */
function clustered<Table extends string, Column extends string>(
  table: CreateTableBuilder<Table, Column>,
  dialect: Dialect,
): CreateTableBuilder<Table, Column> {
  return dialect === 'sqlite' ? table.modifyEnd(queryBuilder().sql`WITHOUT ROWID`) : table;
}

async function createSessions(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { schema } = database;
  const sessions = schema
    .createTable('sessions')
    .addColumn('session_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('component_id', 'text', (column) => column.notNull())
    .addColumn('user_id', 'text')
    .addColumn('name', 'text')
    .addColumn('metadata', 'text')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull());
  await clustered(sessions, dialect).execute();

  // Every run touches its session's updated_at, so that only one index holds it. Within one user or component
  // the few rows are sorted, or that index is followed and filtered.
  await index(database, 'sessions', 'sessions_by_creation', ['created_at', 'session_id']);
  await index(database, 'sessions', 'sessions_by_update', ['updated_at', 'session_id']);
  await index(database, 'sessions', 'sessions_by_name', ['name', 'session_id']);
  await index(database, 'sessions', 'sessions_by_user', ['user_id', 'created_at', 'session_id']);
  await index(database, 'sessions', 'sessions_by_component', ['component_id', 'created_at', 'session_id']);

  const state = schema
    .createTable('session_state')
    .addColumn('session_id', 'text', (column) =>
      column.notNull().references('sessions.session_id').onDelete('cascade'),
    )
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('value', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('session_state_pk', ['session_id', 'key']);
  await clustered(state, dialect).execute();
}

async function createRuns(database: Kysely<unknown>): Promise<void> {
  const { sql } = queryBuilder();
  await database.schema
    .createTable('runs')
    .addColumn('run_id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('component_id', 'text', (column) => column.notNull())
    .addColumn('component_name', 'text')
    .addColumn('session_id', 'text', (column) =>
      column.notNull().references('sessions.session_id').onDelete('cascade'),
    )
    .addColumn('user_id', 'text')
    .addColumn('parent_run_id', 'text')
    .addColumn('model', 'text')
    .addColumn('model_provider', 'text')
    .addColumn('input', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('result', 'text')
    .addColumn('attempt', 'integer', (column) => column.notNull())
    .addColumn('lease_owner', 'text')
    .addColumn('lease_expires_at', 'bigint')
    .addColumn('next_event_index', 'integer', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .execute();

  // Each list fixes kind and component, and perhaps session or user. Without statistics SQLite takes the index
  // with the most fixed columns, so those two hold them all. Runs inside other runs are not listed.
  const component = sql.raw('kind, component_id');
  const time = sql.raw('created_at, run_id');
  // The status stands last: a filter on it reads this index alone, and no second one has to follow each change.
  await sql`CREATE INDEX runs_by_component ON runs (${component}, ${time}, status)
    WHERE parent_run_id IS NULL`.execute(database);
  await sql`CREATE INDEX runs_by_user ON runs (user_id, ${component}, ${time})
    WHERE user_id IS NOT NULL AND parent_run_id IS NULL`.execute(database);
  await sql`CREATE INDEX runs_by_session ON runs (session_id, ${component}, ${time})`.execute(database);
  await sql`CREATE INDEX runs_history ON runs (session_id, component_id, ${time})
    WHERE status = 'completed'`.execute(database);
  await sql`CREATE INDEX runs_leased ON runs (coalesce(lease_expires_at, 0))
    WHERE status IN ('pending', 'running')`.execute(database);
}

/** Not clustered: with payloads of some size SQLite is faster with rows apart from the index. */
async function createJournal(database: Kysely<unknown>): Promise<void> {
  const { schema } = database;
  await schema
    .createTable('steps')
    .addColumn('run_id', 'text', (column) => column.notNull().references('runs.run_id').onDelete('cascade'))
    .addColumn('seq', 'integer', (column) => column.notNull())
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('parent_key', 'text')
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('attempt', 'integer', (column) => column.notNull())
    .addColumn('input', 'text')
    .addColumn('output', 'text')
    .addColumn('error', 'text')
    .addColumn('started_at', 'bigint', (column) => column.notNull())
    .addColumn('ended_at', 'bigint')
    .addPrimaryKeyConstraint('steps_pk', ['run_id', 'seq'])
    .execute();

  await schema
    .createTable('event_blocks')
    .addColumn('run_id', 'text', (column) => column.notNull().references('runs.run_id').onDelete('cascade'))
    .addColumn('first_index', 'integer', (column) => column.notNull())
    .addColumn('event_count', 'integer', (column) => column.notNull())
    .addColumn('payload', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('event_blocks_pk', ['run_id', 'first_index'])
    .execute();
}

/** How a batch that is one PostgreSQL statement undoes itself and tells which of its parts were refused. */
async function createRefusal(database: Kysely<unknown>): Promise<void> {
  const { sql } = queryBuilder();
  await sql`
    CREATE FUNCTION runyard_refuse(refused text) RETURNS integer LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'Some writes of this batch were refused; the others are written again without them'
        USING ERRCODE = 'RY001', DETAIL = refused;
    END $$`.execute(database);
}

async function index(
  database: Kysely<unknown>,
  table: string,
  name: string,
  columns: string[],
): Promise<void> {
  await database.schema.createIndex(name).on(table).columns(columns).execute();
}
