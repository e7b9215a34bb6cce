import { attribute, decodeEntities, type MarkupReader, scanMarkup } from './html-markup.js';

/** What a reader sees of an HTML page, as plain text with headings, lists and links in Markdown. */
export interface ReadablePage {
  readonly title: string;
  readonly text: string;
}

/** Elements whose content is not for readers. */
const hidden = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'math',
  'iframe',
  'object',
  'canvas',
  'select',
]);
/** Elements without an end tag of their own. */
const empty = new Set([
  'br',
  'hr',
  'img',
  'input',
  'link',
  'meta',
  'source',
  'track',
  'wbr',
  'area',
  'base',
  'col',
]);
const blocks = new Set(
  'address article aside blockquote body dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr html li main nav ol p pre section summary table tbody tfoot thead tr ul'.split(
    ' ',
  ),
);
export function readableText(html: string, baseUrl: string): ReadablePage {
  const reader = new PageReader(baseUrl);
  scanMarkup(html, reader);
  return reader.page();
}

class PageReader implements MarkupReader {
  readonly #parts: string[] = [];
  readonly #title: string[] = [];
  #link: { readonly url: string; readonly at: number } | undefined;
  #hiddenIn: string | undefined;
  #hiddenDepth = 0;
  #inTitle = false;
  #preformatted = 0;

  constructor(private readonly baseUrl: string) {}

  text(text: string): void {
    if (text === '') return;
    if (this.#inTitle) this.#title.push(decodeEntities(text));
    else if (this.#hiddenIn === undefined) {
      const decoded = decodeEntities(text);
      this.#parts.push(this.#preformatted > 0 ? decoded : decoded.replace(/\s+/g, ' '));
    }
  }

  start(tag: string, attributes: string): void {
    if (this.#hiddenIn !== undefined) {
      if (tag === this.#hiddenIn) this.#hiddenDepth += 1;
      return;
    }
    if (tag === 'title') this.#inTitle = this.#title.length === 0;
    if (hidden.has(tag) && !attributes.trimEnd().endsWith('/')) {
      this.#hiddenIn = tag;
      this.#hiddenDepth = 1;
      return;
    }
    if (tag === 'br') this.#parts.push('\n');
    else if (tag === 'td' || tag === 'th') this.#parts.push(' | ');
    else if (blocks.has(tag)) this.#startBlock(tag);
    else if (tag === 'img') this.#image(attributes);
    else if (tag === 'a') this.#startLink(attributes);
  }

  end(tag: string): void {
    if (tag === 'title') this.#inTitle = false;
    if (this.#hiddenIn !== undefined) {
      if (tag === this.#hiddenIn && --this.#hiddenDepth === 0) this.#hiddenIn = undefined;
      return;
    }
    if (empty.has(tag)) return;
    if (tag === 'pre') this.#preformatted = Math.max(this.#preformatted - 1, 0);
    if (tag === 'a') this.#endLink();
    else if (blocks.has(tag)) this.#parts.push(tag === 'li' || tag === 'tr' ? '\n' : '\n\n');
  }

  page(): ReadablePage {
    const text = this.#parts
      .join('')
      .split('\n')
      .map(tidied)
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim();
    return { title: this.#title.join('').replace(/\s+/g, ' ').trim(), text };
  }

  #startBlock(tag: string): void {
    const level = /^h([1-6])$/.exec(tag)?.[1];
    if (tag === 'pre') this.#preformatted += 1;
    this.#parts.push(tag === 'li' ? '\n- ' : tag === 'tr' ? '\n' : '\n\n');
    if (level !== undefined) this.#parts.push(`${'#'.repeat(Number(level))} `);
  }

  #image(attributes: string): void {
    const alternative = attribute(attributes, 'alt')?.trim();
    if (alternative) this.#parts.push(`[image: ${alternative}]`);
  }

  /** Links cannot be nested: a new one ends the one before. */
  #startLink(attributes: string): void {
    this.#endLink();
    this.#link = { url: attribute(attributes, 'href') ?? '', at: this.#parts.length };
  }

  #endLink(): void {
    const link = this.#link;
    if (link === undefined) return;
    this.#link = undefined;
    const label = this.#parts.splice(link.at).join('').replace(/\s+/g, ' ');
    const url = absolute(link.url, this.baseUrl);
    const isPlain = label.trim() === '' || url === undefined;
    this.#parts.push(isPlain ? label : `[${label.trim()}](${url})${label.endsWith(' ') ? ' ' : ''}`);
  }
}

/** One space before a line is left over from its markup; more than that is meant. */
function tidied(line: string): string {
  const text = line.trimEnd();
  return text.startsWith(' ') && !text.startsWith('  ') ? text.slice(1) : text;
}

function absolute(url: string, base: string): string | undefined {
  if (url === '' || url.startsWith('#') || !URL.canParse(url, base)) return undefined;
  const { href, protocol } = new URL(url, base);
  return protocol === 'http:' || protocol === 'https:' || protocol === 'mailto:' ? href : undefined;
}
