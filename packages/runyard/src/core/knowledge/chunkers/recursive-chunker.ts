import type { PlainChunker } from './chunker.js';
import { piecesOf } from './cut.js';
import { numbered, unsplit } from './pieces.js';

export const recursiveChunker: PlainChunker = {
  key: 'RecursiveChunker',
  name: 'RecursiveChunker',
  description: 'Cuts at the end of a line, else of a sentence, else at white space',
  defaults: { chunkSize: 5000, chunkOverlap: 0 },
  chunk(document, { chunkSize = 5000, chunkOverlap = 0 }) {
    if (document.content.length <= chunkSize) return unsplit(document);
    return numbered(document, piecesOf(document.content, chunkSize, chunkOverlap, ['\n', '.', ' ']));
  },
};
