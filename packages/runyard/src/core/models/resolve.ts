import type { JsonObject } from '../json.js';
import { native } from '../native-code.js';
import { type AiSdkLanguageModel, aiSdkCapabilities, isAiSdkModel } from './ai-sdk/types.js';
import type {
  Model,
  ModelCallOptions,
  ModelCapabilities,
  ModelChunk,
  ModelRequest,
  ModelResponse,
} from './model.js';
import { type Environment, type ModelName, parseModelName, protocolOf } from './model-name.js';
import { loadNamedModel } from './named-models.js';
import { reasonsByDefault } from './provider/reasoning-models.js';

/** Whatever names or is a model. */
export type ModelLike = Model | AiSdkLanguageModel | string;

export interface ModelDescription {
  readonly id: string;
  readonly provider: string;
  /** The adapter. */
  readonly name: string;
}

/**
 * A model from its name, such as `offline`, `openai:gpt-5-mini` or `ollama:llama3.2:3b`, from a model object of
 * the AI SDK, or as it is. Nothing is loaded or looked up before the first call, so that a service starts without
 * the keys of models that are never called.
 */
export function resolveModel(model: ModelLike, environment: Environment = process.env): Model {
  if (typeof model === 'string') {
    const name = parseModelName(model);
    const named = new LazyModel(describeName(name, environment), capabilitiesOf(name, environment), () =>
      loadNamedModel(name, environment),
    );
    return protocolOf(name, environment) === 'ai-sdk' ? named : native(named);
  }
  if (!isAiSdkModel(model)) return model;
  return new LazyModel(describeModel(model), aiSdkCapabilities(model), async () =>
    (await import('./ai-sdk/ai-sdk.js')).aiSdkModel(model),
  );
}

/** What listings show of a model. It needs no key and fails for no name. */
export function describeModel(model: ModelLike, environment: Environment = process.env): ModelDescription {
  if (typeof model === 'string') return describeName(parseModelName(model), environment);
  if (isAiSdkModel(model)) return { id: model.modelId, provider: model.provider, name: 'AiSdk' };
  return { id: model.id, provider: model.provider, name: model.name };
}

const adapterNames = {
  offline: 'Offline',
  'ai-sdk': 'AiSdk',
  'chat-completions': 'OpenAICompatible',
  responses: 'OpenAIResponses',
  anthropic: 'Anthropic',
  gemini: 'Gemini',
  unknown: 'Unknown',
} as const;

function describeName(name: ModelName, environment: Environment): ModelDescription {
  return { id: name.id, provider: name.provider, name: adapterNames[protocolOf(name, environment)] };
}

function capabilitiesOf(name: ModelName, environment: Environment): ModelCapabilities {
  const structuredOutput = name.known?.structuredOutput ?? 'native';
  const protocol = protocolOf(name, environment);
  if (protocol !== 'responses' && protocol !== 'anthropic' && protocol !== 'gemini') {
    return { structuredOutput, tools: true };
  }
  return { structuredOutput, tools: true, reasoning: reasonsByDefault(protocol, name.id) };
}

/** A model that is made with its first call. */
class LazyModel implements Model {
  readonly id: string;
  readonly provider: string;
  readonly name: string;
  readonly capabilities: Model['capabilities'];
  readonly #load: () => Promise<Model>;
  #loaded: Model | undefined;

  constructor(
    description: ModelDescription,
    capabilities: Model['capabilities'],
    load: () => Promise<Model>,
  ) {
    this.id = description.id;
    this.provider = description.provider;
    this.name = description.name;
    this.capabilities = capabilities;
    this.#load = load;
  }

  get parameters(): JsonObject {
    return this.#loaded?.parameters ?? {};
  }

  async generate(request: ModelRequest, options: ModelCallOptions): Promise<ModelResponse> {
    this.#loaded ??= await this.#load();
    return this.#loaded.generate(request, options);
  }

  stream(request: ModelRequest, options: ModelCallOptions): AsyncIterable<ModelChunk> {
    // Once loaded, nothing stands between the adapter and its reader.
    return this.#loaded ? this.#loaded.stream(request, options) : this.#loadAndStream(request, options);
  }

  async *#loadAndStream(request: ModelRequest, options: ModelCallOptions): AsyncGenerator<ModelChunk> {
    this.#loaded ??= await this.#load();
    yield* this.#loaded.stream(request, options);
  }
}
