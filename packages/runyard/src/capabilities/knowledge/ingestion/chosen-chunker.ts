import type { Chunker, ChunkerOptions } from '../../../core/knowledge/chunkers/chunker.js';
import { chunkers as builtIn, defaultChunker } from '../../../core/knowledge/chunkers/chunkers.js';
import type { Document } from '../../../core/knowledge/document.js';
import type { KnowledgeSettings } from '../../../core/knowledge/knowledge-settings.js';
import type { Reader } from '../../../core/knowledge/readers/reader.js';

export interface ChunkerChoice {
  /** The key of a chunker. */
  readonly chunker?: string | undefined;
  readonly chunkSize?: number | undefined;
  readonly chunkOverlap?: number | undefined;
}

/** What the documents of a content are split with. */
export interface Splitting {
  readonly options: ChunkerOptions;
  /** Undefined: the document is a chunk already. */
  chunkerFor(document: Document): Chunker | undefined;
}

/** The chunkers of a knowledge base: its own first. */
export function chunkersOf({ chunker }: Pick<KnowledgeSettings, 'chunker'>): readonly Chunker[] {
  return isChunker(chunker) ? [chunker, ...builtIn.filter(({ key }) => key !== chunker.key)] : builtIn;
}

/**
 * What a content is split with: what the request says, over what the knowledge base says, over what fits the reader.
 * The parameters are those of this one content.
 */
export function splittingOf(
  { chunker: own }: Pick<KnowledgeSettings, 'chunker'>,
  chunkers: readonly Chunker[],
  reader: Reader,
  choice: ChunkerChoice,
): Splitting {
  const ownKey = typeof own === 'string' ? own : own?.key;
  const ownOptions: ChunkerOptions = typeof own === 'object' && !isChunker(own) ? own : {};
  const key = choice.chunker ?? ownKey;
  const named = key === undefined ? undefined : chunkers.find((one) => one.key === key);
  const isOwn = key === ownKey;
  const chunkSize = choice.chunkSize ?? (isOwn ? ownOptions.chunkSize : undefined);
  const chunkOverlap = choice.chunkOverlap ?? (isOwn ? ownOptions.chunkOverlap : undefined);
  return {
    options: {
      ...(chunkSize !== undefined && { chunkSize }),
      ...(chunkOverlap !== undefined && { chunkOverlap }),
    },
    chunkerFor: (document) => named ?? defaultChunker(reader, document),
  };
}

function isChunker(value: KnowledgeSettings['chunker']): value is Chunker {
  return typeof value === 'object' && 'chunk' in value;
}
