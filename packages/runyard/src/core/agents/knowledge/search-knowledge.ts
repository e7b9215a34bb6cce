import { reasonOf } from '../../errors/reason.js';
import type { JsonObject } from '../../json.js';
import { allOf, claimMetadata, metadataFilter } from '../../knowledge/claim-filters.js';
import type { KnowledgeFilter } from '../../knowledge/filter.js';
import type { Knowledge } from '../../knowledge/knowledge.js';
import { fieldsOf } from '../../objects.js';
import { storable } from '../../storable-json.js';
import { fixedValues } from '../context/values-of-run.js';
import type { AgentExecution } from '../execution.js';
import { knowledgeOf } from './knowledge-use.js';
import type { ReferenceBody } from './references.js';
import type { KnowledgeRetriever } from './retriever.js';
import { runFilter } from './run-filters.js';

const defaultResults = 10;
/** How much of a text is searched for. */
export const longestQuery = 4_000;

/** What a search is for. */
export interface RunSearch {
  readonly query: string;
  /** What the model asks for, beside what binds the run. */
  readonly filter?: KnowledgeFilter | undefined;
  readonly signal: AbortSignal;
}

/** Searches what the agent knows, within what the agent, the caller and the claims of the caller's token allow. */
export async function searchKnowledge(
  execution: AgentExecution,
  search: RunSearch,
): Promise<ReferenceBody[]> {
  const { settings } = execution.agent;
  const bases = knowledgeOf(settings);
  const filter = allOf([runFilter(execution), search.filter]);
  if (settings.knowledgeRetriever !== undefined)
    return retrieve(execution, settings.knowledgeRetriever, bases, { ...search, filter });
  const claims = claimsOf(execution);
  const found = await Promise.all(bases.map((base) => searchIn(base, claims, { ...search, filter })));
  return inTurn(found).slice(0, limitOf(bases));
}

/** The claims that bind the searches of the run; undefined when its caller is not isolated. */
export function claimsOf({ context }: Pick<AgentExecution, 'context'>): JsonObject | undefined {
  return context.options.fixed?.claims;
}

/** Why a search failed, in words for the model. */
export function searchFailure({ context }: AgentExecution, thrown: unknown): string {
  context.log.warn({ err: thrown, runId: context.run.runId }, 'a search of knowledge failed');
  return `Error searching knowledge base: ${reasonOf(thrown)}`;
}

async function searchIn(
  base: Knowledge,
  claims: JsonObject | undefined,
  { query, filter, signal }: RunSearch,
): Promise<ReferenceBody[]> {
  const bound = claimMetadata(base.settings, claims);
  if (bound === null) return [];
  const found = await base.find(query, { filter: allOf([metadataFilter(bound), filter]), signal });
  return found.map(({ name, content, metadata }) => ({ name, content, meta_data: metadata }));
}

async function retrieve(
  { context, dependencies, metadata }: AgentExecution,
  retriever: KnowledgeRetriever,
  bases: readonly Knowledge[],
  { query, filter, signal }: RunSearch,
): Promise<ReferenceBody[]> {
  const claims = context.options.fixed?.claims;
  const bounds = bases.map((base) => claimMetadata(base.settings, claims));
  if (bounds.includes(null)) return [];
  const found: unknown = await context.callApplication('knowledgeRetriever', async () =>
    retriever(query, {
      ...fixedValues(context),
      state: context.state.all(),
      dependencies,
      metadata,
      signal,
      filter: allOf(
        [...bounds.map((bound) => bound && metadataFilter(bound)), filter].map((one) => one ?? undefined),
      ),
      limit: limitOf(bases),
    }),
  );
  return retrieved(found).slice(0, limitOf(bases));
}

/** What a function of the application returned, as the journal can hold it. */
function retrieved(found: unknown): ReferenceBody[] {
  if (!Array.isArray(found)) throw new TypeError('The knowledge retriever returned no list of documents');
  return found.map((document: unknown) => {
    const { name = null, content, metadata = {} } = fieldsOf(document);
    if (typeof content !== 'string')
      throw new TypeError('The knowledge retriever returned a document without content');
    const kept = storable(metadata, 'the metadata of a document');
    return {
      name: typeof name === 'string' ? name : null,
      content,
      meta_data: typeof kept === 'object' && kept !== null && !Array.isArray(kept) ? kept : {},
    };
  });
}

/** The similarities of several knowledge bases cannot be compared: the best of each come first, then the second best. */
function inTurn<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, rank) =>
    lists.flatMap((list) => list.slice(rank, rank + 1)),
  ).flat();
}

function limitOf(bases: readonly Knowledge[]): number {
  if (bases.length === 0) return defaultResults;
  return Math.max(...bases.map(({ settings }) => settings.maxResults ?? defaultResults));
}
