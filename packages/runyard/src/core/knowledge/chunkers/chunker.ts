import type { Embedder } from '../../embedders/embedder.js';
import type { Model } from '../../models/model.js';
import type { Chunk, Document } from '../document.js';

/** The parameters of a chunker: those of the request, over those of the knowledge base, over its own defaults. */
export interface ChunkerOptions {
  /** Default 5000 characters, or what the chunker says. */
  readonly chunkSize?: number;
  /** Default 0. Less than the size. */
  readonly chunkOverlap?: number;
}

/** What a chunker may use beside the text. */
export interface ChunkerTools {
  readonly signal: AbortSignal;
  /** For chunkers that compare meanings. */
  readonly embedder: Embedder;
  /** For chunkers that ask a model; undefined when the knowledge base has no model. */
  readonly model: Model | undefined;
}

/** A chunker that needs nothing but the text: it can work anywhere. */
export interface PlainChunker extends Omit<Chunker, 'chunk'> {
  chunk(document: Document, options: ChunkerOptions): Iterable<Chunk>;
}

/** Splits documents into chunks. It holds no state: parameters come with each call. */
export interface Chunker {
  /** As requests name it: `FixedSizeChunker`. */
  readonly key: string;
  readonly name: string;
  readonly description: string;
  /** The parameters that it understands, with their defaults. */
  readonly defaults: ChunkerOptions;
  chunk(
    document: Document,
    options: ChunkerOptions,
    tools: ChunkerTools,
  ): Iterable<Chunk> | AsyncIterable<Chunk>;
}
