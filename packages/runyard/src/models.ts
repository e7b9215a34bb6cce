/**
 * `runyard/models`: adapters of models, embedders and rerankers as objects. Most agents name a model in a string and
 * need none of this.
 */

export type { AiSdkEmbedderOptions } from './core/embedders/ai-sdk.js';
export { aiSdkEmbedder } from './core/embedders/ai-sdk.js';
export type { AiSdkEmbeddingModel } from './core/embedders/ai-sdk-model.js';
export { cohereEmbedder } from './core/embedders/cohere.js';
export { geminiEmbedder } from './core/embedders/gemini.js';
export { type OfflineEmbedderOptions, offlineEmbedder } from './core/embedders/offline.js';
export { openAIEmbedder } from './core/embedders/openai.js';
export type { EmbedderOptions } from './core/embedders/provider-embedder.js';
export { type EmbedderLike, resolveEmbedder } from './core/embedders/resolve.js';
export { voyageEmbedder } from './core/embedders/voyage.js';
export { aiSdkModel } from './core/models/ai-sdk/ai-sdk.js';
export type { AiSdkLanguageModel } from './core/models/ai-sdk/types.js';
export { type AnthropicOptions, anthropic } from './core/models/anthropic/anthropic.js';
export { type GeminiOptions, gemini } from './core/models/gemini/gemini.js';
export { offlineModel } from './core/models/offline/offline.js';
export { openAICompatible } from './core/models/openai-compatible/openai-compatible.js';
export {
  type OpenAIResponsesOptions,
  openAIResponses,
} from './core/models/openai-responses/openai-responses.js';
export {
  cohereReranker,
  jinaReranker,
  type RerankerOptions,
  voyageReranker,
} from './core/rerankers/provider-reranker.js';
export { type RerankerLike, resolveReranker } from './core/rerankers/resolve.js';
export { sentenceEmbedder } from './platform/embedders/sentence.js';
