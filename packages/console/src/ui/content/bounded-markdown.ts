import { getDefaults, Lexer, type Token, Tokenizer } from 'marked';

/** Deeper quotes, lists and emphasis are shown as they are written: nobody reads them, and browsers overflow. */
const deepest = 20;
/** Longer emphasis and addresses are shown as they are written: looking for the end of each would take forever. */
export const longestSpan = 500;

/** The library searches the whole rest of a text at each character that may begin something. This one looks less far. */
class BoundedTokenizer extends Tokenizer {
  #depth = 0;

  override blockquote(src: string) {
    return this.#within(() => super.blockquote(src));
  }

  override list(src: string) {
    return this.#within(() => super.list(src));
  }

  override emStrong(src: string, masked: string, before?: string) {
    return this.#within(() => super.emStrong(begin(src), beginOfRest(masked, src), before));
  }

  override del(src: string, masked: string, before?: string) {
    return this.#within(() => super.del(begin(src), beginOfRest(masked, src), before));
  }

  override url(src: string) {
    return super.url(begin(src));
  }

  #within<T>(read: () => T): T | undefined {
    if (this.#depth >= deepest) return undefined;
    this.#depth += 1;
    try {
      return read();
    } finally {
      this.#depth -= 1;
    }
  }
}

export function readMarkdown(text: string): readonly Token[] {
  return new Lexer({ ...getDefaults(), tokenizer: new BoundedTokenizer() }).lex(text);
}

function begin(text: string): string {
  return text.slice(0, longestSpan);
}

/** The masked text ends where the text ends, and begins before it. */
function beginOfRest(masked: string, src: string): string {
  return begin(masked.slice(-src.length));
}
