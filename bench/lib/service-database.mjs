import { join } from 'node:path';
import { loadSqliteLibrary } from '../../packages/runyard/dist/platform/storage/sqlite/library.js';

/** The database of a running service, for statements beside it: the one of this URL, or the file in this folder. */
export async function openServiceDatabase({ database: url, dataDir }) {
  if (url !== undefined) {
    const { default: pg } = await import('pg');
    const client = new pg.Client({ connectionString: url });
    // an interrupted bench drops the database before it closes this
    client.on('error', () => {});
    await client.connect();
    return { execute: (sql) => client.query(sql), close: () => client.end() };
  }
  const { DatabaseSync } = loadSqliteLibrary();
  const database = new DatabaseSync(join(dataDir, 'runyard.db'));
  database.exec('PRAGMA busy_timeout = 10000');
  return { execute: async (sql) => database.exec(sql), close: async () => database.close() };
}
