import type { JsonObject } from '../../../core/json.js';
import { levelsOf, type termLevels } from '../../../core/knowledge/search/keyword-score.js';
import { termsOf } from '../../../core/knowledge/search/terms.js';
import { facetsOf } from './stored-metadata.js';

const levelLetters = ['a', 'b', 'c'] as const satisfies readonly string[] & {
  length: (typeof termLevels)['length'];
};

/**
 * What the full-text index holds for a chunk. The number of the knowledge base is part of every term, so that searches
 * read nothing of other knowledge bases; then comes the level of a word, or `f` for a value of the metadata.
 */
export function indexTermsOf(
  knowledgeNo: number,
  content: string,
  metadata: JsonObject,
): { readonly terms: readonly string[]; readonly length: number } {
  const { counts, length } = termsOf(content);
  const terms: string[] = [];
  for (const [term, count] of counts)
    for (let level = 0; level < levelsOf(count); level++) terms.push(wordTerm(knowledgeNo, level, term));
  for (const facet of facetsOf(metadata)) terms.push(facetTerm(knowledgeNo, facet));
  return { terms, length };
}

export function wordTerm(knowledgeNo: number, level: number, word: string): string {
  return `${knowledgeNo}${levelLetters[level]}${word}`;
}

export function facetTerm(knowledgeNo: number, facet: string): string {
  return `${knowledgeNo}f${facet}`;
}
