import type { ListReads } from '../../platform/storage/database.js';
import { queryBuilder } from '../../platform/storage/query-builder.js';
import type { TraceFilter } from './filter.js';
import type { FilterField } from './filter-fields.js';

/** Up to so many different values are looked through here. */
const fewValues = 1000;

const kinds = { agent_id: 'agent', team_id: 'team', workflow_id: 'workflow' } as const;

/** What no trace and no component is called. */
const nobody = '\0';

/** Each trace has a name. */
const everyName: TraceFilter = { op: 'NEQ', key: 'name', value: nobody };

type ComponentField = keyof typeof kinds;
type Field = 'name' | ComponentField;
type PartFilter = Extract<TraceFilter, { readonly value: unknown }> & { readonly key: Field };

/**
 * The same filter, with parts of names and of component ids replaced by the full values. There are few of those
 * among many traces, and an index finds them, and through them the traces.
 */
export async function withValues(database: ListReads, filter: TraceFilter): Promise<TraceFilter> {
  if (filter.op === 'NOT') return { op: 'NOT', condition: await withValues(database, filter.condition) };
  if ('conditions' in filter) {
    const conditions: TraceFilter[] = [];
    for (const condition of filter.conditions) conditions.push(await withValues(database, condition));
    return { op: filter.op, conditions };
  }
  if (!isPart(filter)) return filter;
  const values = await valuesOf(database, filter.key);
  if (values.length > fewValues) return filter;
  const fitting = values.filter((value) => fits(filter, value));
  if (filter.key === 'name' && fitting.length === values.length) return everyName;
  // in an empty list a missing value is as little as any other, but here it has to stay unknown
  return { op: 'IN', key: filter.key, values: fitting.length > 0 ? fitting : [nobody] };
}

function isPart(filter: TraceFilter): filter is PartFilter {
  return (
    (filter.op === 'CONTAINS' || filter.op === 'STARTSWITH') &&
    (filter.key === 'name' || isComponent(filter.key))
  );
}

function fits({ op, value }: PartFilter, text: string): boolean {
  const [part, whole] = [String(value).toLowerCase(), text.toLowerCase()];
  return op === 'CONTAINS' ? whole.includes(part) : whole.startsWith(part);
}

/** The different values of a field, each found behind the one before it, without looking at the traces between. */
async function valuesOf({ query }: ListReads, key: Field): Promise<string[]> {
  const { sql } = queryBuilder();
  const column = sql.ref(isComponent(key) ? 'traces.component_id' : 'traces.name');
  const ofKind = isComponent(key) ? sql`traces.kind = ${sql.lit(kinds[key])}` : sql`1 = 1`;
  const { rows } = await sql<{ value: string }>`
    SELECT value FROM (
      WITH RECURSIVE different(value) AS (
        SELECT (SELECT min(${column}) FROM traces WHERE ${ofKind})
        UNION ALL
        SELECT (SELECT min(${column}) FROM traces WHERE ${ofKind} AND ${column} > different.value)
        FROM different WHERE different.value IS NOT NULL
      )
      SELECT value FROM different LIMIT ${sql.lit(fewValues + 2)}
    ) AS found WHERE value IS NOT NULL`.execute(query);
  return rows.map(({ value }) => value);
}

function isComponent(key: FilterField): key is ComponentField {
  return Object.hasOwn(kinds, key);
}
