import type { Token } from 'marked';
import { readMarkdown } from './bounded-markdown.js';

/** Longer texts are shown as they are: their structure would cost more than it helps. */
export const longestMarkdown = 100_000;

/**
 * The blocks of a text that grows, as a model writes it. Blocks before the last two can no longer change, so they
 * stay the same objects and only the rest is read again.
 */
export class MarkdownSource {
  #text = '';
  #settled: readonly Token[] = [];
  #settledLength = 0;
  #blocks: readonly Token[] = [];

  blocks(text: string): readonly Token[] {
    if (text === this.#text && text !== '') return this.#blocks;
    if (!text.startsWith(this.#text)) {
      this.#settled = [];
      this.#settledLength = 0;
    }
    this.#text = text;
    const rest = tokensOf(text.slice(this.#settledLength));
    this.#blocks = [...this.#settled, ...rest];
    const settled = settledOf(rest);
    // tabs and line ends may have been replaced: then nothing is known of their places in the text
    const raw = settled.map((token) => token.raw).join('');
    if (settled.length > 0 && text.startsWith(raw, this.#settledLength)) {
      this.#settled = [...this.#settled, ...settled];
      this.#settledLength += raw.length;
    }
    return this.#blocks;
  }
}

/** What can no longer be changed by more text: all but the last two blocks that are not empty. */
function settledOf(tokens: readonly Token[]): readonly Token[] {
  let open = 2;
  let end = tokens.length;
  while (end > 0 && open > 0) {
    end -= 1;
    if (tokens[end]?.type !== 'space') open -= 1;
  }
  return tokens.slice(0, end);
}

function tokensOf(text: string): readonly Token[] {
  return text.length > longestMarkdown ? [plain(text)] : readMarkdown(text);
}

function plain(text: string): Token {
  return { type: 'html', raw: text, text, block: true, pre: false };
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
};

/** Markdown allows entities of HTML in its texts. Others stay as they are written. */
export function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,6}));/gi, (all, decimal, hex, name) => {
    if (name !== undefined) return entities[String(name).toLowerCase()] ?? all;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : all;
  });
}

/** Addresses that a text of a model may lead to. */
export function safeLink(href: string): string | undefined {
  const address = href.trim();
  return /^(?:https?:\/\/|mailto:)/i.test(address) && URL.canParse(address) ? address : undefined;
}

/** Pictures that come with the text. Those of other places would tell that place who reads the text. */
export function safeImage(href: string): string | undefined {
  return /^(?:data:image\/(?:png|jpeg|gif|webp|avif);|blob:)/i.test(href) ? href : undefined;
}
