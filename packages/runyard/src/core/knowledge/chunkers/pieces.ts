import type { Chunk, Document } from '../document.js';
import { characterStart, endOfPiece, piecesOf } from './cut.js';

/** Every run of white space becomes one space. */
export function collapsed(text: string): string {
  // single spaces, which are most of it, are not replaced
  return text.replace(/[^\S ]\s*| \s+/g, ' ').trim();
}

/** The chunks of the pieces of a document, numbered from 1. Blank pieces are left out. */
export function* numbered(document: Document, pieces: Iterable<string>): Iterable<Chunk> {
  let chunk = 0;
  for (const content of pieces) {
    if (content.trim() === '') continue;
    chunk += 1;
    yield { content, metadata: { ...document.metadata, chunk, chunk_size: content.length } };
  }
}

/** The same for pieces that take time. */
export async function* numberedLater(
  document: Document,
  pieces: AsyncIterable<string>,
): AsyncIterable<Chunk> {
  let chunk = 0;
  for await (const content of pieces) {
    if (content.trim() === '') continue;
    chunk += 1;
    yield { content, metadata: { ...document.metadata, chunk, chunk_size: content.length } };
  }
}

/** A document that is not split keeps its text and its metadata. */
export function* unsplit(document: Document): Iterable<Chunk> {
  if (document.content.trim() !== '') yield { content: document.content, metadata: document.metadata };
}

/** Puts the end of each piece in front of the next one. */
export function* overlapping(pieces: Iterable<string>, overlap: number): Iterable<string> {
  let before = '';
  for (const piece of pieces) {
    yield before + piece;
    if (overlap === 0) continue;
    const start = Math.max(0, piece.length - overlap);
    before = piece.slice(start === 0 ? 0 : characterStart(piece, start, -1));
  }
}

/** Joins neighbours for as long as they fit into the size together. `glue` is put between them. */
export function* packed(parts: Iterable<string>, size: number, glue: string): Iterable<string> {
  let piece = '';
  for (const part of parts) {
    if (piece !== '' && piece.length + glue.length + part.length > size) {
      yield piece;
      piece = '';
    }
    piece = piece === '' ? part : piece + glue + part;
  }
  if (piece !== '') yield piece;
}

/** Made at its first use, which loads its data. */
let sentenceSegmenter: Intl.Segmenter | undefined;
/** Segmenting costs more than the length of the text: it is done stretch by stretch. */
const stretch = 10_000;

/** The sentences of a text in every script, without the white space around them. */
function* sentencesOf(text: string): Iterable<string> {
  sentenceSegmenter ??= new Intl.Segmenter(undefined, { granularity: 'sentence' });
  let start = 0;
  while (start < text.length) {
    const end = endOfPiece(text, start, stretch, start + stretch / 2, ['\n', ' ']);
    let last = '';
    for (const { segment } of sentenceSegmenter.segment(text.slice(start, end))) {
      if (last.trim() !== '') yield last.trim();
      last = segment;
    }
    // the last one may continue after the stretch, unless it is the whole of it
    const whole = end === text.length || last.length === end - start;
    if (whole && last.trim() !== '') yield last.trim();
    start = whole ? end : end - last.length;
  }
}

/** Cuts a text at white space, else between characters, so that no piece is longer than the size. */
export function cutToSize(text: string, size: number): Iterable<string> {
  return piecesOf(text, size, 0, ['\n', ' ']);
}

/** A text as sentences joined up to the size; a sentence that is longer is cut. */
export function sentencesToSize(text: string, size: number): Iterable<string> {
  return packed(shortSentences(text, size), size, ' ');
}

export function* shortSentences(text: string, size: number): Iterable<string> {
  for (const sentence of sentencesOf(text)) {
    if (sentence.length <= size) yield sentence;
    else yield* cutToSize(sentence, size);
  }
}
