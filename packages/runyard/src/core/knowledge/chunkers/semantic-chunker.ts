import type { Chunker, ChunkerTools } from './chunker.js';
import { collapsed, numberedLater, shortSentences } from './pieces.js';

/** Sentences less similar than this to those before them begin a new chunk. */
const threshold = 0.5;
/** How many of the last sentences a sentence is compared with. */
const windowSize = 3;
/** Sentences that are embedded in one call. */
const batchSize = 64;
const charactersPerToken = 4;

export const semanticChunker: Chunker = {
  key: 'SemanticChunker',
  name: 'SemanticChunker',
  description: 'Joins sentences of similar meaning, by their embeddings, up to a number of tokens',
  defaults: { chunkSize: 5000 },
  chunk: (document, { chunkSize = 5000 }, tools) =>
    numberedLater(
      document,
      similarPieces(collapsed(document.content), chunkSize * charactersPerToken, tools),
    ),
};

async function* similarPieces(text: string, size: number, tools: ChunkerTools): AsyncIterable<string> {
  let piece: string[] = [];
  let length = 0;
  let recent: Float32Array[] = [];
  for await (const { sentence, vector } of embedded(shortSentences(text, size), tools)) {
    const fits = length + sentence.length <= size;
    if (piece.length > 0 && (!fits || similarity(meanOf(recent), vector) < threshold)) {
      yield piece.join(' ');
      piece = [];
      length = 0;
      recent = [];
    }
    piece.push(sentence);
    length += sentence.length + 1;
    recent = [...recent, vector].slice(-windowSize);
  }
  if (piece.length > 0) yield piece.join(' ');
}

async function* embedded(sentences: Iterable<string>, { embedder, signal }: ChunkerTools) {
  for (const batch of batches(sentences)) {
    signal.throwIfAborted();
    const { vectors } = await embedder.embed(batch, { signal });
    for (const [index, sentence] of batch.entries()) {
      const vector = vectors[index];
      if (vector === undefined) throw new Error('The embedder returned fewer vectors than texts.');
      yield { sentence, vector };
    }
  }
}

function* batches(sentences: Iterable<string>): Iterable<string[]> {
  let batch: string[] = [];
  for (const sentence of sentences) {
    if (batch.push(sentence) < batchSize) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function meanOf(vectors: readonly Float32Array[]): Float32Array {
  const mean = new Float32Array(vectors[0]?.length ?? 0);
  for (const vector of vectors)
    for (let index = 0; index < mean.length; index++) mean[index] = (mean[index] ?? 0) + (vector[index] ?? 0);
  return mean;
}

function similarity(a: Float32Array, b: Float32Array): number {
  let [product, lengthA, lengthB] = [0, 0, 0];
  for (let index = 0; index < a.length; index++) {
    const value = a[index] ?? 0;
    const other = b[index] ?? 0;
    product += value * other;
    lengthA += value * value;
    lengthB += other * other;
  }
  return lengthA === 0 || lengthB === 0 ? 0 : product / Math.sqrt(lengthA * lengthB);
}
