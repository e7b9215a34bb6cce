import type { JsonObject } from '../../json.js';
import { checkOptions } from '../../options/check-options.js';
import { anyOf, count, json, kind, name, objectOf, required, secret, word } from '../../options/kinds.js';
import type { Model } from '../model.js';
import { ApiKey } from '../provider/call/api-key.js';
import { type ConnectionOptions, connectionShape } from '../provider/call/connection-options.js';
import { endpoint } from '../provider/call/endpoint.js';
import { ProviderModel } from '../provider/provider-model.js';
import { reasonsByDefault } from '../provider/reasoning-models.js';
import { ResponsesAnswer } from './answer.js';
import { responsesBody } from './request.js';

export interface OpenAIResponsesOptions extends ConnectionOptions {
  /** OpenAI's name for the model, e.g. `gpt-6.1-terra`. */
  readonly id: string;
  /** Default: the variable OPENAI_API_KEY. */
  readonly apiKey?: string;
  /** Where `/responses` is. Default `https://api.openai.com/v1`. */
  readonly baseUrl?: string;
  readonly provider?: string;
  /** The longest answer, reasoning included. Default: the model's own. */
  readonly maxTokens?: number;
  /**
   * How much the model reasons, and whether it shows a summary of it. `false` says that the model does not reason
   * at all; left out, its name decides.
   */
  readonly reasoning?:
    | false
    | {
        readonly effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';
        readonly summary?: 'auto' | 'concise' | 'detailed';
      };
  /** Sent along with every request: `temperature`, `service_tier`, `prompt_cache_key`, `tools` of OpenAI's own … */
  readonly parameters?: JsonObject;
}

const never = kind('false', (value) => value === false);
const reasoning = objectOf<Exclude<OpenAIResponsesOptions['reasoning'], false | undefined>>({
  effort: word('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
  summary: word('auto', 'concise', 'detailed'),
});

const openAIResponsesOptions = objectOf<OpenAIResponsesOptions>({
  ...connectionShape,
  id: required(name),
  apiKey: secret,
  baseUrl: name,
  provider: name,
  maxTokens: count(1),
  reasoning: { ...anyOf(never, reasoning), allowed: 'false or an object' },
  parameters: json,
});

/** A model behind OpenAI's Responses API. Nothing is stored there: what was said travels with each request. */
export function openAIResponses(options: OpenAIResponsesOptions): Model {
  checkOptions('openAIResponses()', options, openAIResponsesOptions);
  const { id, provider = 'OpenAI', parameters = {}, maxTokens } = options;
  const key = new ApiKey(provider, options, ['OPENAI_API_KEY']);
  const url = endpoint(options.baseUrl ?? 'https://api.openai.com/v1', '/responses');
  const reasons =
    options.reasoning === undefined ? reasonsByDefault('responses', id) : options.reasoning !== false;
  const settings = {
    id,
    provider,
    parameters,
    maxTokens,
    reasons,
    reasoning: options.reasoning || undefined,
  };
  return new ProviderModel(
    {
      id,
      provider,
      name: 'OpenAIResponses',
      capabilities: { structuredOutput: 'native', tools: true, reasoning: reasons },
      parameters: { ...parameters, ...(maxTokens !== undefined && { max_output_tokens: maxTokens }) },
    },
    {
      url: () => url,
      headers: key.value === '' ? {} : { authorization: `Bearer ${key.value}` },
      secrets: [key.value],
      body: async (request, how) => {
        key.require();
        return responsesBody(request, settings, how);
      },
      answer: (_request, fail) => new ResponsesAnswer({ protocol: 'openai-responses', model: id }, fail),
      lacks: ({ output }) => (Array.isArray(output) ? undefined : 'output'),
    },
    options,
  );
}
