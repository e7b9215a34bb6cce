/**
 * The text of a JSON object or array that is not complete yet, closed where it can be read: a text that is being written
 * ends where it is; a number, a word or a key counts when it is complete. Undefined before the value begins. What is
 * before the value, such as a code fence, is left out.
 */
export function closedJson(text: string): string | undefined {
  const start = text.search(/[{[]/);
  return start === -1 ? undefined : new Scan(text, start).closed();
}

/** As deep as an answer may be nested. */
const deepest = 64;

/** One pass over the text. */
class Scan {
  /** What closes the containers that are open, the innermost last. */
  private readonly closers: string[] = [];
  /** The last place before which the text can be closed: all containers that are open there are open at the end. */
  private safeEnd = 0;
  private quote = '';
  private isKey = false;

  constructor(
    private readonly text: string,
    private readonly start: number,
  ) {}

  closed(): string | undefined {
    const { text, closers } = this;
    let at = this.start;
    while (at < text.length) {
      const character = text[at];
      if (character === '{' || character === '[') {
        if (closers.length === deepest) return undefined;
        closers.push(character === '{' ? '}' : ']');
        this.isKey = character === '{';
        at = this.keep(at + 1);
      } else if (character === '}' || character === ']') {
        if (closers.pop() !== character) return undefined;
        at = this.keep(at + 1);
        if (closers.length === 0) break;
      } else if (character === '"') {
        const end = this.endOfText(at);
        if (end === undefined) break;
        at = this.isKey ? end : this.keep(end);
      } else if (character === ',' || character === ':') {
        this.isKey = character === ',' && closers.at(-1) === '}';
        at += 1;
      } else if (/\s/.test(character ?? '')) {
        at += 1;
      } else {
        const rest = text.slice(at, at + 400).search(/[\s,}\]]/);
        if (rest === -1) break;
        at = this.keep(at + rest);
      }
    }
    return text.slice(this.start, this.safeEnd) + this.quote + closers.toReversed().join('');
  }

  /** The text can be closed before this place. */
  private keep(end: number, quote = ''): number {
    this.safeEnd = end;
    this.quote = quote;
    return end;
  }

  /** The place after a quoted text. One that has no end, and is no key, is closed before an escape that is cut off. */
  private endOfText(begin: number): number | undefined {
    const { text } = this;
    let at = begin + 1;
    while (at < text.length && text[at] !== '"') {
      const length = text[at] === '\\' ? (text[at + 1] === 'u' ? 6 : 2) : 1;
      if (at + length > text.length) break;
      at += length;
    }
    if (text[at] === '"') return at + 1;
    if (!this.isKey) this.keep(at, '"');
    return undefined;
  }
}
