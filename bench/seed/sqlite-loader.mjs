import { loadSqliteLibrary } from '../../packages/runyard/dist/platform/storage/sqlite/library.js';

/** Puts rows into a database that has its schema. Indexes are made when all rows are there. */
export class SqliteLoader {
  #statements = new Map();

  constructor(path) {
    const { DatabaseSync } = loadSqliteLibrary();
    this.database = new DatabaseSync(path);
    this.database.exec(`
      PRAGMA busy_timeout = 10000; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF;
      PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -500000; PRAGMA temp_store = MEMORY`);
    const given = this.database.prepare(
      `SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY rowid`,
    );
    this.indexes = given.all();
    for (const { name } of this.indexes) this.database.exec(`DROP INDEX ${name}`);
    this.database.exec('BEGIN');
  }

  /** The columns of a table, in their order. */
  columnsOf(table) {
    return this.database
      .prepare(`SELECT name FROM pragma_table_info(?)`)
      .all(table)
      .map(({ name }) => name);
  }

  insert(table, values) {
    let statement = this.#statements.get(table);
    if (statement === undefined) {
      const places = values.map(() => '?').join(', ');
      statement = this.database.prepare(`INSERT INTO ${table} VALUES (${places})`);
      this.#statements.set(table, statement);
    }
    statement.run(...values);
  }

  /** There is nothing to wait for. */
  async settle() {}

  async finish() {
    this.database.exec('COMMIT');
    for (const { sql } of this.indexes) this.database.exec(sql);
    this.database.close();
  }
}
