/** What is called with the parts of an HTML text, in their order. */
export interface MarkupReader {
  text(text: string): void;
  /** A start tag, in lower case, with what stands between its name and its end. */
  start(tag: string, attributes: string): void;
  end(tag: string): void;
}

/** Reads an HTML text from its beginning to its end, once: no tree, no time that grows faster than the text. */
export function scanMarkup(html: string, reader: MarkupReader): void {
  let position = 0;
  while (position < html.length) {
    markup.lastIndex = position;
    const open = markup.exec(html)?.index ?? html.length;
    reader.text(html.slice(position, open));
    position = open < html.length ? readMarkup(html, open, reader) : open;
  }
}

/** The beginning of a tag or a comment; any other `<` is text. */
const markup = /<(?:[a-zA-Z!?]|\/[a-zA-Z])/g;
const tagName = /[a-zA-Z][a-zA-Z0-9-]*/y;

/** Reads the tag or comment that begins at `open`; returns where the text continues. */
function readMarkup(html: string, open: number, reader: MarkupReader): number {
  if (html.startsWith('<!--', open)) return after(html, '-->', open + 4);
  const next = html.charCodeAt(open + 1);
  if (next === 0x21 || next === 0x3f) return after(html, '>', open);
  const isEnd = next === 0x2f;
  tagName.lastIndex = open + (isEnd ? 2 : 1);
  const tag = tagName.exec(html)?.[0].toLowerCase() ?? '';
  const nameEnd = tagName.lastIndex;
  const close = endOfTag(html, nameEnd);
  if (isEnd) reader.end(tag);
  else {
    const attributes = html.slice(nameEnd, close - 1);
    reader.start(tag, attributes);
    // What is inside is not markup.
    if (tag === 'script' || tag === 'style') return endOfRaw(html, tag, close);
  }
  return close;
}

function after(html: string, text: string, from: number): number {
  const found = html.indexOf(text, from);
  return found < 0 ? html.length : found + text.length;
}

const rawEnds = { script: /<\/script/gi, style: /<\/style/gi };

function endOfRaw(html: string, tag: keyof typeof rawEnds, from: number): number {
  const end = rawEnds[tag];
  end.lastIndex = from;
  return end.exec(html)?.index ?? html.length;
}

const tagEnd = /[>"']/g;

/** Behind the `>` that ends a tag; one inside quotes does not. */
function endOfTag(html: string, from: number): number {
  for (let position = from; ; ) {
    tagEnd.lastIndex = position;
    const found = tagEnd.exec(html);
    if (found === null) return html.length;
    if (found[0] === '>') return found.index + 1;
    const closing = html.indexOf(found[0], found.index + 1);
    if (closing < 0) return html.length;
    position = closing + 1;
  }
}

const attributePatterns = {
  alt: patternOf('alt'),
  content: patternOf('content'),
  href: patternOf('href'),
  name: patternOf('name'),
  rel: patternOf('rel'),
};

function patternOf(name: string): RegExp {
  return new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'i');
}

export function attribute(attributes: string, name: keyof typeof attributePatterns): string | undefined {
  const found = attributePatterns[name].exec(attributes);
  const value = found?.[1] ?? found?.[2] ?? found?.[3];
  return value === undefined ? undefined : decodeEntities(value);
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ndash: '–',
  mdash: '—',
  hellip: '…',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  laquo: '«',
  raquo: '»',
  bull: '•',
  middot: '·',
  copy: '©',
  reg: '®',
  trade: '™',
  euro: '€',
  pound: '£',
  times: '×',
  auml: 'ä',
  ouml: 'ö',
  uuml: 'ü',
  Auml: 'Ä',
  Ouml: 'Ö',
  Uuml: 'Ü',
  szlig: 'ß',
  eacute: 'é',
  egrave: 'è',
  agrave: 'à',
  ccedil: 'ç',
  shy: '',
};

export function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]{2,8}));/g,
    (whole, decimal, hex, name?: string) => {
      if (name !== undefined) return entities[name] ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
}
