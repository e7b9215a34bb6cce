import type { Embedder, Embeddings, EmbedOptions } from './embedder.js';

/** An embedder that is made with its first call. */
export class LazyEmbedder implements Embedder {
  readonly id: string;
  readonly provider: string;
  readonly dimensions?: number;
  readonly #load: () => Promise<Embedder>;
  #loaded: Embedder | undefined;

  constructor({ id, provider, dimensions }: Omit<Embedder, 'embed'>, load: () => Promise<Embedder>) {
    this.id = id;
    this.provider = provider;
    if (dimensions !== undefined) this.dimensions = dimensions;
    this.#load = load;
  }

  async embed(texts: readonly string[], options?: EmbedOptions): Promise<Embeddings> {
    this.#loaded ??= await this.#load();
    return this.#loaded.embed(texts, options);
  }
}
