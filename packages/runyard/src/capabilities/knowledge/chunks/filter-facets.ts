import { isJsonObject, type Json } from '../../../core/json.js';
import type { KnowledgeFilter } from '../../../core/knowledge/filter.js';
import { facetTerm } from './index-terms.js';
import { facetOf } from './stored-metadata.js';

/** Terms of the full-text index that chunks must have. */
export type TermQuery =
  | { readonly term: string }
  | { readonly all: readonly TermQuery[] }
  | { readonly any: readonly TermQuery[] };

/**
 * What the index knows about a filter: every chunk that matches the filter has these terms. `isExact` says that every
 * chunk with these terms matches. Undefined: the index knows nothing.
 */
export interface FacetQuery {
  readonly query: TermQuery;
  readonly isExact: boolean;
}

export function facetQueryOf(knowledgeNo: number, filter: KnowledgeFilter): FacetQuery | undefined {
  switch (filter.op) {
    case 'CONTAINED':
      return contained(knowledgeNo, [], filter.value);
    case 'EQ':
      return equal(knowledgeNo, filter.key, filter.value);
    case 'IN':
      return anyOf(filter.values.map((value) => equal(knowledgeNo, filter.key, value)));
    case 'AND':
      return allOf(filter.conditions.map((condition) => facetQueryOf(knowledgeNo, condition)));
    case 'OR':
      return anyOf(filter.conditions.map((condition) => facetQueryOf(knowledgeNo, condition)));
    default:
      return undefined;
  }
}

function equal(knowledgeNo: number, key: string, value: Json): FacetQuery | undefined {
  const found = contained(knowledgeNo, [key], value);
  const isScalar = typeof value !== 'object' || value === null;
  return found && { ...found, isExact: found.isExact && isScalar };
}

function contained(
  knowledgeNo: number,
  path: readonly (string | null)[],
  value: Json,
): FacetQuery | undefined {
  if (typeof value !== 'object' || value === null)
    return { query: { term: facetTerm(knowledgeNo, facetOf(path, value)) }, isExact: true };
  const parts = Object.entries(value).map(([key, inner]) =>
    contained(knowledgeNo, [...path, isJsonObject(value) ? key : null], inner),
  );
  const all = allOf(parts);
  // members of a list may be in different ones of its objects
  return all && { ...all, isExact: all.isExact && isJsonObject(value) };
}

/** Leaves out what the index does not know. */
function allOf(parts: readonly (FacetQuery | undefined)[]): FacetQuery | undefined {
  const known = parts.filter((part) => part !== undefined);
  if (known.length === 0) return undefined;
  return {
    query: { all: known.map(({ query }) => query) },
    isExact: known.length === parts.length && known.every(({ isExact }) => isExact),
  };
}

function anyOf(parts: readonly (FacetQuery | undefined)[]): FacetQuery | undefined {
  const known = parts.filter((part) => part !== undefined);
  if (known.length === 0 || known.length < parts.length) return undefined;
  return { query: { any: known.map(({ query }) => query) }, isExact: known.every(({ isExact }) => isExact) };
}
