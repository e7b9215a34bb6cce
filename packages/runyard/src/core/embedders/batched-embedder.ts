import { mapConcurrently } from '../async/concurrency.js';
import { thrownError } from '../errors/thrown-error.js';
import { ModelError } from '../models/model-error.js';
import { usageOf } from '../models/provider/answer/usage.js';
import { checkOptions, checkValue } from '../options/check-options.js';
import type { Shape } from '../options/kind.js';
import { count, listOf, name, objectOf, signal, text, word } from '../options/kinds.js';
import type { Embedder, EmbeddingPurpose, Embeddings, EmbedOptions } from './embedder.js';
import { readVector } from './vectors.js';
import { wellFormed } from './well-formed.js';

/** What is sent with each text and how many of them at once, the same for every embedder. */
export interface BatchOptions {
  /** The length of the vectors: requested where the provider offers a choice, and checked. Default: the model's own. */
  readonly dimensions?: number;
  /** What is put before each text, for models that distinguish queries and documents by it. */
  readonly prefixes?: { readonly query?: string; readonly document?: string };
  /** The most texts in one request. Default 128, or what the provider allows. */
  readonly maxBatch?: number;
  /** The most bytes of text in one request. Default 300,000, about 100,000 tokens. */
  readonly maxBatchBytes?: number;
  /** The most requests at a time. Default 4. */
  readonly maxParallel?: number;
}

export const batchShape: Shape<BatchOptions> = {
  dimensions: count(1),
  prefixes: objectOf<NonNullable<BatchOptions['prefixes']>>({ query: text, document: text }),
  maxBatch: count(1),
  maxBatchBytes: count(1),
  maxParallel: count(1),
};

const embedOptions = objectOf<EmbedOptions>({ purpose: word('query', 'document'), signal });

/** What a provider sent for one batch, not checked yet. */
export interface SentBatch {
  /** A list of one vector for each text, in order. */
  readonly vectors: unknown;
  readonly tokens: number;
}

/** One request to a provider. */
export type EmbedBatch = (
  texts: readonly string[],
  purpose: EmbeddingPurpose,
  signal: AbortSignal,
) => Promise<SentBatch>;

/** An embedder that sends its texts in batches, several at a time, and checks the vectors that it receives. */
export class BatchedEmbedder implements Embedder {
  readonly id: string;
  readonly provider: string;
  readonly dimensions?: number;
  readonly #options: BatchOptions;
  readonly #embedBatch: EmbedBatch;

  constructor(
    { id, provider }: Pick<Embedder, 'id' | 'provider'>,
    options: BatchOptions,
    embedBatch: EmbedBatch,
  ) {
    this.id = id;
    this.provider = provider;
    if (options.dimensions !== undefined) this.dimensions = options.dimensions;
    this.#options = options;
    this.#embedBatch = embedBatch;
  }

  async embed(texts: readonly string[], options: EmbedOptions = {}): Promise<Embeddings> {
    checkOptions('embed()', options, embedOptions);
    checkValue('embed()', 'texts', texts, listOf(name));
    const { purpose = 'document', signal: outer } = options;
    const { prefixes, maxParallel = 4 } = this.#options;
    const sent = texts.map((one) => wellFormed((prefixes?.[purpose] ?? '') + one));
    const stop = new AbortController();
    const onAbort = () => stop.abort(outer?.reason);
    outer?.throwIfAborted();
    outer?.addEventListener('abort', onAbort, { once: true });
    const batches = new Batches(sent, this.provider, this.#options, (batch) =>
      this.#embedBatch(batch, purpose, stop.signal),
    );
    try {
      await batches.send(maxParallel);
    } catch (error) {
      // the requests in flight are no longer of use
      stop.abort(error);
      throw error;
    } finally {
      outer?.removeEventListener('abort', onAbort);
    }
    const { vectors, tokens } = batches;
    return { vectors, usage: usageOf({ inputTokens: tokens, outputTokens: 0 }) };
  }
}

