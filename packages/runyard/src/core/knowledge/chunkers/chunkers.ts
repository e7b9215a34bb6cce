import type { Chunk, Document } from '../document.js';
import { chooseReader } from '../readers/choose-reader.js';
import { type ReaderDescription, readerTable } from '../readers/reader-table.js';
import { agenticChunker } from './agentic-chunker.js';
import type { Chunker, ChunkerOptions, PlainChunker } from './chunker.js';
import { codeChunker } from './code-chunker.js';
import { documentChunker } from './document-chunker.js';
import { fixedSizeChunker } from './fixed-size-chunker.js';
import { markdownChunker } from './markdown-chunker.js';
import { recursiveChunker } from './recursive-chunker.js';
import { rowChunker } from './row-chunker.js';
import { semanticChunker } from './semantic-chunker.js';
import { sentenceChunker } from './sentence-chunker.js';

/** Those that need nothing but the text. */
const plainChunkers: readonly PlainChunker[] = [
  codeChunker,
  documentChunker,
  fixedSizeChunker,
  markdownChunker,
  recursiveChunker,
  rowChunker,
  sentenceChunker,
];

/** In the order that `/knowledge/config` lists them. */
export const chunkers: readonly Chunker[] = [
  agenticChunker,
  codeChunker,
  documentChunker,
  fixedSizeChunker,
  markdownChunker,
  recursiveChunker,
  rowChunker,
  semanticChunker,
  sentenceChunker,
];

/** By its exact key. */
export function chunkerOf(key: string): Chunker | undefined {
  return chunkers.find((chunker) => chunker.key === key);
}

/** Whether another process can split with it: it is built in and needs nothing but the text. */
export function isPlain(chunker: Chunker): boolean {
  return plainChunkers.some((plain) => plain === chunker);
}

/** Splits a document with a chunker for which `isPlain` holds. */
export function splitAlone(key: string, document: Document, options: ChunkerOptions): Iterable<Chunk> {
  const chunker = plainChunkers.find((plain) => plain.key === key);
  if (chunker === undefined) throw new Error(`No plain chunker has the key ${key}.`);
  return chunker.chunk(document, options);
}

/** The chunker of a document whose request and knowledge base name none. Undefined: the document is a chunk already. */
export function defaultChunker(reader: ReaderDescription, document: Document): Chunker | undefined {
  const { path } = document.metadata;
  // a file in an archive or a message is split as if it had been added alone
  const own =
    typeof path === 'string' ? chooseReader(readerTable, { name: path, mediaType: undefined }) : undefined;
  const key = (own ?? reader).defaultChunker;
  return key === undefined ? undefined : chunkerOf(key);
}

/** What `/knowledge/config` shows as the parameters of a chunker: clients fill their forms with it. */
export function shownDefaults({ defaults }: Chunker): Record<string, number> {
  const { chunkSize, chunkOverlap } = defaults;
  return {
    ...(chunkSize !== undefined && { chunk_size: chunkSize }),
    ...(chunkOverlap !== undefined && { chunk_overlap: chunkOverlap }),
  };
}

const largestChunk = 1_000_000;

/** What is wrong with the parameters of a chunker; undefined when they are fine. */
export function checkChunkerOptions(chunker: Chunker, options: ChunkerOptions): string | undefined {
  const size = options.chunkSize ?? chunker.defaults.chunkSize;
  const { chunkOverlap: overlap = 0 } = options;
  if (size !== undefined && (!Number.isInteger(size) || size < 1 || size > largestChunk))
    return `chunk_size must be an integer from 1 to ${largestChunk}`;
  if (!Number.isInteger(overlap) || overlap < 0) return 'chunk_overlap must be an integer of at least 0';
  if (size !== undefined && overlap >= size) return 'chunk_overlap must be less than chunk_size';
  return undefined;
}
