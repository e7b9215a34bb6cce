import { BatchedEmbedder } from '../../core/embedders/batched-embedder.js';
import type { Embedder } from '../../core/embedders/embedder.js';
import { ModelError } from '../../core/models/model-error.js';
import { sentencePackages, sentenceProvider } from './sentence-packages.js';

const dimensions = 512;
/** A thousand characters take about 0.3 seconds, and a batch is not interrupted. */
const batches = { dimensions, maxBatch: 16, maxBatchBytes: 4_000, maxParallel: 1 };
const longestText = 20_000;
const identity = { id: 'universal-sentence-encoder-lite', provider: sentenceProvider };

let model: Promise<import('./sentence-model.js').SentenceModel> | undefined;

/**
 * The embedder with a model of sentences (English) that is installed as a package: it works without a key and without a
 * network, in a thread of its own. All embedders of a process share the thread.
 */
export function sentenceEmbedder(): Embedder {
  return new BatchedEmbedder(identity, batches, async (texts, _, signal) => {
    const tooLong = texts.find((text) => text.length > longestText);
    if (tooLong !== undefined)
      throw new ModelError(
        `The sentence model takes texts of at most ${longestText} characters, and one has ${tooLong.length}. Use smaller chunks.`,
        { provider: sentenceProvider, kind: 'refused' },
      );
    model ??= import('./sentence-model.js').then(({ SentenceModel }) => new SentenceModel(sentencePackages));
    const vectors = await (await model).embed(texts, signal);
    const length = texts.reduce((sum, text) => sum + text.length, 0);
    return { vectors, tokens: Math.ceil(length / 4) };
  });
}
