import type { PlainChunker } from './chunker.js';
import { collapsed, numbered, shortSentences, unsplit } from './pieces.js';

export const sentenceChunker: PlainChunker = {
  key: 'SentenceChunker',
  name: 'SentenceChunker',
  description:
    'Joins whole sentences up to a number of characters, in every script; the overlap is whole sentences too',
  defaults: { chunkSize: 5000, chunkOverlap: 0 },
  chunk(document, { chunkSize = 5000, chunkOverlap = 0 }) {
    if (document.content.length <= chunkSize) return unsplit(document);
    return numbered(document, sentencePieces(collapsed(document.content), chunkSize, chunkOverlap));
  },
};

function* sentencePieces(text: string, size: number, overlap: number): Iterable<string> {
  let piece: string[] = [];
  let length = 0;
  for (const sentence of shortSentences(text, size)) {
    if (piece.length > 0 && length + sentence.length > size) {
      yield piece.join(' ');
      piece = repeated(piece, Math.min(overlap, size - sentence.length));
      length = lengthOf(piece);
    }
    piece.push(sentence);
    length += sentence.length + 1;
  }
  if (piece.length > 0) yield piece.join(' ');
}

/** The last sentences that fit, but not all of them: a piece has to be new in part. */
function repeated(piece: readonly string[], room: number): string[] {
  let from = piece.length;
  while (from > 1 && lengthOf(piece.slice(from - 1)) <= room) from -= 1;
  return piece.slice(from);
}

function lengthOf(sentences: readonly string[]): number {
  return sentences.reduce((sum, sentence) => sum + sentence.length + 1, 0);
}
