import { type EmbedderLike, embedder as embedderKind, resolveEmbedder } from '../../embedders/resolve.js';
import { checkOptions } from '../../options/check-options.js';
import { amount, name, objectOf, required } from '../../options/kinds.js';
import type { Scorer } from '../scorer.js';

export interface SimilarityOptions {
  /** Default `similarity`. */
  readonly name?: string;
  /** An embedder, or the name of one such as `offline` or `openai:text-embedding-3-small`. */
  readonly embedder: EmbedderLike;
  /** The least similarity, 0 to 1, with which a run passes. Default 0.8. */
  readonly threshold?: number;
}

const similarityOptions = objectOf<SimilarityOptions>({
  name,
  embedder: required(embedderKind),
  threshold: amount('a number from 0 to 1', (value) => value >= 0 && value <= 1),
});

/** How much of a text is embedded: more than models take. */
const longestText = 100_000;

/** How near the output is to the expected output, by the cosine of their embeddings. */
export function similarity(options: SimilarityOptions): Scorer {
  checkOptions('similarity()', options, similarityOptions);
  const { name: called = 'similarity', threshold = 0.8 } = options;
  const embedder = resolveEmbedder(options.embedder);
  return {
    name: called,
    async score({ case: of, run }, { signal, callApplication }) {
      if (of.expectedOutput === undefined) throw new Error(`the case '${of.id}' has no expected output.`);
      if (run.output.trim() === '')
        return { score: 0, passed: threshold === 0, reason: 'The output is empty.' };
      const texts = [of.expectedOutput, run.output].map((text) => text.slice(0, longestText));
      const { vectors } = await callApplication(called, () => embedder.embed(texts, { signal }));
      const score = cosine(vectors[0] ?? new Float32Array(), vectors[1] ?? new Float32Array());
      return { score, passed: score >= threshold };
    },
  };
}

function cosine(left: Float32Array, right: Float32Array): number {
  let [product, ofLeft, ofRight] = [0, 0, 0];
  for (const [place, value] of left.entries()) {
    const other = right[place] ?? 0;
    product += value * other;
    ofLeft += value * value;
    ofRight += other * other;
  }
  const norm = Math.sqrt(ofLeft * ofRight);
  // rounding must not keep a text from being like itself
  return norm === 0 ? 0 : Math.min(1, Math.round((product / norm) * 1e6) / 1e6);
}
