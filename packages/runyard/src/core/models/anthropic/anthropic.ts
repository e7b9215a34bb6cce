import type { JsonObject } from '../../json.js';
import { checkOptions } from '../../options/check-options.js';
import { anyOf, count, flag, json, name, objectOf, required, secret, word } from '../../options/kinds.js';
import type { Model } from '../model.js';
import { ApiKey } from '../provider/call/api-key.js';
import { type ConnectionOptions, connectionShape } from '../provider/call/connection-options.js';
import { endpoint } from '../provider/call/endpoint.js';
import { ProviderModel } from '../provider/provider-model.js';
import { reasonsByDefault } from '../provider/reasoning-models.js';
import { AnthropicAnswer } from './answer.js';
import { freeMarks } from './cache.js';
import { answerToolName, anthropicBody } from './request.js';
import { budgetOf, checkBudget, thinkingOf, thinks } from './thinking.js';

export interface AnthropicOptions extends ConnectionOptions {
  /** Anthropic's name for the model, e.g. `claude-sonnet-5-5`. */
  readonly id: string;
  /** Default: the variable ANTHROPIC_API_KEY. */
  readonly apiKey?: string;
  /** Where `/messages` is. Default `https://api.anthropic.com/v1`. */
  readonly baseUrl?: string;
  readonly provider?: string;
  /** The longest answer, thinking included. Default 16384, or what older models can do. */
  readonly maxTokens?: number;
  /**
   * Whether the model thinks first. Newer models do by default and take `adaptive`; older ones take a budget.
   * Left out, the model's own default applies.
   */
  readonly thinking?: 'adaptive' | 'disabled' | { readonly budgetTokens: number };
  /** How much trouble the model takes over an answer, its thinking included. */
  readonly effort?: 'low' | 'medium' | 'high' | 'xhigh' | 'max';
  /**
   * Marks the tools, the system prompt and the conversation for Anthropic's prompt cache. Writing to it costs a
   * quarter more than plain input (twice as much for an hour), reading from it a tenth: worth it where the same
   * beginning is sent again within the time. Default off.
   */
  readonly cache?: boolean | '5m' | '1h';
  /**
   * `native` holds the model to a schema by the API itself; `tool` by a tool that it must answer with, for models
   * that are older than that. Default by the model.
   */
  readonly structuredOutput?: 'native' | 'tool';
  /** Sent along with every request: `temperature`, `metadata`, `tools` of Anthropic's own … */
  readonly parameters?: JsonObject;
}

const anthropicOptions = objectOf<AnthropicOptions>({
  ...connectionShape,
  id: required(name),
  apiKey: secret,
  baseUrl: name,
  provider: name,
  maxTokens: count(1),
  thinking: anyOf(word('adaptive', 'disabled'), objectOf({ budgetTokens: required(count(1)) })),
  effort: word('low', 'medium', 'high', 'xhigh', 'max'),
  cache: anyOf(flag, word('5m', '1h')),
  structuredOutput: word('native', 'tool'),
  parameters: json,
});

/** A Claude model behind Anthropic's Messages API. */
export function anthropic(options: AnthropicOptions): Model {
  checkOptions('anthropic()', options, anthropicOptions);
  const { id, provider = 'Anthropic', parameters = {} } = options;
  const thinking = thinkingOf(options);
  const maxTokens = maxTokensOf(options, budgetOf(thinking) ?? 0);
  checkBudget(thinking, parameters, maxTokens, options.headers);
  const { thinking: _, max_tokens: __, ...others } = parameters;
  const key = new ApiKey(provider, options, ['ANTHROPIC_API_KEY']);
  const url = endpoint(options.baseUrl ?? 'https://api.anthropic.com/v1', '/messages');
  const settings = {
    id,
    provider,
    parameters: others,
    maxTokens,
    thinking,
    effort: options.effort,
    cache: cacheOf(options.cache),
    cacheMarks: freeMarks(parameters),
    structuredOutput: options.structuredOutput ?? (lacksStructuredOutput(id) ? 'tool' : 'native'),
  } as const;
  const reasoning = thinking === undefined ? reasonsByDefault('anthropic', id) : thinks(thinking);
  return new ProviderModel(
    {
      id,
      provider,
      name: 'Anthropic',
      capabilities: { structuredOutput: 'native', tools: true, reasoning },
      parameters: { ...parameters, max_tokens: maxTokens },
    },
    {
      url: () => url,
      headers: { 'anthropic-version': '2023-06-01', ...(key.value && { 'x-api-key': key.value }) },
      secrets: [key.value],
      body: async (request, how) => {
        key.require();
        return anthropicBody(request, settings, how);
      },
      answer: (request) =>
        new AnthropicAnswer({ protocol: 'anthropic', model: id }, answerToolName(request, settings)),
      lacks: ({ content }) => (Array.isArray(content) ? undefined : 'content'),
      textOpening: '"text":"',
    },
    options,
  );
}

/** Models up to Claude 4: `claude-3-5-haiku-20241022`, `claude-sonnet-4-20250514`, `claude-opus-4-0`. */
function lacksStructuredOutput(id: string): boolean {
  return /claude-(instant|2|3)|claude-(sonnet|opus)-4(-0|-\d{8}|@\d+)?$/.test(id);
}

/** A budget for thinking comes beside the answer, unless the application sets the sum. */
function maxTokensOf({ id, maxTokens, parameters }: AnthropicOptions, budget: number): number {
  const given = parameters?.max_tokens;
  if (typeof given === 'number') return given;
  if (maxTokens !== undefined) return maxTokens;
  if (/claude-3-(opus|haiku|sonnet)|claude-(2|instant)/.test(id)) return 4_096;
  return /claude-3-5/.test(id) ? 8_192 : budget + 16_384;
}

function cacheOf(cache: AnthropicOptions['cache']): JsonObject | undefined {
  if (cache === undefined || cache === false) return undefined;
  return cache === '1h' ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' };
}
