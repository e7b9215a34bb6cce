import type { Chunker, ChunkerOptions, ChunkerTools } from '../../core/knowledge/chunkers/chunker.js';
import { isPlain } from '../../core/knowledge/chunkers/chunkers.js';
import type { Chunk, Document } from '../../core/knowledge/document.js';
import {
  ContentUnreadable,
  type ReadableContent,
  type Reader,
  type ReadOptions,
} from '../../core/knowledge/readers/reader.js';
import { type ReaderDescription, readerTable } from '../../core/knowledge/readers/reader-table.js';
import { readText } from '../../core/knowledge/readers/text-reader.js';
import { type DocumentLimits, defaultLimits } from './limits.js';
import { ParsingProcesses } from './parsing-processes.js';

export interface DocumentsOptions {
  readonly limits?: Partial<DocumentLimits>;
}

/** Reads contents. What strangers wrote and a library parses is read in a process of its own, within bounds. */
export interface Documents {
  /** The built-in readers. Those of the application come before them: `chooseReader([...own, ...readers], …)`. */
  readonly readers: readonly Reader[];
  /**
   * The documents of a content, as its reader makes them. Throws `ContentUnreadable`, also when there are none; an error
   * of the bytes themselves is thrown as it is.
   */
  read(reader: Reader, content: ReadableContent, options: ReadOptions): AsyncIterable<Document>;
  /** The chunks of a document. Work of others has its turn in between; a long text is split in another process. */
  split(
    chunker: Chunker,
    document: Document,
    options: ChunkerOptions,
    tools: ChunkerTools,
  ): AsyncIterable<Chunk>;
  /** Ends the processes. Contents that are being read fail. */
  close(): Promise<void>;
}

/** A longer text could keep the thread of the service busy for longer than streams beside it may wait. */
const longestHere = 32_768;
/** After so long, everything else that waits for this thread has its turn. */
const turnMs = 20;

const plainReaders = new Set(['text', 'markdown', 'code']);

/** Starts nothing: the first content that needs a process does. */
export function openDocuments({ limits }: DocumentsOptions = {}): Documents {
  const processes = new ParsingProcesses({ ...defaultLimits, ...limits });
  const readerOf = (description: ReaderDescription): Reader => ({
    ...description,
    read: (content, options) =>
      plainReaders.has(description.id)
        ? readText(content)
        : processes.parse(description.id, content, options),
  });
  return {
    readers: readerTable.map(readerOf),
    read: readWhole,
    split: (chunker, document, options, tools) => {
      const isLong = document.content.length > longestHere;
      return inTurns(
        isLong && isPlain(chunker)
          ? processes.split({ kind: 'split', chunker: chunker.key, options, document }, tools.signal)
          : chunker.chunk(document, options, tools),
      );
    },
    close: () => processes.close(),
  };
}

async function* readWhole(
  reader: Reader,
  content: ReadableContent,
  options: ReadOptions,
): AsyncIterable<Document> {
  let empty = true;
  for await (const document of reader.read(content, options)) {
    options.signal.throwIfAborted();
    if (document.content.trim() === '') continue;
    empty = false;
    yield document;
  }
  if (empty) throw new ContentUnreadable();
}

async function* inTurns<T>(items: Iterable<T> | AsyncIterable<T>): AsyncIterable<T> {
  let began = performance.now();
  for await (const item of items) {
    if (performance.now() - began > turnMs) {
      await new Promise((resolve) => setImmediate(resolve));
      began = performance.now();
    }
    yield item;
  }
}
