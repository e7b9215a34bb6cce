/**
 * The chunks of a stream differ, as a rule, only in their piece of text. Once one has been parsed in full, the next
 * ones that are letter for letter the same around that piece need no parsing: it is a large part of the cost of
 * a token.
 */
export class RepeatedDelta {
  readonly #opening: string;
  #before = '';
  #after = '';

  /** `opening` is what stands before the piece of text, e.g. `"content":"`. */
  constructor(opening: string) {
    this.#opening = opening;
  }

  /** The text in a chunk that repeats the learned one; undefined if it has to be parsed. */
  textIn(data: string): string | undefined {
    const start = this.#before.length;
    const end = data.length - this.#after.length;
    if (start === 0 || end <= start || !data.startsWith(this.#before) || !data.endsWith(this.#after))
      return undefined;
    const text = data.slice(start, end);
    // A quotation mark would end the piece early, an escape has to be decoded.
    return text.includes('"') || text.includes('\\') ? undefined : text;
  }

  /**
   * Learns from a chunk that was parsed and carried nothing but `text`. It must stand in exactly one place:
   * otherwise the next chunk might differ in the other one.
   */
  learn(data: string, text: string): void {
    const opening = this.#opening;
    const start = data.indexOf(opening) + opening.length;
    const end = start + text.length;
    const unique = data.indexOf(opening, start) === -1;
    if (unique && start >= opening.length && data.startsWith(text, start) && data[end] === '"') {
      this.#before = data.slice(0, start);
      this.#after = data.slice(end);
    }
  }

  /** After another event, the same frame may carry the text of another block. */
  forget(): void {
    this.#before = '';
  }
}
