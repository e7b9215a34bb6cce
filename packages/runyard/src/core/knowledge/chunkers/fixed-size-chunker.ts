import type { PlainChunker } from './chunker.js';
import { piecesOf } from './cut.js';
import { collapsed, numbered } from './pieces.js';

export const fixedSizeChunker: PlainChunker = {
  key: 'FixedSizeChunker',
  name: 'FixedSizeChunker',
  description: 'Cuts at a number of characters, at white space where there is some',
  defaults: { chunkSize: 5000, chunkOverlap: 0 },
  chunk: (document, { chunkSize = 5000, chunkOverlap = 0 }) =>
    numbered(document, piecesOf(collapsed(document.content), chunkSize, chunkOverlap, [' '])),
};
