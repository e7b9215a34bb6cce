import type { Json, JsonObject } from '../json.js';
import type { KnowledgeFilter } from './filter.js';
import type { KnowledgeSettings } from './knowledge-settings.js';

/**
 * The metadata that a caller's searches and contents have to have in a knowledge base. `claims` are those of an isolated
 * caller; undefined for a caller who is not isolated, who is bound to nothing. Null: a claim is missing, so the caller
 * finds nothing and adds nothing.
 */
export function claimMetadata(
  { claimFilters = {} }: Pick<KnowledgeSettings, 'claimFilters'>,
  claims: JsonObject | undefined,
): JsonObject | null {
  if (claims === undefined) return {};
  const bound: Record<string, Json> = {};
  for (const [key, claim] of Object.entries(claimFilters)) {
    const value = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
    if (!isValue(value)) return null;
    bound[key] = value;
  }
  return bound;
}

/** The condition that a chunk has this metadata; undefined when there is none. */
export function metadataFilter(metadata: JsonObject): KnowledgeFilter | undefined {
  return allOf(Object.entries(metadata).map(([key, value]) => ({ op: 'EQ', key, value })));
}

/** The condition that all of these are met; undefined when there are none. */
export function allOf(conditions: readonly (KnowledgeFilter | undefined)[]): KnowledgeFilter | undefined {
  const given = conditions.filter((condition) => condition !== undefined);
  return given.length > 1 ? { op: 'AND', conditions: given } : given[0];
}

/** A list or an object is no value that a chunk could equal, and an empty text is no tenant. */
function isValue(value: Json | undefined): value is string | number | boolean {
  return (
    (typeof value === 'string' && value !== '') || typeof value === 'number' || typeof value === 'boolean'
  );
}
