import type { RawBuilder, SqlBool } from 'kysely';
import { type DataScope, scopeNaming } from '../../platform/auth/caller.js';
import type { Database } from '../../platform/storage/database.js';
import { queryBuilder } from '../../platform/storage/query-builder.js';
import { within } from '../../platform/storage/scope.js';
import { searchText } from '../../platform/storage/search-text.js';
import { foldedTopic } from './rows-store.js';

/** All that is given has to fit. */
export interface MemoryFilter {
  /** Without effect for a caller who sees only their own. */
  readonly userId?: string | undefined;
  readonly agentId?: string | undefined;
  readonly teamId?: string | undefined;
  /** All of them, in letters of either case. */
  readonly topics?: readonly string[] | undefined;
  /** A part of the text, in letters of either case. */
  readonly text?: string | undefined;
}

/** A filter as the database looks for it. */
export interface MemorySearch {
  /** Whose memories are looked through. */
  readonly owner: DataScope;
  readonly agentId: string | undefined;
  readonly teamId: string | undefined;
  /** Folded. */
  readonly text: string | undefined;
  /** The topic with the fewest memories, when a search begins with its memories. Folded, as are the others. */
  readonly lead: string | undefined;
  readonly topics: readonly string[];
}

/**
 * What to look for. A search that is narrowed to one person begins with their memories, which are few; any other that
 * has topics begins with the rarest of them.
 */
export async function searchOf(
  database: Database,
  scope: DataScope,
  { userId, agentId, teamId, topics = [], text }: MemoryFilter,
): Promise<MemorySearch> {
  const owner = ownerOf(scope, userId);
  const folded = [...new Set(topics.map(foldedTopic))];
  const lead = owner.kind === 'all' ? await rarestOf(database, folded) : undefined;
  return {
    owner,
    agentId,
    teamId,
    text: text ? searchText(text) : undefined,
    lead,
    topics: folded.filter((topic) => topic !== lead),
  };
}

/** Whose memories a caller means: one who sees only their own means those. Each memory has an owner. */
export function ownerOf(scope: DataScope, userId: string | undefined): DataScope {
  return scopeNaming({ scope }, userId);
}

async function rarestOf({ query }: Database, topics: readonly string[]): Promise<string | undefined> {
  if (topics.length < 2) return topics[0];
  const rows = await query
    .selectFrom('memory_topics')
    .select((select) => ['search_topic', select.fn.countAll<number>().as('count')])
    .where('search_topic', 'in', topics)
    .groupBy('search_topic')
    .execute();
  const counts = new Map(rows.map((row) => [row.search_topic, row.count]));
  const [rarest] = topics.toSorted((one, other) => (counts.get(one) ?? 0) - (counts.get(other) ?? 0));
  return rarest;
}

/** The memories that fit. */
export function selected(database: Database, search: MemorySearch) {
  const { owner, agentId, teamId, text, topics } = search;
  let selection = within(startOf(database, search.lead), owner, 'memories.user_id');
  if (agentId !== undefined) selection = selection.where('memories.agent_id', '=', agentId);
  if (teamId !== undefined) selection = selection.where('memories.team_id', '=', teamId);
  if (text !== undefined) selection = selection.where(holds(database, 'memories.search_text', text));
  if (topics.length > 0) selection = selection.where(hasTopics('memories', topics));
  return selection;
}

/** The same without a topic to begin with: all of them are checked. */
export function everyTopic({ lead, topics, ...rest }: MemorySearch): MemorySearch {
  return { ...rest, lead: undefined, topics: lead === undefined ? topics : [lead, ...topics] };
}

/** Whether the memories themselves have to be looked at, and not only their topics. */
export function isNarrowed({ agentId, teamId, text }: MemorySearch): boolean {
  return agentId !== undefined || teamId !== undefined || text !== undefined;
}

/** The rows of the topic that a search begins with, of memories that have the other topics too. */
export function ofTopics({ query }: Database, { lead, topics }: MemorySearch) {
  const memories = query.selectFrom('memories');
  const leading = query.selectFrom('memory_topics as lead').where('lead.search_topic', '=', lead ?? '');
  // what is selected is named by its table, and the places of memories are in both
  const placed = leading as unknown as typeof memories;
  return topics.length === 0 ? placed : placed.where(hasTopics('lead', topics));
}

function startOf({ query }: Database, lead: string | undefined) {
  const memories = query.selectFrom('memories');
  if (lead === undefined) return memories;
  // SQLite keeps to the order of a cross join: the topic's own index leads. Only the order looks at the topic's row.
  return query
    .selectFrom('memory_topics as lead')
    .crossJoin('memories')
    .where('lead.search_topic', '=', lead)
    .whereRef('memories.memory_id', '=', 'lead.memory_id') as unknown as typeof memories;
}

/** How many fit. Counts that are kept, and topics alone, spare a look at the memories themselves. */
export async function countSelected(database: Database, search: MemorySearch): Promise<number> {
  const { owner, lead, topics } = search;
  const { query } = database;
  const { sql } = queryBuilder();
  const narrowed = isNarrowed(search);
  if (!narrowed && lead === undefined && topics.length === 0) {
    const owners = within(query.selectFrom('memory_owners'), owner, 'user_id');
    const sum = sql<number>`CAST(coalesce(sum(total), 0) AS bigint)`;
    return (await owners.select(sum.as('count')).executeTakeFirstOrThrow()).count;
  }
  if (!narrowed && lead !== undefined) {
    const counted = ofTopics(database, search).select(({ fn }) => fn.countAll<number>().as('count'));
    return (await counted.executeTakeFirstOrThrow()).count;
  }
  const counted = selected(database, search).select(({ fn }) => fn.countAll<number>().as('count'));
  return (await counted.executeTakeFirstOrThrow()).count;
}

/** One condition for any number of topics: it counts how many of them the memory has. */
function hasTopics(table: 'memories' | 'lead', topics: readonly string[]): RawBuilder<SqlBool> {
  const { sql } = queryBuilder();
  return sql<SqlBool>`(SELECT count(*) FROM memory_topics AS had WHERE had.memory_id = ${sql.ref(`${table}.memory_id`)}
    AND had.search_topic IN (${sql.join(topics)})) = ${topics.length}`;
}

/** That a folded text holds another one. Nothing in it is a wildcard. */
export function holds({ dialect }: Database, column: string, part: string): RawBuilder<SqlBool> {
  const { sql } = queryBuilder();
  const place = sql.raw(dialect === 'sqlite' ? 'instr' : 'strpos');
  return sql<SqlBool>`${place}(${sql.ref(column)}, ${part}) > 0`;
}
