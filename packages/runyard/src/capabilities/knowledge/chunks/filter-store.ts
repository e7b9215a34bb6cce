import { isJsonObject, type Json } from '../../../core/json.js';
import type { ComparisonOp, KnowledgeFilter } from '../../../core/knowledge/filter.js';
import { isPlainText } from '../../../core/knowledge/filter-matches.js';
import type { Dialect, SqlValue } from '../../../platform/storage/database.js';
import type { TermQuery } from './filter-facets.js';
import type { SqlPart } from './sql-store.js';
import { encodeMetadata } from './stored-metadata.js';

/** A condition on the metadata of a row of `knowledge_chunks AS c`: it holds where `matches` does, and is never null. */
export function filterSql(dialect: Dialect, filter: KnowledgeFilter): SqlPart {
  switch (filter.op) {
    case 'AND':
    case 'OR':
      return joined(
        filter.op,
        filter.conditions.map((condition) => filterSql(dialect, condition)),
      );
    case 'NOT':
      return negated(filterSql(dialect, filter.condition));
    case 'NEQ':
      return negated(filterSql(dialect, { ...filter, op: 'EQ' }));
    case 'IN':
      return joined(
        'OR',
        filter.values.map((value) => filterSql(dialect, { op: 'EQ', key: filter.key, value })),
      );
    case 'CONTAINED':
      return dialect === 'sqlite'
        ? containedInSqlite(filter.value)
        : part('c.metadata @> CAST(? AS jsonb)', json(filter.value));
    default:
      return dialect === 'sqlite'
        ? inSqlite(filter.op, filter.key, filter.value)
        : inPostgres(filter.op, filter.key, filter.value);
  }
}

/** The query in the syntax of FTS5 and of PostgreSQL: terms have only letters and digits, and are quoted still. */
export function termQueryText(dialect: Dialect, query: TermQuery): string {
  const isSqlite = dialect === 'sqlite';
  const text = (one: TermQuery): string => {
    if ('term' in one) return isSqlite ? `"${one.term}"` : `'${one.term}'`;
    const parts = 'all' in one ? one.all : one.any;
    const word = 'all' in one ? (isSqlite ? ' AND ' : ' & ') : isSqlite ? ' OR ' : ' | ';
    return `(${parts.map(text).join(word)})`;
  };
  return text(query);
}

function part(sql: string, ...values: readonly SqlValue[]): SqlPart {
  return { sql, values };
}

function joined(word: 'AND' | 'OR', parts: readonly SqlPart[]): SqlPart {
  const [first, ...others] = parts;
  if (first === undefined) return part(word === 'AND' ? '1 = 1' : '1 = 0');
  if (others.length === 0) return first;
  // SQLite bounds how deep an expression is, and nests what stands in a row: halves are as deep as their logarithm
  const half = Math.floor(parts.length / 2);
  const [one, other] = [joined(word, parts.slice(0, half)), joined(word, parts.slice(half))];
  return { sql: `(${one.sql} ${word} ${other.sql})`, values: [...one.values, ...other.values] };
}

function negated({ sql, values }: SqlPart): SqlPart {
  return { sql: `NOT (${sql})`, values };
}

function json(value: Json): string {
  return JSON.stringify(encodeMetadata(value));
}

const never = part('1 = 0');
const orderSigns = { GT: '>', GTE: '>=', LT: '<', LTE: '<=' } as const;

type KeyedOp = Exclude<ComparisonOp, 'NEQ'>;

function inPostgres(op: KeyedOp, key: string, value: Json): SqlPart {
  // the database encodes values that it cannot hold, as the metadata has them
  const name = key;
  const typed = (type: string, sql: string, ...values: readonly SqlValue[]) =>
    part(
      `CASE WHEN jsonb_typeof(c.metadata -> CAST(? AS text)) = '${type}' THEN ${sql} ELSE false END`,
      name,
      ...values,
    );
  // an encoded text begins with a mark
  const plain = `left(c.metadata ->> CAST(? AS text), 1) <> chr(1)`;
  switch (op) {
    case 'EQ':
      return part('coalesce(c.metadata -> CAST(? AS text) = CAST(? AS jsonb), false)', name, json(value));
    case 'CONTAINS': {
      const member = typed(
        'array',
        'EXISTS (SELECT 1 FROM jsonb_array_elements(c.metadata -> CAST(? AS text)) AS member (value) WHERE member.value = CAST(? AS jsonb))',
        name,
        json(value),
      );
      if (!isPlainText(value)) return member;
      return joined('OR', [
        member,
        typed(
          'string',
          `${plain} AND strpos(c.metadata ->> CAST(? AS text), CAST(? AS text)) > 0`,
          name,
          name,
          value,
        ),
      ]);
    }
    case 'STARTSWITH':
      if (!isPlainText(value)) return never;
      return typed(
        'string',
        `${plain} AND starts_with(c.metadata ->> CAST(? AS text), CAST(? AS text))`,
        name,
        name,
        value,
      );
    default:
      if (typeof value === 'number')
        return typed(
          'number',
          `CAST(c.metadata ->> CAST(? AS text) AS numeric) ${orderSigns[op]} CAST(? AS numeric)`,
          name,
          String(value),
        );
      if (!isPlainText(value)) return never;
      return typed(
        'string',
        `${plain} AND (c.metadata ->> CAST(? AS text)) COLLATE "C" ${orderSigns[op]} CAST(? AS text) COLLATE "C"`,
        name,
        name,
        value,
      );
  }
}

