import type { RawBuilder } from 'kysely';
import type { Dialect } from '../../platform/storage/database.js';
import { queryBuilder } from '../../platform/storage/query-builder.js';
import type { Scalar, TraceFilter } from './filter.js';
import { type FilterField, typeOfField } from './filter-fields.js';
import type { TracesTable } from './tables.js';
import { matchingPattern } from './text-pattern-store.js';
import { parseTime } from './times.js';

type Sql<T = unknown> = RawBuilder<T>;
type Column = keyof TracesTable;

/** Where a filter is used: in which database, and the name of `traces` there. */
export interface FilterPlace {
  readonly dialect: Dialect;
  readonly table: string;
  /**
   * The rows are found through another index. SQLite would rather look up each value of a list, and sort or check all
   * that it finds: for this it is kept from seeing an index there.
   */
  readonly inOrder?: boolean;
  /** The rows are found by something else, or all are read: for SQLite only the start of the filter has an index. */
  readonly apart?: boolean;
}

/** A filter as a condition of the database, with its values as parameters. */
export function filterCondition(place: FilterPlace, filter: TraceFilter): Sql<boolean> {
  return new FilterCompiler(place).compile(filter, false);
}

/** The filter chooses by something that there is an index for. Any other filter has to look at every trace. */
export function isIndexed(filter: TraceFilter): boolean {
  if (filter.op === 'AND') return filter.conditions.some(isIndexed);
  if (filter.op === 'MISSING') return true;
  return filter.op === 'IN' ? typeOfField(filter.key) === 'string' : isExact(filter);
}

/** It chooses by one value that has few traces. */
function isExact(filter: TraceFilter): boolean {
  if (filter.op !== 'EQ') return false;
  return filter.key === 'status' ? filter.value === 'ERROR' : typeOfField(filter.key) === 'string';
}

/** Longer lists are one parameter, so that their statements are the same. */
const shortList = 8;

const operators = { EQ: '=', NEQ: '<>', GT: '>', GTE: '>=', LT: '<', LTE: '<=' } as const;
type Ordering = keyof typeof operators;

const kinds = { agent_id: 'agent', team_id: 'team', workflow_id: 'workflow' } as const;

/** `negated`: a NOT stands somewhere above, so that "no" and "not known" are not the same. */
class FilterCompiler {
  constructor(private readonly place: FilterPlace) {}

  compile(filter: TraceFilter, negated: boolean): Sql<boolean> {
    const { sql } = queryBuilder();
    switch (filter.op) {
      case 'AND':
      case 'OR': {
        const inner = filter.op === 'AND' && filter.conditions.some(isExact) ? this.#ordered() : this;
        const conditions = filter.conditions.map((condition) => inner.compile(condition, negated));
        return sql`(${sql.join(conditions, filter.op === 'AND' ? sql` AND ` : sql` OR `)})`;
      }
      case 'NOT':
        return sql`(NOT ${this.compile(filter.condition, true)})`;
      case 'MISSING':
        return sql`(${this.#column(filter.key)} IS NULL)`;
      case 'IN':
        return this.#membership(filter.key, filter.values, negated);
      case 'CONTAINS':
      case 'STARTSWITH':
        return matchingPattern(this.place.dialect, this.#asText(filter.key), filter.op, String(filter.value));
      default:
        return this.#comparison(filter.op, filter.key, filter.value, negated);
    }
  }

  /** Beside an exact condition, lists are checked and not looked up. */
  #ordered(): FilterCompiler {
    return new FilterCompiler({ ...this.place, inOrder: true });
  }

