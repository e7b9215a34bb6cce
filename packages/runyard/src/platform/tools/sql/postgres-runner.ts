import type { Client, CustomTypesConfig, QueryConfig } from 'pg';
import { withinTime } from '../../../core/async/abort.js';
import { errorCode } from '../../../core/errors/error-code.js';
import {
  boundOf,
  largestAnswer,
  type QueryAnswer,
  type QueryBounds,
  type QueryRunner,
  timedOut,
} from './query-runner.js';

export interface PostgresRunnerOptions {
  /** Lets a role through that may do more than read data. */
  readonly allowPowerfulRole: boolean;
}

const rowsAtOnce = 20;

/**
 * Each query on a connection of its own, in a transaction that can only read. The query is the text of a cursor:
 * PostgreSQL itself then takes one statement only, and only one that selects.
 */
export function postgresRunner(url: string, options: PostgresRunnerOptions): QueryRunner {
  return {
    dialect: 'PostgreSQL',
    query: (sql, bounds) => withClient(url, options, bounds, (client) => select(client, sql, bounds)),
    describe: (bounds) =>
      withClient(url, options, bounds, async (client) => {
        const { rows } = await select(client, columnsOfAllTables, { ...bounds, maximumRows: 5_000 });
        return rows.map(([schema, table, columns]) => `${schema}.${table}(${columns})`).join('\n');
      }),
  };
}

const columnsOfAllTables = `
  SELECT table_schema, table_name,
    string_agg(column_name || ' ' || data_type, ', ' ORDER BY ordinal_position) AS columns
  FROM information_schema.columns
  WHERE table_schema NOT IN ('pg_catalog', 'information_schema')
  GROUP BY table_schema, table_name
  ORDER BY table_schema, table_name`;

/** Rights that a reading transaction does not take away (files and programs of the server), and who executes it. */
const roleAndProcess = `
  SELECT rolsuper
    OR pg_has_role(oid, 'pg_read_server_files', 'member')
    OR pg_has_role(oid, 'pg_write_server_files', 'member')
    OR pg_has_role(oid, 'pg_execute_server_program', 'member') AS powerful,
    pg_backend_pid() AS pid,
    (SELECT backend_start::text FROM pg_stat_activity WHERE pid = pg_backend_pid()) AS begun
  FROM pg_roles WHERE rolname = current_user`;

async function withClient<T>(
  url: string,
  options: PostgresRunnerOptions,
  { signal, timeoutMs }: QueryBounds,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const { default: pg } = await import('pg');
  const connection = () =>
    new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: timeoutMs,
      application_name: 'runyard query tool',
      types,
    }).on('error', () => {});
  const client = connection();
  let server: ServerProcess | undefined;
  let ended = false;
  try {
    // a query can change the server's own limit, and not this one
    return await withinTime(boundOf({ signal, timeoutMs }), async () => {
      try {
        await client.connect();
        server = await readOnlyTransaction(client, options, timeoutMs);
        return await work(client);
      } finally {
        ended = true;
      }
    });
  } catch (error) {
    signal.throwIfAborted();
    if (errorCode(error) === '57014') throw timedOut(timeoutMs);
    // what the database says about a query is for the model that wrote it
    throw error instanceof pg.DatabaseError ? new Error(error.message, { cause: error }) : error;
  } finally {
    // a running query does not notice that its client is gone, and may have switched the server's own limit off
    if (!ended && server !== undefined) void terminate(connection(), server).catch(() => {});
    // Ends the transaction with it; the goodbye is not waited for.
    void client.end().catch(() => {});
  }
}

/** What executes a query in the server. The time distinguishes it from a later one with the same number. */
interface ServerProcess {
  readonly pid: number;
  readonly begun: string;
}

/** Ends the connection of a query from another one: a role may always end its own. */
async function terminate(client: Client, { pid, begun }: ServerProcess): Promise<void> {
  try {
    await client.connect();
    await client.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND backend_start::text = $2',
      [pid, begun],
    );
  } finally {
    await client.end();
  }
}

/** Begins a transaction that can only read, for as long as it lasts. */
async function readOnlyTransaction(
  client: Client,
  { allowPowerfulRole }: PostgresRunnerOptions,
  timeoutMs: number,
): Promise<ServerProcess> {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  await client.query(
    `SET LOCAL statement_timeout = ${Math.ceil(timeoutMs)}; SET LOCAL lock_timeout = ${Math.ceil(timeoutMs)}`,
  );
  // Also the first query of the transaction: from now on nothing makes it writable again.
  const { rows } = await client.query<ServerProcess & { powerful: boolean }>(roleAndProcess);
  const [role] = rows;
  if (role === undefined || (role.powerful !== false && !allowPowerfulRole)) {
    throw new Error(
      'The database is not asked: the role of its URL may read files or run programs on the server. Use a role that may only read data (GRANT pg_read_all_data TO …), or set allowPowerfulRole.',
    );
  }
  return role;
}

async function select(client: Client, sql: string, { maximumRows }: QueryBounds): Promise<QueryAnswer> {
  // The extended protocol takes a single statement.
  const declaration: QueryConfig & { readonly queryMode: 'extended' } = {
    text: `DECLARE answer NO SCROLL CURSOR FOR ${withoutEnd(sql)}`,
    queryMode: 'extended',
  };
  await client.query(declaration);
  const rows: unknown[][] = [];
  let columns: readonly string[] = [];
  for (let size = 0; ; ) {
    const wanted = Math.min(rowsAtOnce, maximumRows + 1 - rows.length);
    const fetched = await client.query({ text: `FETCH FORWARD ${wanted} FROM answer`, rowMode: 'array' });
    columns = fetched.fields.map((field) => field.name);
    rows.push(...fetched.rows);
    size += JSON.stringify(fetched.rows).length;
    if (rows.length > maximumRows) return { columns, rows: rows.slice(0, maximumRows), more: true };
    if (fetched.rows.length < wanted) return { columns, rows, more: false };
    if (size > largestAnswer) return { columns, rows, more: true };
  }
}

/** A semicolon at the end is a habit, not another statement. */
function withoutEnd(sql: string): string {
  return sql.trim().replace(/;$/, '');
}

/** Values as a model can read them: numbers and JSON as such, everything else as PostgreSQL writes it. */
const types: CustomTypesConfig = {
  // the type has a second form, for values in binary: none are asked for
  getTypeParser: ((oid: number) => (text: string) => plain(oid, text)) as CustomTypesConfig['getTypeParser'],
};

function plain(oid: number, text: string): unknown {
  if (oid === 16) return text === 't';
  if (oid === 114 || oid === 3802) return JSON.parse(text);
  if (oid === 17) return `<${(text.length - 2) / 2} bytes>`;
  const isNumber = [20, 21, 23, 26, 700, 701].includes(oid);
  const number = Number(text);
  return isNumber && Number.isFinite(number) && Math.abs(number) <= Number.MAX_SAFE_INTEGER ? number : text;
}
