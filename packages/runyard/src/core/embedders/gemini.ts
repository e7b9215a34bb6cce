import { isJsonObject, type JsonObject } from '../json.js';
import { modelName, modelPath } from '../models/gemini/model-path.js';
import { count } from '../models/provider/answer/usage.js';
import { google } from '../models/providers.js';
import type { SentBatch } from './batched-embedder.js';
import type { Embedder } from './embedder.js';
import { type EmbedderOptions, providerEmbedder } from './provider-embedder.js';

const taskTypes = { query: 'RETRIEVAL_QUERY', document: 'RETRIEVAL_DOCUMENT' };

/** Models from `gemini-embedding-2` on read the task from the text and ignore its type. */
const prefixes = { query: 'task: search result | query: ', document: 'title: none | text: ' };

/** An embedding model of Google, by its batchEmbedContents. */
export function geminiEmbedder(options: EmbedderOptions): Embedder {
  return providerEmbedder('geminiEmbedder()', options, ({ id, dimensions, parameters }) => {
    const model = modelName(id);
    const takesTaskType = /\/(?:text-)?embedding-|\/gemini-embedding-(?:001|exp)/.test(model);
    return {
      known: google,
      path: `/${modelPath(id)}:batchEmbedContents`,
      keyHeader: 'x-goog-api-key',
      maxBatch: 100,
      ...(!takesTaskType && { prefixes }),
      body: (texts, purpose) => ({
        requests: texts.map((text) => ({
          model,
          content: { parts: [{ text }] },
          ...(takesTaskType && { taskType: taskTypes[purpose] }),
          ...(dimensions !== undefined && { outputDimensionality: dimensions }),
          ...parameters,
        })),
      }),
      read,
    };
  });
}

function read({ embeddings, usageMetadata }: JsonObject): SentBatch {
  const vectorOf = (entry: unknown) => (isJsonObject(entry) ? entry.values : undefined);
  return {
    vectors: Array.isArray(embeddings) ? embeddings.map(vectorOf) : undefined,
    tokens: isJsonObject(usageMetadata) ? count(usageMetadata.promptTokenCount) : 0,
  };
}
