import { forEachName } from '../../core/objects.js';
import { type Dialect, databaseNow, type SqlValue } from './database.js';

/**
 * What one transaction writes, in the words of no database. The store of a table declares each write of it once;
 * `sqlite/unit.ts` renders a plan as prepared statements that run row by row, and `postgres/batch.ts` as one statement
 * for all rows.
 */
export interface WritePlan<Reason extends string = string> {
  /** What takes locks and what can be refused, in the order of the locks. Of two reasons the last one counts. */
  readonly guards: readonly GuardingRows<Reason>[];
  /** What is written when no guard refuses. On PostgreSQL, none of them sees the changes of another. */
  readonly effects: readonly PlannedRows[];
}

/** Rows of one write, at least one, with their values in the order of its columns. */
export interface PlannedRows {
  readonly write: TableWrite;
  readonly rows: readonly (readonly SqlValue[])[];
}

export interface GuardingRows<Reason extends string = string> extends PlannedRows {
  /** What it means that a row did not come through; left out: nothing. */
  readonly reason?: Reason;
}

/** A plan while it is made. Most writes change few of the tables: what they do not change is left out. */
export class PlanBuilder<Reason extends string = string> implements WritePlan<Reason> {
  readonly guards: GuardingRows<Reason>[] = [];
  readonly effects: PlannedRows[] = [];

  guard(write: TableWrite, rows: Rows, reason?: Reason): void {
    if (rows.length > 0) this.guards.push({ write, rows, reason });
  }

  effect(write: TableWrite, rows: Rows): void {
    if (rows.length > 0) this.effects.push({ write, rows });
  }
}

export type TableWrite = RowInsert | RowUpdate | RowDelete | RowLock;

/**
 * Each fragment of SQL is for one row: `given.x` is a value of it, `stored.x` a value of the row in the table.
 */
export type Sql = string | ((words: Words) => string);

export type Assignments = Readonly<Record<string, Sql>>;

/** What the databases call differently. */
export interface Words {
  readonly dialect: Dialect;
  /** The database's own time in milliseconds. */
  readonly now: string;
  readonly greatest: 'max' | 'greatest';
  /** A table as guards of the same plan, which lock its rows, have left it: something to select `returning` from. */
  written(table: string, guards: readonly TableWrite[]): string;
}

export type ColumnType = 'text' | 'integer' | 'bigint' | 'double precision';

/** The name of a column, and its type when that is not `text`. */
export type Column<Name extends string = string> = Name | `${Name} ${Exclude<ColumnType, 'text'>}`;

interface DeclaredWrite {
  /** Unique among the writes of a plan. */
  readonly name: string;
  readonly table: string;
  /** The values of a row. The first one identifies a row that is refused. */
  readonly columns: readonly Column[];
  /** What later writes read of a guard, beside its first column. */
  readonly returning?: string;
  /**
   * What is also set in a stored row, where the condition holds, which is seldom. SQLite does it in a second statement:
   * it writes the indexes of all columns that a statement sets, and on the path of every run that showed.
   */
  readonly seldom?: { readonly set: Assignments; readonly where: Sql };
}

export interface RowInsert extends DeclaredWrite {
  readonly does: 'insert';
  /** Given for the fragments alone. */
  readonly helpers?: readonly Column[];
  /** What is stored in columns that are not stored as given. */
  readonly computed?: Assignments;
  readonly key: readonly string[];
  /** What becomes of a stored row with the same key: it stays, it gets all new values, or these. */
  readonly conflict: 'keep' | 'replace' | Assignments;
  /** Which stored rows are changed on a conflict. */
  readonly where?: Sql;
  /** No other process writes these rows at the same time: they are locked in any order. */
  readonly unordered?: true;
}

export interface RowUpdate extends DeclaredWrite {
  readonly does: 'update';
  readonly set: Assignments;
  readonly where: Sql;
}

