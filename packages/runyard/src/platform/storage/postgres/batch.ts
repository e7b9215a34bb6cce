import { fieldsOf } from '../../../core/objects.js';
import type { PostgresDatabase } from '../database.js';
import {
  assignments,
  type ColumnType,
  commonWords,
  givenColumns,
  insertion,
  inWords,
  nameOf,
  type TableWrite,
  typeOf,
  type Words,
  type WritePlan,
  withSeldom,
} from '../write-plan.js';
import { binaryLists } from './binary-lists.js';

/*
 * A plan as one statement: one round trip that is its own transaction. It has two halves. The first takes locks and
 * writes what can be refused; a gate between them compares what came through with what was asked for, and raises an
 * error, which undoes everything, when something is missing. The second half is written once the gate is passed.
 */

export interface BatchRefusal<Reason extends string> {
  readonly reason: Reason;
  /** The first column of the row that was refused. */
  readonly id: string;
}

const refusedCode = 'RY001';

interface PreparedBatch {
  readonly name: string;
  readonly text: string;
  /** Of the columns of each write. */
  readonly types: readonly (readonly ColumnType[])[];
}

/** By the writes that a batch has: a handful. */
const prepared = new Map<string, PreparedBatch>();

/** Writes the whole plan, or nothing and says what was refused. */
export async function writeBatch<Reason extends string>(
  database: PostgresDatabase,
  plan: WritePlan<Reason>,
): Promise<readonly BatchRefusal<Reason>[]> {
  const filled = [...plan.guards, ...plan.effects];
  const key = filled.map(({ write }) => write.name).join(' ');
  let statement = prepared.get(key);
  if (statement === undefined) {
    const types = filled.map(({ write }) => givenColumns(write).map(typeOf));
    statement = { name: `batch_${prepared.size}`, text: batchText(plan), types };
    prepared.set(key, statement);
  }
  const { types } = statement;
  const lists = binaryLists(filled.map(({ rows }, index) => ({ types: types[index] ?? [], rows })));
  try {
    await database.write(statement, lists);
    return [];
  } catch (error) {
    const { code, detail } = fieldsOf(error);
    if (code !== refusedCode || typeof detail !== 'string') throw error;
    // the statement above wrote it
    const refused: [Reason, string][] = JSON.parse(detail);
    return refused.map(([reason, id]) => ({ reason, id }));
  }
}

function batchText({ guards, effects }: WritePlan): string {
  const parts: string[] = [];
  const refusals: string[] = [];
  const words = wordsOf(guards);
  let position = 1;
  const given = (write: TableWrite) => {
    const columns = givenColumns(write);
    const lists = columns.map((column) => `$${position++}::${typeOf(column)}[]`);
    return `unnest(${lists.join(', ')}) AS given (${columns.map(nameOf).join(', ')})`;
  };
  for (const { write, reason } of guards) {
    const first = position;
    // each write has columns, and its key is the first
    const key = nameOf(write.columns[0]!);
    const returned = [key, write.returning ?? []].flat().map((column) => `stored.${column}`);
    parts.push(`${write.name} AS MATERIALIZED (${textOf(write, words, given(write), returned)})`);
    // A guard without a reason is only counted, so that it is carried out here.
    refusals.push(
      reason === undefined
        ? `SELECT '' AS reason, '' AS id FROM ${write.name} WHERE ${key} IS NULL`
        : `SELECT '${reason}' AS reason, missing AS id
           FROM (SELECT unnest($${first}::text[]) EXCEPT SELECT ${key} FROM ${write.name}) AS absent (missing)`,
    );
  }
  parts.push(`gate AS MATERIALIZED (
    SELECT CASE WHEN count(*) = 0 THEN 0
      ELSE runyard_refuse(json_agg(json_build_array(refused.reason, refused.id))::text) END AS passed
    FROM (${refusals.join('\nUNION ALL\n')}) AS refused)`);
  for (const { write } of effects)
    parts.push(`${write.name} AS (${textOf(write, words, `gate CROSS JOIN ${given(write)}`)})`);
  return `WITH ${parts.join(',\n')}\nSELECT passed FROM gate`;
}

/** A statement sees the tables as they were before it waited for locks: what guards wrote is what they returned. */
function wordsOf(guards: WritePlan['guards']): Words {
  return {
    ...commonWords.postgres,
    written(table, sources) {
      const present = sources.filter((source) => guards.some(({ write }) => write === source));
      if (present.length === 0) return table;
      return `(${present.map(({ name }) => `SELECT * FROM ${name}`).join(' UNION ALL ')})`;
    },
  };
}

function textOf(write: TableWrite, words: Words, from: string, returned?: readonly string[]): string {
  const returning = returned ? ` RETURNING ${returned.join(', ')}` : '';
  const { table } = write;
  const where = write.where === undefined ? '' : inWords(write.where, words);
  switch (write.does) {
    case 'insert': {
      const { into, values, onConflict } = insertion(write, words);
      const order = write.unordered ? '' : `ORDER BY ${write.key.map((name) => `given.${name}`).join(', ')}`;
      const names = write.columns.map(nameOf);
      // the given rows are out of sight there, but for what was to be inserted
      const found = onConflict.replace(/\bgiven\.(\w+)/g, (value, name: string) =>
        names.includes(name)
          ? `excluded.${name}`
          : `(SELECT ${value} FROM ${from} WHERE given.${names[0]} = excluded.${names[0]})`,
      );
      return `${into} SELECT ${values} FROM ${from} ${order} ${found}${returning}`;
    }
    case 'update':
      return `UPDATE ${table} AS stored SET ${assignments(withSeldom(write.set, write.seldom, words), words)}
        FROM ${from} WHERE ${where}${returning}`;
    case 'delete':
      return `DELETE FROM ${table} AS stored USING ${from} WHERE ${where}${returning}`;
    case 'lock': {
      const [key] = returned ?? [];
      return `SELECT ${key} FROM ${from} JOIN ${table} AS stored ON ${where} ORDER BY ${key} FOR NO KEY UPDATE OF stored`;
    }
  }
}
