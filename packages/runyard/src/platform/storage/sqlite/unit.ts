import type { SqlValue, WriteRow } from '../database.js';
import {
  type Assignments,
  assignments,
  commonWords,
  givenColumns,
  insertion,
  inWords,
  nameOf,
  type PlannedRows,
  type Sql,
  type TableWrite,
  type Words,
  type WritePlan,
} from '../write-plan.js';

/** One transaction writes at a time: a table is as the statements before have left it. */
const words: Words = { ...commonWords.sqlite, written: (table) => table };

/** A statement, and how many of the values of a row it takes. */
interface RowStatement {
  readonly sql: string;
  readonly count: number;
}

interface RenderedWrite {
  /** Finds a row when the write will not be refused. */
  readonly check: RowStatement | undefined;
  readonly writes: readonly RowStatement[];
}

const rendered = new Map<TableWrite, RenderedWrite>();

/** A plan as the rows of a unit, and what it means when one of them refuses it. */
export function unitOf<Reason extends string>(
  plan: WritePlan<Reason>,
): { rows: WriteRow[]; reasons: Reason[] } {
  const { guards, effects } = plan;
  const unit: WriteRow[] = [];
  const reasons: Reason[] = [];
  // A refused unit leaves what it has written: each guard asks before anything is written, but for the first that
  // writes. That one says by its own write whether it came through.
  const first = guards.find(isWriting);
  const fromLast = guards.toReversed();
  for (const guard of fromLast) {
    const { write, rows, reason } = guard;
    if (reason === undefined || guard === first) continue;
    for (const row of rows) {
      reasons[unit.length] = reason;
      // a guard has a statement that only asks
      unit.push(rowOf(renderedOf(write).check!, row, 'found'));
    }
  }
  if (first !== undefined) {
    if (first.reason !== undefined) reasons[unit.length] = first.reason;
    addRows(unit, first, 'changed');
  }
  // From the last to the first: a guard may refer to what a later one writes.
  for (const guard of fromLast) if (guard !== first) addRows(unit, guard);
  for (const effect of effects) addRows(unit, effect);
  return { rows: unit, reasons };
}

function isWriting({ write }: PlannedRows): boolean {
  return write.does !== 'lock';
}

function addRows(unit: WriteRow[], { write, rows }: PlannedRows, guard?: 'changed'): void {
  const { writes } = renderedOf(write);
  for (const row of rows)
    for (const statement of writes)
      unit.push(rowOf(statement, row, statement === writes[0] ? guard : undefined));
}

function rowOf({ sql, count }: RowStatement, row: readonly SqlValue[], guard: WriteRow['guard']): WriteRow {
  return { sql, parameters: count === row.length ? row : row.slice(0, count), guard };
}

function renderedOf(write: TableWrite): RenderedWrite {
  let known = rendered.get(write);
  if (known === undefined) {
    known = render(write);
    rendered.set(write, known);
  }
  return known;
}

function render(write: TableWrite): RenderedWrite {
  const places = new Map(givenColumns(write).map((column, index) => [nameOf(column), index + 1]));
  const prepared = (sql: string): RowStatement => {
    let count = 0;
    const text = sql.replace(/\bgiven\.(\w+)/g, (_, name: string) => {
      const place = places.get(name) ?? 0;
      count = Math.max(count, place);
      return `?${place}`;
    });
    return { sql: text, count };
  };
  const { table, seldom } = write;
  const writes = [rowSql(write), seldom && updateSql(table, seldom.set, seldom.where)];
  return {
    check: checkSql(write, prepared),
    writes: writes.filter((sql) => sql !== undefined).map(prepared),
  };
}

function rowSql(write: TableWrite): string | undefined {
  const { table } = write;
  switch (write.does) {
    case 'insert': {
      const { into, values, onConflict } = insertion(write, words);
      return `${into} VALUES (${values}) ${onConflict}`;
    }
    case 'update':
      return updateSql(table, write.set, write.where);
    case 'delete':
      return `DELETE FROM ${table} AS stored WHERE ${inWords(write.where, words)}`;
    case 'lock':
      // the transaction holds the only lock there is
      return undefined;
  }
}

function updateSql(table: string, set: Assignments, where: Sql): string {
  return `UPDATE ${table} AS stored SET ${assignments(set, words)} WHERE ${inWords(where, words)}`;
}

function checkSql(write: TableWrite, prepared: (sql: string) => RowStatement): RowStatement | undefined {
  const { table } = write;
  if (write.does === 'lock')
    return prepared(`SELECT 1 FROM ${table} AS stored WHERE ${inWords(write.where, words)}`);
  if (write.does !== 'insert') return undefined;
  const same = write.key.map((name) => `stored.${name} = given.${name}`).join(' AND ');
  const open = write.where === undefined ? '' : ` AND NOT (${inWords(write.where, words)})`;
  const taken = `SELECT 1 FROM ${table} AS stored WHERE ${same}${open}`;
  return prepared(`SELECT 1 WHERE NOT EXISTS (${taken})`);
}
