import type { JsonObject } from '../../json.js';
import { checkOptions } from '../../options/check-options.js';
import { count, flag, json, name, objectOf, required, secret, word } from '../../options/kinds.js';
import type { Model } from '../model.js';
import { ApiKey } from '../provider/call/api-key.js';
import { type ConnectionOptions, connectionShape } from '../provider/call/connection-options.js';
import { endpoint } from '../provider/call/endpoint.js';
import { ProviderModel } from '../provider/provider-model.js';
import { reasonsByDefault } from '../provider/reasoning-models.js';
import { GeminiAnswer } from './answer.js';
import { modelPath } from './model-path.js';
import { geminiBody } from './request.js';

export interface GeminiOptions extends ConnectionOptions {
  /** Google's name for the model, e.g. `gemini-3.8-flash`. */
  readonly id: string;
  /** Default: the variable GEMINI_API_KEY or GOOGLE_API_KEY. */
  readonly apiKey?: string;
  /** Where `/models` is. Default `https://generativelanguage.googleapis.com/v1beta`. */
  readonly baseUrl?: string;
  readonly provider?: string;
  /** The longest answer, thinking included. Default: the model's own. */
  readonly maxTokens?: number;
  /**
   * How much the model thinks: a level for Gemini 3 and later, a budget for Gemini 2.5. Given, the answer shows a
   * summary of the thoughts.
   */
  readonly thinking?: {
    readonly level?: 'minimal' | 'low' | 'medium' | 'high';
    /** 0 turns thinking off where the model allows it, -1 leaves the amount to the model. */
    readonly budgetTokens?: number;
    readonly includeThoughts?: boolean;
  };
  /** Sent as `generationConfig`: `temperature`, `topP`, `seed`, `responseModalities` … */
  readonly parameters?: JsonObject;
  /** Further fields of the request: `safetySettings`, `cachedContent`, `tools` of Google's own … */
  readonly extraBody?: JsonObject;
}

const geminiOptions = objectOf<GeminiOptions>({
  ...connectionShape,
  id: required(name),
  apiKey: secret,
  baseUrl: name,
  provider: name,
  maxTokens: count(1),
  thinking: objectOf<NonNullable<GeminiOptions['thinking']>>({
    level: word('minimal', 'low', 'medium', 'high'),
    budgetTokens: count(-1),
    includeThoughts: flag,
  }),
  parameters: json,
  extraBody: json,
});

/** A Gemini model behind Google's generateContent. */
export function gemini(options: GeminiOptions): Model {
  checkOptions('gemini()', options, geminiOptions);
  const { id, provider = 'Google', parameters = {}, extraBody = {}, thinking, maxTokens } = options;
  const key = new ApiKey(provider, options, ['GEMINI_API_KEY', 'GOOGLE_API_KEY']);
  const base = options.baseUrl ?? 'https://generativelanguage.googleapis.com/v1beta';
  const path = `/${modelPath(id)}`;
  const whole = endpoint(base, `${path}:generateContent`);
  const streamed = endpoint(base, `${path}:streamGenerateContent`, { alt: 'sse' });
  const settings = { id, provider, parameters, extraBody, thinking, maxTokens };
  const reasoning = thinking ? thinking.budgetTokens !== 0 : reasonsByDefault('gemini', id);
  return new ProviderModel(
    {
      id,
      provider,
      name: 'Gemini',
      capabilities: { structuredOutput: 'native', tools: true, reasoning },
      parameters: { ...parameters, ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }) },
    },
    {
      url: (stream) => (stream ? streamed : whole),
      headers: key.value === '' ? {} : { 'x-goog-api-key': key.value },
      secrets: [key.value],
      body: async (request, options) => {
        key.require();
        return geminiBody(request, settings, options);
      },
      answer: () => new GeminiAnswer({ protocol: 'gemini', model: id }, provider),
      lacks: ({ candidates, promptFeedback }) =>
        Array.isArray(candidates) || promptFeedback ? undefined : 'candidates',
    },
    options,
  );
}
