import type { Json, JsonObject } from '../json.js';

/**
 * A condition on the metadata of chunks. Requests write it as an object (all keys equal, nested objects contained), as
 * an expression of the filter language, or as a list of expressions; each is read once into this form.
 */
export type KnowledgeFilter =
  | { readonly op: 'CONTAINED'; readonly value: JsonObject }
  | { readonly op: ComparisonOp; readonly key: string; readonly value: Json }
  | { readonly op: 'IN'; readonly key: string; readonly values: readonly Json[] }
  | { readonly op: 'AND' | 'OR'; readonly conditions: readonly KnowledgeFilter[] }
  | { readonly op: 'NOT'; readonly condition: KnowledgeFilter };

export type ComparisonOp = 'EQ' | 'NEQ' | 'GT' | 'GTE' | 'LT' | 'LTE' | 'CONTAINS' | 'STARTSWITH';
