import { parentPort, workerData } from 'node:worker_threads';
import { thrownError } from '../../core/errors/thrown-error.js';
import type { SentencePackages } from './sentence-packages.js';

/*
 * The thread of the sentence model. It loads the model with its first texts, and computes the vectors of one batch after
 * the other.
 */

export type ToThread = readonly string[];
export type FromThread = { readonly vectors: readonly Float32Array[] } | { readonly failed: string };

/** What is used of the packages, which have no types here. */
interface Loaded {
  initModel(source: unknown): Promise<{ embed(texts: readonly string[]): Promise<readonly number[][]> }>;
  modelSource: unknown;
}

// what `SentenceModel` gives
const { embeddings, weights } = workerData as SentencePackages;
let model: ReturnType<Loaded['initModel']> | undefined;

parentPort?.on('message', (texts: ToThread) => {
  void answer(texts).then((message) => parentPort?.postMessage(message));
});

async function answer(texts: ToThread): Promise<FromThread> {
  try {
    model ??= load();
    const vectors = await (await model).embed(texts);
    return { vectors: vectors.map((vector) => Float32Array.from(vector)) };
  } catch (error) {
    return { failed: thrownError(error).message };
  }
}

async function load(): ReturnType<Loaded['initModel']> {
  const [{ initModel }, { modelSource }] = await Promise.all([exportsOf(embeddings), exportsOf(weights)]);
  return initModel(modelSource);
}

/** Both are CommonJS: what Node finds no names in is the default export. */
async function exportsOf(address: string): Promise<Loaded> {
  const loaded = await import(address);
  return { ...loaded.default, ...loaded };
}
