import type { PostgresDatabase } from '../database.js';

/**
 * Many writes as one statement: one round trip that is its own transaction. It has two halves. The first takes
 * locks and writes what can be refused; a gate between them compares what came through with what was asked for,
 * and raises an error, which undoes everything, when something is missing. The second half is written once the
 * gate is passed.
 */
export interface BatchSection {
  readonly name: string;
  /** Names and types of the columns that the rows are given in. */
  readonly columns: readonly (readonly [name: string, type: string])[];
  /** `given` stands in a FROM clause and is called `given` there. */
  readonly sql: (given: string) => string;
}

export interface FilledSection {
  readonly section: BatchSection;
  readonly rows: readonly (readonly unknown[])[];
}

/** A section of the first half. It returns the first column of each row that came through. */
export interface GuardSection extends FilledSection {
  /** What it means that a row did not come through; left out: nothing. */
  readonly reason?: string;
}

export interface BatchRefusal {
  readonly reason: string;
  /** The first column of the row that was refused. */
  readonly id: string;
}

const refusedCode = 'RY001';
/** By the sections that a batch has: a handful. */
const prepared = new Map<string, { readonly name: string; readonly text: string }>();

/** Writes all sections, or nothing and tells what was refused. */
export async function writeBatch(
  database: PostgresDatabase,
  guards: readonly GuardSection[],
  effects: readonly FilledSection[],
): Promise<readonly BatchRefusal[]> {
  const filledGuards = guards.filter(({ rows }) => rows.length > 0);
  const filledEffects = effects.filter(({ rows }) => rows.length > 0);
  const filled = [...filledGuards, ...filledEffects];
  const key = filled.map(({ section }) => section.name).join(' ');
  let statement = prepared.get(key);
  if (statement === undefined) {
    statement = { name: `batch_${prepared.size}`, text: batchText(filledGuards, filledEffects) };
    prepared.set(key, statement);
  }
  try {
    await database.write(statement, filled.flatMap(columnsOf));
    return [];
  } catch (error) {
    const { code, detail } = error as { code?: string; detail?: string };
    if (code !== refusedCode || detail === undefined) throw error;
    return (JSON.parse(detail) as [string, string][]).map(([reason, id]) => ({ reason, id }));
  }
}

/** PostgreSQL takes a list per column. */
function columnsOf({ section, rows }: FilledSection): unknown[][] {
  return section.columns.map((_, column) => rows.map((row) => row[column]));
}

function batchText(guards: readonly GuardSection[], effects: readonly FilledSection[]): string {
  const parts: string[] = [];
  const refusals: string[] = [];
  let position = 1;
  const place = ({ columns }: BatchSection) => {
    const first = position;
    position += columns.length;
    const lists = columns.map(([, type], index) => `$${first + index}::${type}[]`);
    return {
      first,
      given: `unnest(${lists.join(', ')}) AS given (${columns.map(([name]) => name).join(', ')})`,
    };
  };
  for (const { section, reason } of guards) {
    const { first, given } = place(section);
    const [key] = section.columns[0]!;
    parts.push(`${section.name} AS MATERIALIZED (${section.sql(given)})`);
    // A guard without a reason is only counted, so that it is carried out here.
    refusals.push(
      reason === undefined
        ? `SELECT '' AS reason, '' AS id FROM ${section.name} WHERE ${key} IS NULL`
        : `SELECT '${reason}' AS reason, missing AS id
           FROM (SELECT unnest($${first}::text[]) EXCEPT SELECT ${key} FROM ${section.name}) AS absent (missing)`,
    );
  }
  parts.push(`gate AS MATERIALIZED (
    SELECT CASE WHEN count(*) = 0 THEN 0
      ELSE runyard_refuse(json_agg(json_build_array(refused.reason, refused.id))::text) END AS passed
    FROM (${refusals.join('\nUNION ALL\n')}) AS refused)`);
  for (const { section } of effects) {
    const { given } = place(section);
    parts.push(`${section.name} AS (${section.sql(`gate CROSS JOIN ${given}`)})`);
  }
  return `WITH ${parts.join(',\n')}\nSELECT passed FROM gate`;
}
