/** `runyard/models`: model adapters as objects. Most agents name a model in a string and need none of this. */

export type { AiSdkLanguageModel } from './core/models/ai-sdk/types.js';
export { aiSdkModel } from './core/models/ai-sdk.js';
export { type AnthropicOptions, anthropic } from './core/models/anthropic.js';
export { type GeminiOptions, gemini } from './core/models/gemini.js';
export { offlineModel } from './core/models/offline.js';
export { openAICompatible } from './core/models/openai-compatible.js';
export { type OpenAIResponsesOptions, openAIResponses } from './core/models/openai-responses.js';
