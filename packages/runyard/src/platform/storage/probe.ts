import { type Database, type Statement, statement } from './database.js';
import { type SchemaStatus, schemaStatus } from './migrations/migrate.js';

export interface DatabaseProbe {
  readonly schema: SchemaStatus;
  /** The server takes no writes now: a standby, for one. */
  readonly readOnly: boolean;
}

/** Changes nothing, and takes the whole way of a write: lock, log, disk. */
const sameName = statement('probe_write', 'UPDATE runyard_migrations SET name = name WHERE version = ?');

const writable: Statement = {
  name: 'probe_writable',
  sqlite: '',
  postgres: `SELECT current_setting('transaction_read_only') AS read_only`,
};

/** Asks a database whether it would store something now. Fails as a write would. */
export async function probeDatabase(database: Database): Promise<DatabaseProbe> {
  const schema = await schemaStatus(database);
  if (database.dialect === 'postgres') {
    const [row] = await database.read<{ read_only: string }>(writable, []);
    return { schema, readOnly: row?.read_only === 'on' };
  }
  await database.transaction(async (run) => {
    if (schema.current > 0) await run(sameName.sqlite, [schema.current]);
  });
  return { schema, readOnly: false };
}