export interface RowDelete extends DeclaredWrite {
  readonly does: 'delete';
  readonly where: Sql;
}

/** As a guard: the row must be there. */
export interface RowLock extends DeclaredWrite {
  readonly does: 'lock';
  readonly where: Sql;
}

/** The columns of a table, each with its value in what is stored. */
export type Fields<Table, Source extends readonly unknown[]> = readonly (readonly [
  column: Column<keyof Table & string>,
  value: (...source: Source) => SqlValue,
])[];

export function columnsOf(fields: Fields<never, never>): Column[] {
  return fields.map(([column]) => column);
}

export function valuesOf<Source extends readonly unknown[]>(
  fields: Fields<never, Source>,
  ...source: Source
): SqlValue[] {
  // A copy has its length from the start: a list that grows takes more memory, and one that is made with its length has
  // holes, which cost much on the way to the thread that writes.
  const values: (SqlValue | Fields<never, Source>[number])[] = fields.slice();
  // the index is within the list
  for (let index = 0; index < fields.length; index += 1) values[index] = fields[index]![1](...source);
  // each place has its value now
  return values as SqlValue[];
}

export type Rows = PlannedRows['rows'];

/** What a write does not change costs nothing. */
export const noRows: Rows = [];

export function rowsOf<Source>(sources: readonly Source[], rows: (source: Source) => Rows): Rows {
  const first = sources[0];
  return first !== undefined && sources.length === 1 ? rows(first) : sources.flatMap(rows);
}

export function nameOf<Name extends string>(column: Column<Name>): Name {
  // a column is its name, or its name, a space and its type
  return column.split(' ', 1)[0] as Name;
}

export function typeOf(column: Column): ColumnType {
  // what follows the name of a column is its type
  return (column.slice(nameOf(column).length + 1) || 'text') as ColumnType;
}

export function givenColumns(write: TableWrite): readonly Column[] {
  return write.does === 'insert' && write.helpers ? [...write.columns, ...write.helpers] : write.columns;
}

export const commonWords: Readonly<Record<Dialect, Omit<Words, 'written'>>> = {
  sqlite: { dialect: 'sqlite', now: databaseNow.sqlite, greatest: 'max' },
  postgres: { dialect: 'postgres', now: databaseNow.postgres, greatest: 'greatest' },
};

export function inWords(sql: Sql, words: Words): string {
  return typeof sql === 'string' ? sql : sql(words);
}

export function assignments(set: Assignments, words: Words): string {
  return Object.entries(set)
    .map(([column, sql]) => `${column} = ${inWords(sql, words)}`)
    .join(', ');
}

/** The parts of an insertion that both databases share. */
export function insertion(
  write: RowInsert,
  words: Words,
): { readonly into: string; readonly values: string; readonly onConflict: string } {
  const { table, columns, computed = {}, key, conflict, where, seldom } = write;
  const names = [...new Set([...columns.map(nameOf), ...Object.keys(computed)])];
  const values = names.map((name) => inWords(computed[name] ?? `given.${name}`, words));
  const others = names.filter((name) => !key.includes(name));
  const set = conflict === 'replace' ? forEachName(others, (name) => `excluded.${name}`) : conflict;
  const change =
    set === 'keep' ? 'NOTHING' : `UPDATE SET ${assignments(withSeldom(set, seldom, words), words)}`;
  const condition = where === undefined ? '' : ` WHERE ${inWords(where, words)}`;
  return {
    into: `INSERT INTO ${table} AS stored (${names.join(', ')})`,
    values: values.join(', '),
    onConflict: `ON CONFLICT (${key.join(', ')}) DO ${change}${condition}`,
  };
}

/** PostgreSQL changes a row once in a statement. */
export function withSeldom(set: Assignments, seldom: TableWrite['seldom'], { dialect }: Words): Assignments {
  return dialect === 'postgres' ? { ...set, ...seldom?.set } : set;
}
