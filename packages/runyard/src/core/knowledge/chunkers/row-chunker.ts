import type { Chunk, Document } from '../document.js';
import type { PlainChunker } from './chunker.js';
import { collapsed } from './pieces.js';

export const rowChunker: PlainChunker = {
  key: 'RowChunker',
  name: 'RowChunker',
  description: 'Makes a chunk of each line that is not empty',
  defaults: {},
  chunk: rows,
};

function* rows({ content, metadata }: Document): Iterable<Chunk> {
  // a document that is a part of a table says which row is its first
  const first = typeof metadata.start_row === 'number' ? metadata.start_row : 1;
  let row = first;
  let chunk = 0;
  for (let start = 0; start <= content.length; row++) {
    const newline = content.indexOf('\n', start);
    const end = newline < 0 ? content.length : newline;
    const line = collapsed(content.slice(start, end));
    start = end + 1;
    if (line === '') continue;
    chunk += 1;
    yield { content: line, metadata: { ...metadata, row_number: row, chunk, chunk_size: line.length } };
  }
}
