import type { ReactNode } from 'react';

/** A text with the words of the query marked, as elements: the text itself is never read as HTML. */
export function marked(text: string, words: readonly string[]): ReactNode {
  if (words.length === 0) return text;
  const pattern = new RegExp(`(${words.map(escaped).join('|')})`, 'giu');
  return text.split(pattern).map((part, at) =>
    at % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other identity.
      <mark key={at} className="rounded-sm bg-warning-soft px-0.5 text-warning">
        {part}
      </mark>
    ) : (
      part
    ),
  );
}

function escaped(word: string): string {
  return word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
