import type { Json } from '../../json.js';
import type { Document } from '../document.js';
import { extensionOf } from './choose-reader.js';
import { decodedText } from './decoded-text.js';
import { ContentUnreadable, type ReadableContent } from './reader.js';

/** The longest value that is parsed at once, in characters. Arrays may be of any length: each element is a value. */
const longestJsonValue = 8_388_608;

/**
 * Reads JSON: one document for each element of an array, with `page` from 1, or one for any other value. Of JSON Lines,
 * each line is an element. Only one element is in memory at a time.
 */
export async function* readJson(
  content: ReadableContent,
  longest = longestJsonValue,
): AsyncIterable<Document> {
  const { name } = content;
  const lines = isJsonLines(content);
  let page = 0;
  for await (const text of lines ? jsonLines(content, longest) : jsonElements(content, longest)) {
    if (text.trim() === '') continue;
    page += 1;
    const value = parsed(text, lines ? `line ${page}` : `value ${page}`);
    yield { name, content: JSON.stringify(value), metadata: { page } };
  }
}

function isJsonLines({ name, mediaType }: ReadableContent): boolean {
  const extension = extensionOf(name);
  if (extension === '.jsonl' || extension === '.ndjson') return true;
  return extension === undefined && /ndjson|jsonl/.test(mediaType ?? '');
}

function parsed(text: string, what: string): Json {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ContentUnreadable(`The JSON is malformed in ${what}`, { cause: error });
  }
}

/** The lines of a text, also empty ones. */
export async function* jsonLines(
  content: Pick<ReadableContent, 'open'>,
  longest: number,
): AsyncIterable<string> {
  let rest = '';
  for await (const piece of decodedText(content.open())) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    bounded(rest.length, longest);
    yield* lines;
  }
  yield rest;
}

/** The texts of the elements of a top-level array, or the whole text of any other value. */
export async function* jsonElements(
  content: Pick<ReadableContent, 'open'>,
  longest: number,
): AsyncIterable<string> {
  const scan = new ElementScan(longest);
  for await (const piece of decodedText(content.open())) yield* scan.take(piece);
  const rest = scan.end();
  if (rest !== undefined) yield rest;
}

/** Follows strings and brackets, so that an array can be cut between its elements before all of it has arrived. */
class ElementScan {
  #text = '';
  #at = 0;
  #depth = 0;
  #inString = false;
  #kind: 'unknown' | 'array' | 'value' | 'ended' = 'unknown';
  #elements = 0;

  constructor(private readonly longest: number) {}

  *take(piece: string): Iterable<string> {
    this.#text += piece;
    if (this.#kind === 'unknown') this.#begin();
    if (this.#kind === 'array') yield* this.#elementsSoFar();
    bounded(this.#text.length, this.longest);
  }

  /** The text of a value that is no array. */
  end(): string | undefined {
    if (this.#kind === 'array') throw new ContentUnreadable('The JSON is malformed: its array does not end');
    if (this.#kind === 'ended' && this.#text.trim() !== '')
      throw new ContentUnreadable('The JSON is malformed: text follows its array');
    return this.#kind === 'value' ? this.#text : undefined;
  }

  #begin(): void {
    const first = /\S/.exec(this.#text);
    if (first === null) return;
    this.#kind = first[0] === '[' ? 'array' : 'value';
    if (this.#kind === 'array') this.#text = this.#text.slice(first.index + 1);
  }

  *#elementsSoFar(): Iterable<string> {
    // only what matters to the structure: a million ordinary characters are passed at once
    const marks = /["\\[\]{},]/g;
    let start = 0;
    marks.lastIndex = this.#at;
    for (let mark = marks.exec(this.#text); mark !== null; mark = marks.exec(this.#text)) {
      const character = mark[0];
      if (this.#inString) {
        if (character === '\\') {
          // the escaped character may not have arrived yet
          if (mark.index + 1 >= this.#text.length) {
            this.#keep(start, mark.index);
            return;
          }
          marks.lastIndex = mark.index + 2;
        } else if (character === '"') this.#inString = false;
      } else if (character === '"') this.#inString = true;
      else if (character === '[' || character === '{') this.#depth += 1;
      else if (this.#depth > 0) {
        if (character === ']' || character === '}') this.#depth -= 1;
      } else if (character === ',' || character === ']') {
        yield* this.#element(this.#text.slice(start, mark.index), character === ']');
        start = mark.index + 1;
        if (character === ']') {
          this.#kind = 'ended';
          this.#keep(start, start);
          return;
        }
      }
    }
    this.#keep(start, this.#text.length);
  }

  *#element(text: string, last: boolean): Iterable<string> {
    if (text.trim() !== '') {
      this.#elements += 1;
      yield text;
    } else if (!last || this.#elements > 0) {
      throw new ContentUnreadable('The JSON is malformed: an element of its array is missing');
    }
  }

  #keep(start: number, at: number): void {
    this.#text = this.#text.slice(start);
    this.#at = at - start;
  }
}

function bounded(length: number, longest: number): void {
  if (length > longest)
    throw new ContentUnreadable(`The JSON has a value of more than ${longest} characters`);
}
