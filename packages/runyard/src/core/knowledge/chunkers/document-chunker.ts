import type { PlainChunker } from './chunker.js';
import { collapsed, numbered, overlapping, packed, sentencesToSize, unsplit } from './pieces.js';

export const documentChunker: PlainChunker = {
  key: 'DocumentChunker',
  name: 'DocumentChunker',
  description:
    'Joins paragraphs up to a number of characters; a paragraph that is longer is cut between sentences',
  defaults: { chunkSize: 5000, chunkOverlap: 0 },
  chunk(document, { chunkSize = 5000, chunkOverlap = 0 }) {
    if (document.content.length <= chunkSize) return unsplit(document);
    const pieces = packed(paragraphPieces(document.content, chunkSize), chunkSize, '\n\n');
    return numbered(document, overlapping(pieces, chunkOverlap));
  },
};

function* paragraphPieces(text: string, size: number): Iterable<string> {
  for (const given of text.split(/(?:\r?\n[^\S\n]*){2,}/)) {
    const paragraph = collapsed(given);
    if (paragraph === '') continue;
    if (paragraph.length <= size) yield paragraph;
    else yield* sentencesToSize(paragraph, size);
  }
}
