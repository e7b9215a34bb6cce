import type { Database, SqlValue } from '../../../platform/storage/database.js';
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

/** A list of numbers as one value, to be compared with `= ANY`. */
export function anyOf(database: Database, numbers: Iterable<number>): SqlPart {
  const list = [...numbers].join(',');
  return database.dialect === 'sqlite'
    ? { sql: 'IN (SELECT value FROM json_each(?))', values: [`[${list}]`] }
    : { sql: '= ANY (CAST(? AS bigint[]))', values: [`{${list}}`] };
}
