import type { Database, Dialect, SqlValue } from '../../../platform/storage/database.js';
import { queryBuilder } from '../../../platform/storage/query-builder.js';

/** A part of a statement, with `?` placeholders and their values. */
export interface SqlPart {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** Reads with a statement that is built from parts, one text for both databases where they agree. Begins with SELECT. */
export async function readRows<Row>(
  database: Database,
  sql: string,
  values: readonly SqlValue[],
): Promise<readonly Row[]> {
  const text = database.dialect === 'sqlite' ? sql : numbered(sql);
  const { rows } = await database.query.executeQuery<Row>(
    queryBuilder().CompiledQuery.raw(text, [...values]),
  );
  return rows;
}

/** `?` as PostgreSQL has it. */
export function numbered(sql: string): string {
  let place = 0;
  return sql.replace(/\?/g, () => `$${++place}`);
}

/** Compares with a list of numbers that is one value. */
export const amongRows = {
  sqlite: 'IN (SELECT value FROM json_each(?))',
  postgres: '= ANY (CAST(? AS bigint[]))',
} as const satisfies Record<Dialect, string>;

/** A list of numbers as one value, to be compared with `amongRows`. */
export function anyOf({ dialect }: Pick<Database, 'dialect'>, numbers: Iterable<number>): SqlPart {
  const list = [...numbers].join(',');
  return { sql: amongRows[dialect], values: [dialect === 'sqlite' ? `[${list}]` : `{${list}}`] };
}

/** A column of numbers as one value: a row for each costs ten times more. `numbersIn` reads it. */
export function listed(dialect: Dialect, column: string): string {
  return dialect === 'sqlite' ? `group_concat(${column}, ',')` : `string_agg(CAST(${column} AS text), ',')`;
}

export function numbersIn(list: string | null | undefined): number[] {
  return list ? list.split(',').map(Number) : [];
}
