import type { Database, Dialect, Migration, RunStatement } from '../database.js';
import { type RoutePart, route } from './migrate.js';

/** What a migration down deletes: a table, the values of a column, or some rows. */
export interface LostData {
  readonly table: string;
  /** Left out: whole rows are lost. */
  readonly column?: string;
  /** How many rows hold it now. */
  readonly rows: number;
  /** Whether there are more rows: they are counted up to a bound. */
  readonly more: boolean;
}

type Loss = Pick<LostData, 'table' | 'column'> & { readonly where?: string };

/** Rows are counted up to here: a table may hold more than anybody wants to wait for. */
const countedRows = 1_000_000;

const dropTable = /^DROP TABLE (?:IF EXISTS )?(\w+)/i;
const dropColumn = /^ALTER TABLE (\w+) DROP COLUMN (\w+)/i;
const deleteRows = /^DELETE FROM (\w+)(?:\s+WHERE\s+([\s\S]+))?$/i;
const renameTable = /^ALTER TABLE (\w+) RENAME TO (\w+)/i;
const createTable = /^CREATE (?:VIRTUAL )?TABLE (?:IF NOT EXISTS )?(\w+)/i;
const alterTable = /^ALTER TABLE (\w+)/i;
const createIndex = /^CREATE (?:UNIQUE )?INDEX (?:IF NOT EXISTS )?\w+ ON (\w+)/i;
/** Statements that delete nothing that people have stored. */
const harmless =
  /^(CREATE|INSERT|UPDATE|DROP (INDEX|FUNCTION|EXTENSION|TYPE|TRIGGER)|ALTER TABLE \w+ (ADD|ALTER|RENAME|DROP CONSTRAINT)|ALTER INDEX)\b/i;

/** What the statements delete. One that is not understood is refused: a downgrade must not delete unnoticed. */
export function lossesIn(statements: readonly string[]): readonly Loss[] {
  const all = statements.map((sql) => sql.trim());
  // a table that is made anew under its name keeps its rows
  const remade = new Set(all.flatMap((sql) => renameTable.exec(sql)?.[2] ?? []));
  // a column whose values become rows of another table is kept
  const inserts = all.filter((sql) => /^INSERT/i.test(sql));
  const moved = new Set(inserts.flatMap((sql) => sql.match(/\b\w+\.\w+/g) ?? []));
  return all.flatMap((sql): Loss[] => {
    const [, dropped] = dropTable.exec(sql) ?? [];
    if (dropped !== undefined) return remade.has(dropped) ? [] : [{ table: dropped }];
    const [, table, column] = dropColumn.exec(sql) ?? [];
    if (table !== undefined && column !== undefined)
      return moved.has(`${table}.${column}`) ? [] : [{ table, column }];
    const [, shortened, where] = deleteRows.exec(sql) ?? [];
    if (shortened !== undefined) return [{ table: shortened, ...(where !== undefined && { where }) }];
    if (harmless.test(sql)) return [];
    throw new Error(`It is not known what this statement of a migration deletes: ${sql}`);
  });
}

/** What going along this route would delete now. */
export async function lostData(database: Database, parts: readonly RoutePart[]): Promise<LostData[]> {
  const losses = parts.flatMap(({ migration, direction }) =>
    direction === 'down' ? lossesIn(migration.down(database.dialect)) : [],
  );
  if (losses.length === 0) return [];
  const whole = new Set(losses.flatMap(({ table, column, where }) => ((column ?? where) ? [] : [table])));
  const apart = losses.filter(({ table, column, where }) => !(column ?? where) || !whole.has(table));
  return database.transaction(async (run) => {
    const found: LostData[] = [];
    for (const loss of apart) {
      const rows = await countRows(run, loss);
      const { table, column } = loss;
      const lost = { table, ...(column !== undefined && { column }) };
      if (rows > 0) found.push({ ...lost, rows: Math.min(rows, countedRows), more: rows > countedRows });
    }
    return found;
  });
}

async function countRows(run: RunStatement, { table, column, where }: Loss): Promise<number> {
  const condition = column === undefined ? where : `${column} IS NOT NULL`;
  const rows = `SELECT 1 AS one FROM ${table}${condition === undefined ? '' : ` WHERE ${condition}`}`;
  const [row] = await run<{ total: number }>(
    `SELECT count(*) AS total FROM (${rows} LIMIT ${countedRows + 1}) AS counted`,
  );
  return row?.total ?? 0;
}

/** The tables that a schema has, each with the version that changed it last. */
export function tableVersions(
  available: readonly Migration[],
  dialect: Dialect,
  current: number,
): ReadonlyMap<string, number> {
  const tables = new Map<string, number>();
  for (const { migration } of route(available, 0, current)) {
    for (const given of migration.up(dialect)) {
      const sql = given.trim();
      const [, from, to] = renameTable.exec(sql) ?? [];
      const gone = from ?? dropTable.exec(sql)?.[1];
      const changed =
        to ?? [createTable, alterTable, createIndex].flatMap((one) => one.exec(sql)?.[1] ?? [])[0];
      if (gone !== undefined) tables.delete(gone);
      if (changed !== undefined) tables.set(changed, migration.version);
    }
  }
  return tables;
}
