import type { Json } from '../json.js';
import type { Learning } from './learnings.js';

/** How much of a record searches see. */
const longestText = 20_000;
const mostWords = 20;

/** A record as searches see it: all its texts, in small letters of every script. */
export function searchableText({
  content,
  entityId,
  entityType,
}: Pick<Learning, 'content' | 'entityId' | 'entityType'>): string {
  const texts = [entityId ?? '', entityType ?? '', ...textsIn(content)];
  return folded(texts.join('\n').slice(0, longestText));
}

/** The words of a query. */
export function searchWords(query: string): readonly string[] {
  return [...new Set(folded(query).match(/[\p{L}\p{N}]+/gu) ?? [])].slice(0, mostWords);
}

/** Those that hold the most of the words; as good as each other in the order in which they came. */
export function bestMatches<Found>(
  found: readonly Found[],
  words: readonly string[],
  textOf: (one: Found) => string,
): readonly Found[] {
  if (words.length === 0) return found;
  return found
    .map((one) => {
      const text = textOf(one);
      return { one, hits: words.filter((word) => text.includes(word)).length };
    })
    .filter(({ hits }) => hits > 0)
    .sort((left, right) => right.hits - left.hits)
    .map(({ one }) => one);
}

function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

function* textsIn(value: Json | undefined): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'number' || typeof value === 'boolean') yield String(value);
  else if (typeof value === 'object' && value !== null) {
    // names of members say what a value is about, as in `{ "language": "Dutch" }`
    for (const [name, inner] of Object.entries(value)) {
      if (!Array.isArray(value)) yield name;
      yield* textsIn(inner);
    }
  }
}
