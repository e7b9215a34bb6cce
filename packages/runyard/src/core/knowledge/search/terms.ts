import { keyword } from '../../models/offline/words.js';

const longestTerm = 64;
/** Characters of all distinct terms of a chunk: PostgreSQL refuses a text-search value of more than 1 MB. */
const mostCharacters = 150_000;
const mostQueryTerms = 32;

/** Scripts that do not separate words: pairs of characters serve as words. */
const withoutSpaces =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const runsOfOneKind =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u30fc]+|[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;

export interface TermCounts {
  /** How often each term is in the text. */
  readonly counts: ReadonlyMap<string, number>;
  /** How many terms the text has, repeated ones included. */
  readonly length: number;
}

/** The terms of a text, for the index. Both databases index these and nothing else, so that they find the same. */
export function termsOf(text: string): TermCounts {
  const counts = new Map<string, number>();
  let length = 0;
  let characters = 0;
  for (const term of terms(text)) {
    length += 1;
    const count = counts.get(term);
    if (count === undefined) {
      if (characters + term.length > mostCharacters) continue;
      characters += term.length;
    }
    counts.set(term, (count ?? 0) + 1);
  }
  return { counts, length };
}

/** The terms that a query is searched for. Small words, such as `the`, count only where there are no others. */
export function queryTerms(query: string): readonly string[] {
  const found = new Set<string>();
  for (const term of terms(query)) {
    found.add(term);
    if (found.size >= mostQueryTerms) break;
  }
  const telling = [...found].filter((term) => keyword(term) !== undefined || withoutSpaces.test(term));
  return telling.length > 0 ? telling : [...found];
}

/** Letters, digits and marks only: no term is ever syntax of a database. */
function* terms(text: string): Generator<string> {
  const folded = text
    .normalize('NFKD')
    .toLowerCase()
    // accents of Latin, Greek and Cyrillic; marks of other scripts are vowels
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC');
  for (const [word] of folded.matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
    if (!withoutSpaces.test(word)) {
      yield cut(word);
      continue;
    }
    for (const [run] of word.matchAll(runsOfOneKind)) {
      if (withoutSpaces.test(run)) yield* pairs(run);
      else yield cut(run);
    }
  }
}

/** Each character, and each pair of neighbours: a query of one character finds something too. */
function* pairs(run: string): Generator<string> {
  let before: string | undefined;
  for (const character of run) {
    yield character;
    if (before !== undefined) yield before + character;
    before = character;
  }
}

function cut(word: string): string {
  return word.length <= longestTerm ? word : [...word].slice(0, longestTerm / 2).join('');
}