/** Keys are compared as values: a path of SQLite's JSON functions cannot name every key. */
function inSqlite(op: KeyedOp, key: string, value: Json): SqlPart {
  const names = new Aliases();
  const one = names.next();
  return keyed('c.metadata', one, key, compared(op, one, value, names));
}

function containedInSqlite(value: Json): SqlPart {
  const names = new Aliases();
  return containedKeys('c.metadata', value, names);
}

class Aliases {
  #count = 0;

  next(): string {
    this.#count += 1;
    return `j${this.#count}`;
  }
}

function keyed(json: string, alias: string, key: string | number, condition: SqlPart): SqlPart {
  return {
    sql: `EXISTS (SELECT 1 FROM json_each(${json}) AS ${alias} WHERE ${alias}.key = ? AND ${condition.sql})`,
    values: [key, ...condition.values],
  };
}

function compared(op: KeyedOp, alias: string, value: Json, names: Aliases): SqlPart {
  const plainText = `${alias}.type = 'text' AND substr(${alias}.atom, 1, 1) <> char(1)`;
  switch (op) {
    case 'EQ':
      return equalInSqlite(alias, value, names);
    case 'CONTAINS': {
      const member = names.next();
      const equal = equalInSqlite(member, value, names);
      const inList: SqlPart = {
        sql: `(${alias}.type = 'array' AND EXISTS (SELECT 1 FROM json_each(${alias}.value) AS ${member} WHERE ${equal.sql}))`,
        values: equal.values,
      };
      if (!isPlainText(value)) return inList;
      return joined('OR', [inList, part(`(${plainText} AND instr(${alias}.atom, ?) > 0)`, value)]);
    }
    case 'STARTSWITH':
      if (!isPlainText(value)) return never;
      return part(`(${plainText} AND substr(${alias}.atom, 1, length(?)) = ?)`, value, value);
    default:
      if (typeof value === 'number')
        return part(
          `(${alias}.type IN ('integer', 'real') AND ${alias}.atom ${orderSigns[op]} json_extract(?, '$'))`,
          JSON.stringify(value),
        );
      if (!isPlainText(value)) return never;
      return part(`(${plainText} AND ${alias}.atom ${orderSigns[op]} ?)`, value);
  }
}

function scalarInSqlite(alias: string, value: Exclude<Json, object> | null): SqlPart {
  switch (typeof value) {
    case 'string':
      return part(`(${alias}.type = 'text' AND ${alias}.atom = ?)`, value);
    case 'number':
      // both numbers are read from JSON, so that the same text is the same number
      return part(
        `(${alias}.type IN ('integer', 'real') AND ${alias}.atom = json_extract(?, '$'))`,
        JSON.stringify(value),
      );
    default:
      return part(`${alias}.type = '${String(value)}'`);
  }
}

function equalInSqlite(alias: string, value: Json, names: Aliases): SqlPart {
  if (typeof value !== 'object' || value === null) return scalarInSqlite(alias, value);
  const type = Array.isArray(value) ? 'array' : 'object';
  const entries = Object.entries(value).map(([key, inner]): SqlPart => {
    const member = names.next();
    return keyed(
      `${alias}.value`,
      member,
      isJsonObject(value) ? key : Number(key),
      equalInSqlite(member, inner, names),
    );
  });
  const size = part(`(SELECT count(*) FROM json_each(${alias}.value)) = ?`, entries.length);
  // SQLite evaluates the type first: json_each fails on what is no JSON
  const all = joined('AND', [size, ...entries]);
  return { sql: `CASE WHEN ${alias}.type = '${type}' THEN ${all.sql} ELSE 0 END`, values: all.values };
}

function containedKeys(json: string, value: Json, names: Aliases): SqlPart {
  const entries = Object.entries(value ?? {}).map(([key, inner]) => {
    const member = names.next();
    return keyed(json, member, key, containedValue(member, inner, names));
  });
  return joined('AND', entries);
}

function containedValue(alias: string, value: Json, names: Aliases): SqlPart {
  if (typeof value !== 'object' || value === null) return scalarInSqlite(alias, value);
  const inner = Array.isArray(value)
    ? joined(
        'AND',
        value.map((one): SqlPart => {
          const member = names.next();
          const condition = containedValue(member, one, names);
          return {
            sql: `EXISTS (SELECT 1 FROM json_each(${alias}.value) AS ${member} WHERE ${condition.sql})`,
            values: condition.values,
          };
        }),
      )
    : containedKeys(`${alias}.value`, value, names);
  const type = Array.isArray(value) ? 'array' : 'object';
  return { sql: `CASE WHEN ${alias}.type = '${type}' THEN ${inner.sql} ELSE 0 END`, values: inner.values };
}
