import { isJsonObject, type JsonObject } from '../../json.js';
import { checkOptions } from '../../options/check-options.js';
import { flag, json, name, objectOf, required, secret, word } from '../../options/kinds.js';
import type { Model } from '../model.js';
import { type ConnectionOptions, connectionShape } from '../provider/call/connection-options.js';
import { endpoint } from '../provider/call/endpoint.js';
import { callIdsOf } from '../provider/conversation.js';
import { ProviderModel } from '../provider/provider-model.js';
import { isOpenAIs } from '../providers.js';
import { openAIRequestBody } from './openai-request.js';
import { OpenAIAnswer } from './openai-response.js';

export interface OpenAICompatibleOptions extends ConnectionOptions {
  /** The provider's name for the model. */
  readonly id: string;
  /** Where `/chat/completions` is, e.g. `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  /** Who serves it, as shown in listings and errors. */
  readonly provider?: string;
  /** Sent along with every request: `temperature`, `max_tokens`, `reasoning_effort` … */
  readonly parameters?: JsonObject;
  /** `prompted` for servers that do not know `response_format: json_schema`. */
  readonly structuredOutput?: 'native' | 'prompted';
  /** For models that want to see their reasoning again while they call tools, as DeepSeek's. Default off. */
  readonly sendReasoning?: boolean;
}

const openAICompatibleOptions = objectOf<OpenAICompatibleOptions>({
  ...connectionShape,
  id: required(name),
  apiKey: secret,
  baseUrl: required(name),
  provider: name,
  parameters: json,
  structuredOutput: word('native', 'prompted'),
  sendReasoning: flag,
});

/** A model behind any server that speaks OpenAI's chat completions. */
export function openAICompatible(options: OpenAICompatibleOptions): Model {
  checkOptions('openAICompatible()', options, openAICompatibleOptions);
  const {
    id,
    provider = 'OpenAI-compatible server',
    structuredOutput = 'native',
    parameters = {},
    sendReasoning = false,
  } = options;
  const apiKey = options.apiKey?.trim() ?? '';
  const url = endpoint(options.baseUrl, '/chat/completions');
  const owner = { protocol: `chat-completions:${provider}`, model: id };
  const callIds = callIdsOf(
    `${provider} ${id}`,
    isOpenAIs(options.baseUrl) || provider === 'Azure' ? 40 : undefined,
  );
  const written = { id, provider, structuredOutput, parameters, sendReasoning, callIds };
  const signed = { ...written, owner };
  const { audio } = parameters;
  const audioFormat = isJsonObject(audio) ? String(audio.format) : 'wav';
  return new ProviderModel(
    { id, provider, name: 'OpenAICompatible', capabilities: { structuredOutput, tools: true }, parameters },
    {
      url: () => url,
      headers: apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` },
      secrets: [apiKey],
      body: (request, { stream, unsigned }) =>
        openAIRequestBody(request, unsigned ? written : signed, stream),
      answer: (_request, fail) => new OpenAIAnswer({ owner, fail, audioFormat }),
      lacks: ({ choices }) => (Array.isArray(choices) && isJsonObject(choices[0]) ? undefined : 'choices'),
      textOpening: '"content":"',
    },
    options,
  );
}