  #comparison(op: Ordering, key: FilterField, value: Scalar, negated: boolean): Sql<boolean> {
    const { sql } = queryBuilder();
    if (isNumeric(key)) return this.#numberComparison(op, key, numberOf(key, value));
    const text = String(value);
    // a literal, so that the index of the failed ones is found
    if (key === 'status' && (text === 'OK' || text === 'ERROR')) {
      return sql`(${this.#column('status')} ${sql.raw(operators[op])} ${sql.lit(text)})`;
    }
    if (op === 'EQ' && key === 'trace_id' && !negated) return this.#ofTraces([text]);
    if (op === 'EQ' || op === 'NEQ') {
      return this.#ofText(key, negated, (column) => sql`${column} ${sql.raw(operators[op])} ${text}`);
    }
    // letters are ordered in the same way in both databases
    const collation = this.place.dialect === 'postgres' ? sql`COLLATE "C"` : sql``;
    return this.#ofText(
      key,
      negated,
      (column) => sql`${column} ${collation} ${sql.raw(operators[op])} ${text}`,
    );
  }

  #numberComparison(op: Ordering, key: FilterField, value: number | undefined): Sql<boolean> {
    const { sql } = queryBuilder();
    // what is no number, or no time, can be compared with nothing
    if (value === undefined) return sql`(NULL = 1)`;
    const rounded = wholeBound(op, value);
    if (rounded === undefined) return op === 'NEQ' ? sql`(1 = 1)` : sql`(1 = 0)`;
    const comparison = sql<boolean>`${this.#number(key)} ${sql.raw(operators[op])} ${this.#bigint(rounded)}`;
    // nothing ends before it starts: with this an index finds the beginning
    if (key !== 'end_time' || (op !== 'LT' && op !== 'LTE')) return sql`(${comparison})`;
    return sql`(${comparison} AND ${this.#column('start_time')} <= ${this.#bigint(rounded)})`;
  }

  #membership(key: FilterField, values: readonly (Scalar | null)[], negated: boolean): Sql<boolean> {
    const { sql } = queryBuilder();
    const { dialect } = this.place;
    if (isNumeric(key)) {
      const numbers = values.map((value) => (value === null ? null : (numberOf(key, value) ?? null)));
      // a fraction equals no whole number
      const whole = numbers.filter((value) => value === null || Number.isSafeInteger(value));
      return dialect === 'postgres'
        ? sql`(${this.#number(key)} = ANY(${whole}::bigint[]))`
        : sql`(${this.#number(key)} IN (SELECT value FROM json_each(${JSON.stringify(whole)})))`;
    }
    const texts = values.map((value) => (value === null ? null : String(value)));
    if (key === 'trace_id' && !negated) return this.#ofTraces(texts.filter((value) => value !== null));
    return this.#ofText(
      key,
      negated,
      (column) => this.#isOneOf(column, texts),
      dialect === 'sqlite' && this.place.inOrder === true,
    );
  }

  #isOneOf(column: Sql, texts: readonly (string | null)[]): Sql<boolean> {
    const { sql } = queryBuilder();
    if (texts.length === 1) return sql`${column} = ${texts[0]}`;
    if (this.place.dialect === 'postgres') return sql`${column} = ANY(${texts}::text[])`;
    // SQLite checks a short list faster than a table
    return texts.length <= shortList
      ? sql`${column} IN (${sql.join(texts)})`
      : sql`${column} IN (SELECT value FROM json_each(${texts}))`;
  }

  /** A trace that began with its run is found by the id of the run; the index of traces has the others. */
  #ofTraces(traceIds: readonly string[]): Sql<boolean> {
    const { sql } = queryBuilder();
    const { table, inOrder, apart } = this.place;
    const isWanted = this.#isOneOf(this.#column('trace_id'), traceIds);
    if (apart || (inOrder && traceIds.length !== 1)) return sql`(${isWanted})`;
    const isOfItsRun = this.#isOneOf(this.#column('run_id'), traceIds.map(runOfTrace));
    return sql`((${isOfItsRun} AND ${isWanted}) OR (${isOfAnother(table)} AND ${isWanted}))`;
  }

  /** A condition on a field that holds text. Where "no" and "not known" are the same, an index can be used. */
  #ofText(
    key: FilterField,
    negated: boolean,
    condition: (column: Sql) => Sql,
    unindexed = false,
  ): Sql<boolean> {
    const { sql } = queryBuilder();
    const hidden = (column: Sql) => (unindexed ? sql`+${column}` : column);
    if (!isComponent(key)) return sql`(${condition(hidden(this.#text(key)))})`;
    if (negated) return sql`(${condition(this.#text(key))})`;
    const kind = hidden(this.#column('kind'));
    return sql`(${kind} = ${sql.lit(kinds[key])} AND ${condition(hidden(this.#column('component_id')))})`;
  }

  #text(key: FilterField): Sql {
    const { sql } = queryBuilder();
    // every other field is a column, or computed as if it were one
    if (!isComponent(key)) return this.#column(key as Column);
    const kind = sql.lit(kinds[key]);
    return sql`CASE WHEN ${this.#column('kind')} = ${kind} THEN ${this.#column('component_id')} END`;
  }

  #number(key: FilterField): Sql {
    const { sql } = queryBuilder();
    if (key === 'duration_ms') return sql`(${this.#column('end_time')} - ${this.#column('start_time')})`;
    return this.#column(key === 'end_time' ? 'end_time' : 'start_time');
  }

  #asText(key: FilterField): Sql {
    const { sql } = queryBuilder();
    const { dialect } = this.place;
    if (key === 'duration_ms') return sql`CAST(${this.#number(key)} AS text)`;
    if (!isNumeric(key)) return this.#text(key);
    const time = this.#number(key);
    return dialect === 'postgres'
      ? sql`to_char(to_timestamp(${time} / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
      : sql`strftime('%Y-%m-%dT%H:%M:%f000Z', ${time} / 1000.0, 'unixepoch')`;
  }

  #column(name: Column): Sql {
    const { sql } = queryBuilder();
    const { table, dialect, apart } = this.place;
    const column = sql.ref(`${table}.${name}`);
    return apart && dialect === 'sqlite' && name !== 'start_time' ? sql`+${column}` : column;
  }

  #bigint(value: number): Sql {
    const { sql } = queryBuilder();
    return this.place.dialect === 'postgres' ? sql`${value}::bigint` : sql`${value}`;
  }
}

/** The run that the trace began with, if it began with one. */
export function runOfTrace(traceId: string): string {
  return uuidParts.map(([from, length]) => traceId.slice(from, from + length)).join('-');
}

/** Its run is another one. In the words of the index. */
export function isOfAnother(table: string): Sql<boolean> {
  const { sql } = queryBuilder();
  const digits = sql.ref(`${table}.trace_id`);
  const parts = uuidParts.map(
    ([from, length]) => sql`substr(${digits}, ${sql.lit(from + 1)}, ${sql.lit(length)})`,
  );
  return sql`${sql.ref(`${table}.run_id`)} <> ${sql.join(parts, sql` || '-' || `)}`;
}

/** Where the groups of digits of a UUID begin, and how long they are. */
const uuidParts = [
  [0, 8],
  [8, 4],
  [12, 4],
  [16, 4],
  [20, 12],
] as const;

function isComponent(key: FilterField): key is keyof typeof kinds {
  return Object.hasOwn(kinds, key);
}

function isNumeric(key: FilterField): boolean {
  const type = typeOfField(key);
  return type === 'number' || type === 'datetime';
}

function numberOf(key: FilterField, value: Scalar): number | undefined {
  if (typeOfField(key) === 'datetime') return typeof value === 'string' ? parseTime(value) : undefined;
  if (typeof value === 'boolean' || (typeof value === 'string' && value.trim() === '')) return undefined;
  const number = Number(value);
  return Number.isNaN(number) ? undefined : number;
}

const farthest = Number.MAX_SAFE_INTEGER;

/** The whole number that says the same about whole numbers; undefined when none equals the value. */
function wholeBound(op: Ordering, value: number): number | undefined {
  const near = Math.min(Math.max(value, -farthest), farthest);
  if (Number.isInteger(near)) return near;
  if (op === 'EQ' || op === 'NEQ') return undefined;
  return op === 'GT' || op === 'LTE' ? Math.floor(near) : Math.ceil(near);
}
