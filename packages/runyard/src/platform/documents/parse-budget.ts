import type { Document } from '../../core/knowledge/document.js';
import { ContentUnreadable, type ReadableContent } from '../../core/knowledge/readers/reader.js';
import { bytesText, type DocumentLimits } from './limits.js';

/** Makes the documents of a content, within what is left of its bounds. */
export type Parser = (content: ReadableContent, budget: ParseBudget) => AsyncIterable<Document>;

/** What is left of the bounds of one content, shared by everything that is read for it. */
export class ParseBudget {
  #done = 0;
  #total: number | undefined;
  #depth = 0;
  #inflated = 0;
  #entries = 0;
  #characters = 0;

  constructor(
    readonly limits: DocumentLimits,
    private readonly parse: Parser,
  ) {}

  /** Pages, rows or entries. */
  get done(): number {
    return this.#done;
  }

  get total(): number | undefined {
    return this.#total;
  }

  /** Counts for the content itself, not for what is in it. */
  progress(done: number, total?: number): void {
    if (this.#depth > 0) return;
    this.#done = done;
    this.#total = total;
  }

  /** Reads what is in an archive or a message, with the reader that fits it. */
  async *inner(content: ReadableContent): AsyncIterable<Document> {
    const { depth } = this.limits;
    if (this.#depth >= depth) fail(`Archives and messages are nested more than ${depth} deep`);
    this.#depth += 1;
    try {
      yield* this.parse(content, this);
    } finally {
      this.#depth -= 1;
    }
  }

  entry(): void {
    this.#entries += 1;
    if (this.#entries > this.limits.entries) fail(`The archive has more than ${this.limits.entries} entries`);
  }

  /** How much the next entry may inflate to. */
  get inflatable(): number {
    return Math.min(this.limits.entryBytes, this.limits.inflatedBytes - this.#inflated);
  }

  inflated(bytes: number): void {
    this.#inflated += bytes;
  }

  tooMuchInflated(): never {
    const { entryBytes, inflatedBytes } = this.limits;
    if (this.inflatable < entryBytes) fail(`The archive inflates to more than ${bytesText(inflatedBytes)}`);
    fail(`An entry of the archive inflates to more than ${bytesText(entryBytes)}`);
  }

  pages(count: number, what: string): void {
    const { pages } = this.limits;
    if (count > pages) fail(`The file has ${count} ${what}: at most ${pages} are read`);
  }

  rows(count: number, what: string): void {
    const { rows } = this.limits;
    if (count > rows) fail(`${what} has more than ${rows} rows`);
  }

  text(characters: number): void {
    this.#characters += characters;
    const most = this.limits.characters;
    if (this.#characters > most) fail(`The content has more than ${most} characters of text`);
  }
}

/** All bytes of a content, up to a bound. */
export async function gathered(content: ReadableContent, most: number): Promise<Uint8Array> {
  if (content.size !== undefined && content.size > most) tooLarge(most);
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of content.open()) {
    length += piece.length;
    if (length > most) tooLarge(most);
    pieces.push(piece);
  }
  if (pieces.length === 1 && pieces[0] !== undefined) return pieces[0];
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function tooLarge(most: number): never {
  fail(`Files of this kind can have at most ${bytesText(most)}`);
}

function fail(message: string): never {
  throw new ContentUnreadable(message);
}
