import { createHash } from 'node:crypto';
import type { Embedder } from '../../../core/embedders/embedder.js';
import type { EmbeddingStore } from './embeddings-store.js';

/** `provider:id`: with the length of the vectors, what contents are embedded with. */
export function embedderName({ provider, id }: Pick<Embedder, 'provider' | 'id'>): string {
  return `${provider}:${id}`;
}

export interface EmbeddedTexts {
  /** In the order of the texts. */
  readonly vectors: readonly Float32Array[];
  /** Of the texts that were not embedded before. */
  readonly inputTokens: number;
}

/** The vectors of texts. One that the same embedder has made before is not paid for again. */
export async function embedOnce(
  embedder: Embedder,
  store: EmbeddingStore,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<EmbeddedTexts> {
  const isFree = embedderName(embedder) === 'Runyard:offline';
  const hashes = texts.map((text) => hashOf(embedder, text));
  // to compute the vectors of the offline embedder takes less than to look them up
  const known = isFree ? new Map<string, Float32Array>() : await store.get([...new Set(hashes)]);
  const missing = new Map<string, string>();
  // there is one for each text
  for (const [position, hash] of hashes.entries()) if (!known.has(hash)) missing.set(hash, texts[position]!);
  let inputTokens = 0;
  if (missing.size > 0) {
    const { vectors, usage } = await embedder.embed([...missing.values()], { purpose: 'document', signal });
    inputTokens = usage.inputTokens;
    // an embedder is checked for one vector of each text
    const made = new Map([...missing.keys()].map((hash, position) => [hash, vectors[position]!]));
    if (!isFree) await store.put(made);
    for (const [hash, vector] of made) known.set(hash, vector);
  }
  // each hash was known or is made
  return { vectors: hashes.map((hash) => known.get(hash)!), inputTokens };
}

function hashOf(embedder: Embedder, text: string): string {
  const { dimensions = '' } = embedder;
  return createHash('sha256')
    .update(`${embedderName(embedder)}\n${dimensions}\n`)
    .update(text)
    .digest('hex');
}
