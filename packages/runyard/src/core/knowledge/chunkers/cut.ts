/** Made at its first use, which loads its data. */
let graphemes: Intl.Segmenter | undefined;
/** How far around a place is looked for the character that it may be within. Longer ones are cut between code points. */
const window = 64;

/**
 * The nearest place at or before `index` that splits no character as a person sees it: neither a surrogate pair, nor an
 * emoji of several code points, nor a letter from its accents. Where that is not beyond `after`, it is the end of the
 * character.
 */
export function characterStart(text: string, index: number, after: number): number {
  if (index >= text.length || isPlain(text, index)) return index;
  const from = codePointStart(text, Math.max(0, index - window));
  graphemes ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  const found = graphemes.segment(text.slice(from, index + window)).containing(index - from);
  const start = from + (found?.index ?? 0);
  const end = start + (found?.segment.length ?? 0);
  const isWhole = (start > from || from === 0) && end < index + window;
  if (!isWhole) return codePointStart(text, index) > after ? codePointStart(text, index) : index + 1;
  return start > after ? start : end;
}

/** Most texts are cut between two characters that never belong together. */
function isPlain(text: string, index: number): boolean {
  const before = text.charCodeAt(index - 1);
  const at = text.charCodeAt(index);
  return index === 0 || (before < 0x300 && at < 0x300 && !(before === 13 && at === 10));
}

function codePointStart(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  return unit >= 0xdc00 && unit <= 0xdfff && index > 0 ? index - 1 : index;
}

/**
 * Where a piece of at most `size` characters that begins at `start` ends: before the last white space or after the last
 * other mark in it, the first mark of the list before the next one; else at its size. It is beyond `least`.
 */
export function endOfPiece(
  text: string,
  start: number,
  size: number,
  least: number,
  marks: readonly string[],
): number {
  const end = start + size;
  if (end >= text.length) return text.length;
  const first = Math.max(start, least);
  // a search backwards in the whole text would not stop at the start of the piece
  const piece = text.slice(first, end + 1);
  for (const mark of marks) {
    const isSpace = mark.trim() === '';
    const at = piece.lastIndexOf(mark, isSpace ? end - first : end - first - 1);
    const place = isSpace ? at : at + 1;
    if (at >= 0 && place > 0) return first + place;
  }
  return characterStart(text, end, first);
}

/** Pieces that end at one of the marks, each beginning so many characters before the end of the one before it. */
export function* piecesOf(
  text: string,
  size: number,
  given: number,
  marks: readonly string[],
): Iterable<string> {
  const overlap = Math.min(given, size - 1);
  for (let start = contentStart(text, 0); start < text.length; ) {
    // a piece that ended within the overlap would bring nothing new
    const end = endOfPiece(text, start, size, start + overlap, marks);
    yield text.slice(start, end).trim();
    // the end of the text is in this piece already: no repeated tails
    if (end >= text.length) return;
    start = overlap === 0 ? contentStart(text, end) : characterStart(text, end - overlap, start);
  }
}

/** The first place that is no white space. */
export function contentStart(text: string, from: number): number {
  const space = /\s*/y;
  space.lastIndex = from;
  return from + (space.exec(text)?.[0].length ?? 0);
}
