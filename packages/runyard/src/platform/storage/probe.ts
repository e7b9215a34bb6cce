import type { Database, Statement } from './database.js';
import { type SchemaStatus, schemaStatus } from './migrations/migrate.js';

export interface DatabaseProbe {
  readonly schema: SchemaStatus;
  /** The server takes no writes now: a standby, for one. */
  readonly readOnly: boolean;
}

const noRow = 'SELECT 1 WHERE 0';

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
  // changes nothing, and takes the whole way of a write: lock, log, disk
  const sameName = `UPDATE runyard_migrations SET name = name WHERE version = ${schema.current}`;
  await database.script(schema.current > 0 ? sameName : noRow, noRow);
  return { schema, readOnly: false };
}
