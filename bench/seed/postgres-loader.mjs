import pg from 'pg';

const flushedAt = 4_000_000;

/** Puts rows into a database that has its schema, with COPY. Keys and indexes are made when all rows are there. */
export class PostgresLoader {
  #waiting = new Map();
  #length = 0;

  static async open(connectionString) {
    const client = new pg.Client({ connectionString });
    await client.connect();
    await client.query(`SET synchronous_commit = off; SET maintenance_work_mem = '512MB'`);
    const loader = new PostgresLoader();
    loader.client = client;
    await loader.#prepare();
    return loader;
  }

  columnsOf(table) {
    return this.columns.get(table);
  }

  insert(table, values) {
    const line = `${values.map(field).join('\t')}\n`;
    const lines = this.#waiting.get(table);
    if (lines === undefined) this.#waiting.set(table, [line]);
    else lines.push(line);
    this.#length += line.length;
  }

  /** Hands over what has come together. */
  async settle(everything = false) {
    if (!everything && this.#length < flushedAt) return;
    for (const [table, lines] of this.#waiting) await copy(this.client, table, lines.join(''));
    this.#waiting.clear();
    this.#length = 0;
  }

  async finish() {
    await this.settle(true);
    for (const sql of this.restoring) await this.client.query(sql);
    // what the server does by itself some time after so many rows
    await this.client.query('VACUUM ANALYZE');
    await this.client.end();
  }

  async #prepare() {
    const { rows: columns } = await this.client.query(
      `SELECT table_name, column_name FROM information_schema.columns
       WHERE table_schema = current_schema() ORDER BY table_name, ordinal_position`,
    );
    this.columns = new Map();
    for (const { table_name: table, column_name: column } of columns)
      this.columns.set(table, [...(this.columns.get(table) ?? []), column]);
    // those of a partition are dropped and made with those of its table
    const constraints = await this.#named(
      `SELECT conrelid::regclass AS "table", conname AS name, pg_get_constraintdef(oid) AS sql FROM pg_constraint
       WHERE connamespace = current_schema()::regnamespace AND contype IN ('p', 'f') AND conparentid = 0 ORDER BY contype`,
    );
    const indexes = await this.#named(
      `SELECT indexname AS name, replace(indexdef, ' ON ONLY ', ' ON ') AS sql FROM pg_indexes
       WHERE schemaname = current_schema() AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conname = indexname)
       AND NOT EXISTS (SELECT 1 FROM pg_inherits WHERE inhrelid = indexname::regclass)`,
    );
    for (const { table, name } of constraints)
      await this.client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
    for (const { name } of indexes) await this.client.query(`DROP INDEX ${name}`);
    // what refers to a key comes after it
    const restored = constraints
      .reverse()
      .map(({ table, name, sql }) => `ALTER TABLE ${table} ADD CONSTRAINT ${name} ${sql}`);
    this.restoring = [...restored, ...indexes.map(({ sql }) => sql)];
  }

  async #named(sql) {
    return (await this.client.query(sql)).rows;
  }
}

function field(value) {
  if (value === null) return '\\N';
  if (typeof value !== 'string') return String(value);
  return /[\\\t\n\r]/.test(value) ? value.replace(/[\\\t\n\r]/g, (character) => escapes[character]) : value;
}

const escapes = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** The driver knows the messages of COPY, and leaves it to a query of one's own to use them. */
function copy(client, table, text) {
  return new Promise((resolve, reject) => {
    client.query({
      submit: (connection) => connection.query(`COPY ${table} FROM STDIN`),
      handleCopyInResponse: (connection) => {
        connection.sendCopyFromChunk(Buffer.from(text));
        connection.endCopyFrom();
      },
      handleCommandComplete: () => {},
      handleReadyForQuery: resolve,
      handleError: reject,
    });
  });
}