/** The texts of one call, in batches that providers accept. */
class Batches {
  readonly vectors: Float32Array[] = [];
  tokens = 0;
  readonly #texts: readonly string[];
  readonly #provider: string;
  readonly #options: BatchOptions;
  readonly #send: (texts: readonly string[]) => Promise<SentBatch>;
  #maxBytes: number;
  #length: number | undefined;

  constructor(
    texts: readonly string[],
    provider: string,
    options: BatchOptions,
    send: (texts: readonly string[]) => Promise<SentBatch>,
  ) {
    this.#texts = texts;
    this.#provider = provider;
    this.#options = options;
    this.#send = send;
    this.#maxBytes = options.maxBatchBytes ?? 300_000;
    this.#length = options.dimensions;
  }

  async send(maxParallel: number): Promise<void> {
    await mapConcurrently(maxParallel, this.#batches(), ([start, end]) => this.#embed(start, end));
  }

  /** Where each batch starts and ends: known when it is sent, because a batch that is too large shrinks the rest. */
  *#batches(): Generator<[number, number]> {
    for (let start = 0; start < this.#texts.length; ) {
      const end = this.#endOfBatch(start);
      yield [start, end];
      start = end;
    }
  }

  #endOfBatch(start: number): number {
    const last = Math.min(this.#texts.length, start + (this.#options.maxBatch ?? 128));
    let bytes = 0;
    for (const [at, text] of this.#texts.slice(start, last).entries()) {
      bytes += Buffer.byteLength(text);
      if (bytes > this.#maxBytes && at > 0) return start + at;
    }
    return last;
  }

  async #embed(start: number, end: number): Promise<void> {
    const texts = this.#texts.slice(start, end);
    try {
      this.#accept(start, texts.length, await this.#send(texts));
    } catch (error) {
      if (texts.length === 1 || !isTooLarge(error)) throw error;
      // later batches of this size would be rejected too
      const bytes = texts.reduce((sum, one) => sum + Buffer.byteLength(one), 0);
      this.#maxBytes = Math.min(this.#maxBytes, Math.ceil(bytes / 2));
      const middle = start + Math.ceil(texts.length / 2);
      await this.#embed(start, middle);
      await this.#embed(middle, end);
    }
  }

  #accept(start: number, texts: number, { vectors, tokens }: SentBatch): void {
    if (!Array.isArray(vectors)) throw this.#wrong('no list of vectors');
    if (vectors.length !== texts) throw this.#wrong(`${vectors.length} vectors for ${texts} texts`);
    for (const [position, sent] of vectors.entries()) {
      const vector = this.#vector(sent);
      this.#length ??= vector.length;
      if (vector.length !== this.#length) throw this.#wrongLength(vector.length);
      this.vectors[start + position] = vector;
    }
    this.tokens += tokens;
  }

  #vector(sent: unknown): Float32Array {
    try {
      return readVector(sent);
    } catch (error) {
      throw this.#wrong(thrownError(error).message);
    }
  }

  #wrongLength(length: number): ModelError {
    const advice = this.#options.dimensions ? ` Set dimensions to ${length}, or leave it out.` : '';
    return this.#wrong(`a vector of ${length} numbers where ${this.#length} were expected.${advice}`);
  }

  #wrong(what: string): ModelError {
    const provider = this.#provider;
    return new ModelError(`${provider} sent ${what}`, { provider, kind: 'protocol' });
  }
}

/** Providers bound the number of texts, of tokens or of bytes, and each says so in words of its own. */
function isTooLarge(error: unknown): boolean {
  if (!(error instanceof ModelError)) return false;
  const { status, message } = error;
  if (status === 429) return /too large/i.test(message);
  const words = /too (?:large|many|long|big)|\bmax|at most|exceed|larger than|\bbatch|\blimit/i;
  return status === 413 || ((status === 400 || status === 422) && words.test(message));
}
