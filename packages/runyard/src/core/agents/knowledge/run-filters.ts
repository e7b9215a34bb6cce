import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { allOf } from '../../knowledge/claim-filters.js';
import type { KnowledgeFilter } from '../../knowledge/filter.js';
import { parseFilter } from '../../knowledge/filter-parse.js';
import type { AgentExecution } from '../execution.js';

/**
 * What the agent and the caller of the run restrict its searches to. Of two objects, the caller's keys stand over the
 * agent's; expressions of either are added to what the other asks for.
 */
export function runFilter({
  agent,
  context,
}: Pick<AgentExecution, 'agent' | 'context'>): KnowledgeFilter | undefined {
  // it was found to be JSON when the agent was defined
  const own = agent.settings.knowledgeFilters as Json | undefined;
  const given = context.options.knowledgeFilters;
  const both = [own, given].filter((filter) => filter !== undefined);
  if (both.length === 0) return undefined;
  if (both.every(isMetadata)) return parseFilter(Object.assign({}, ...both));
  return allOf(both.map((filter) => parseFilter(filter)));
}

function isMetadata(filter: Json): filter is JsonObject {
  return isJsonObject(filter) && !('op' in filter);
}
