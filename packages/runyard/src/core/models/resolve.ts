import type { Model, ModelCallOptions, ModelChunk, ModelRequest, ModelResponse } from './model.js';
import { ModelError } from './model-error.js';
import { type CompatibleProvider, compatibleProviders } from './providers.js';

type Environment = Readonly<Record<string, string | undefined>>;

export interface ModelDescription {
  readonly id: string;
  readonly provider: string;
  /** The adapter. */
  readonly name: string;
}

/**
 * A model from its name, such as `offline`, `openai:gpt-5-mini` or `ollama:llama3.2:3b`. Nothing is loaded or
 * looked up before the first call, so that a service starts without the keys of models that nobody calls.
 */
export function resolveModel(model: Model | string, environment: Environment = process.env): Model {
  return typeof model === 'string' ? new NamedModel(model, environment) : model;
}

/** What listings show of a model. It needs no key and fails for no name. */
export function describeModel(model: Model | string): ModelDescription {
  if (typeof model !== 'string') return { id: model.id, provider: model.provider, name: model.name };
  if (model === 'offline') return { id: 'offline', provider: 'Runyard', name: 'Offline' };
  const { prefix, id, known } = parseName(model);
  return {
    id,
    provider: known?.provider ?? (prefix || 'unknown'),
    name: known ? 'OpenAICompatible' : 'Unknown',
  };
}

class NamedModel implements Model {
  readonly id: string;
  readonly provider: string;
  readonly name: string;
  readonly capabilities: Model['capabilities'];
  readonly #text: string;
  readonly #environment: Environment;
  #loaded: Model | undefined;

  constructor(text: string, environment: Environment) {
    const description = describeModel(text);
    this.id = description.id;
    this.provider = description.provider;
    this.name = description.name;
    this.capabilities = {
      structuredOutput: parseName(text).known?.structuredOutput ?? 'native',
      tools: true,
    };
    this.#text = text;
    this.#environment = environment;
  }

  async generate(request: ModelRequest, options: ModelCallOptions): Promise<ModelResponse> {
    const model = this.#loaded ?? (await this.#load());
    return model.generate(request, options);
  }

  stream(request: ModelRequest, options: ModelCallOptions): AsyncIterable<ModelChunk> {
    // Once loaded, nothing stands between the adapter and its reader.
    return this.#loaded ? this.#loaded.stream(request, options) : this.#loadAndStream(request, options);
  }

  async *#loadAndStream(request: ModelRequest, options: ModelCallOptions): AsyncGenerator<ModelChunk> {
    const model = await this.#load();
    yield* model.stream(request, options);
  }

  async #load(): Promise<Model> {
    this.#loaded = await load(this.#text, this.#environment);
    return this.#loaded;
  }
}

async function load(text: string, environment: Environment): Promise<Model> {
  if (text === 'offline') return (await import('./offline.js')).offlineModel();
  const { prefix, id, known } = parseName(text);
  if (!known) throw unknownModel(text, prefix);
  if (id === '') {
    throw configurationError(known.provider, `Model '${text}' names no model. Write ${prefix}:<model>.`);
  }
  const { baseUrl, apiKey } = connection(text, known, environment);
  const { openAICompatible } = await import('./openai-compatible.js');
  return openAICompatible({
    id,
    provider: known.provider,
    baseUrl,
    structuredOutput: known.structuredOutput,
    ...(apiKey ? { apiKey } : undefined),
  });
}

function connection(
  text: string,
  known: CompatibleProvider,
  environment: Environment,
): { baseUrl: string; apiKey: string | undefined } {
  const baseUrl = environment[known.baseUrlVariable]?.trim() || known.baseUrl;
  const apiKey = environment[known.keyVariable]?.trim();
  const missing = [
    ...(baseUrl
      ? []
      : [`${known.baseUrlVariable} to the address of the server, e.g. https://example.com/v1`]),
    ...(known.keyRequired && !apiKey ? [`${known.keyVariable} to your ${known.provider} key`] : []),
  ];
  if (baseUrl === undefined || missing.length > 0) {
    throw configurationError(
      known.provider,
      `Model '${text}' cannot be called yet. Set ${missing.join(' and ')}.`,
    );
  }
  return { baseUrl, apiKey };
}

function parseName(text: string): { prefix: string; id: string; known: CompatibleProvider | undefined } {
  const colon = text.indexOf(':');
  const prefix = colon === -1 ? '' : text.slice(0, colon);
  const known = Object.hasOwn(compatibleProviders, prefix) ? compatibleProviders[prefix] : undefined;
  return { prefix, id: known || colon === -1 ? text.slice(colon + 1) : text.slice(colon + 1) || text, known };
}

function unknownModel(text: string, prefix: string): ModelError {
  const supported = Object.keys(compatibleProviders).map((name) => `${name}:<model>`);
  const fault =
    prefix === '' ? `Model '${text}' names no provider` : `Model '${text}' names an unknown provider`;
  return configurationError(prefix || 'unknown', `${fault}. Supported: offline, ${supported.join(', ')}.`);
}

function configurationError(provider: string, message: string): ModelError {
  return new ModelError(message, { provider, kind: 'configuration' });
}
