import { loadSqliteLibrary } from '../../packages/runyard/dist/platform/storage/sqlite/library.js';

const createTable = `
  CREATE TABLE bare_runs (run_id text PRIMARY KEY, session_id text NOT NULL, body text NOT NULL)`;

/** One table, one insert and one query, with the same library, the same driver and the same durability as Runyard. */
export function openBareStore({ kind, path, synchronous, url }) {
  return kind === 'postgres' ? openPostgres(url) : openSqlite(path, synchronous);
}

function openSqlite(path, synchronous) {
  const { DatabaseSync } = loadSqliteLibrary();
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous};`);
  database.exec(createTable);
  const statement = database.prepare('INSERT INTO bare_runs VALUES (?, ?, ?)');
  const query = database.prepare('SELECT body FROM bare_runs WHERE run_id = ?');
  // `database` is held on purpose: a statement alone does not keep it from being collected.
  return {
    database,
    insert: async (...values) => statement.run(...values),
    read: async (runId) => query.get(runId)?.body,
  };
}

async function openPostgres(url) {
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({ connectionString: url, max: 10 });
  await pool.query(`DROP TABLE IF EXISTS bare_runs`);
  await pool.query(createTable);
  const text = 'INSERT INTO bare_runs VALUES ($1, $2, $3)';
  const query = 'SELECT body FROM bare_runs WHERE run_id = $1';
  return {
    insert: (...values) => pool.query({ name: 'insert', text, values }),
    read: async (runId) => (await pool.query({ name: 'read', text: query, values: [runId] })).rows[0]?.body,
  };
}
