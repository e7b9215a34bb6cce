import type { Model } from './model.js';
import { ModelError } from './model-error.js';
import { type Environment, type ModelName, protocolOf } from './model-name.js';
import { type KnownProvider, knownProviders } from './providers.js';

/** Makes the model that a name stands for, or says what is missing. */
export async function loadNamedModel(name: ModelName, environment: Environment): Promise<Model> {
  const protocol = protocolOf(name, environment);
  if (protocol === 'offline') return (await import('./offline.js')).offlineModel();
  if (protocol === 'ai-sdk') return loadPackagedModel(name);
  const { known, id, text, prefix } = name;
  if (known === undefined) throw unknownModel(name);
  if (id === '') throw configurationError(name, `Model '${text}' names no model. Write ${prefix}:<model>.`);
  const { baseUrl, apiKey } = connection(name, known, environment);
  const { provider, structuredOutput, sendReasoning } = known;
  const options = { id, provider, baseUrl, ...(apiKey && { apiKey }) };
  switch (protocol) {
    case 'responses':
      return (await import('./openai-responses.js')).openAIResponses(options);
    case 'anthropic':
      return (await import('./anthropic.js')).anthropic(options);
    case 'gemini':
      return (await import('./gemini.js')).gemini(options);
    default: {
      const { openAICompatible } = await import('./openai-compatible.js');
      return openAICompatible({ ...options, structuredOutput, ...(sendReasoning && { sendReasoning }) });
    }
  }
}

async function loadPackagedModel(name: ModelName): Promise<Model> {
  const { text, id, packageName = '' } = name;
  if (id === '' || packageName === '@ai-sdk/') {
    throw configurationError(name, `Model '${text}' names no model. Write ai-sdk:<provider>:<model>.`);
  }
  const [{ aiSdkModel }, { providerOf }] = await Promise.all([
    import('./ai-sdk.js'),
    import('./ai-sdk/packages.js'),
  ]);
  return aiSdkModel((await providerOf(name.text, packageName))(id));
}

function connection(
  name: ModelName,
  known: KnownProvider,
  environment: Environment,
): { baseUrl: string; apiKey: string | undefined } {
  const baseUrl = environment[known.baseUrlVariable]?.trim() || known.baseUrl;
  const apiKey = known.keyVariables.map((variable) => environment[variable]?.trim()).find((key) => key);
  const missing = [
    ...(baseUrl
      ? []
      : [`${known.baseUrlVariable} to the address of the server, e.g. https://example.com/v1`]),
    ...(known.keyRequired && !apiKey
      ? [`${known.keyVariables.join(' or ')} to your ${known.provider} key`]
      : []),
  ];
  if (baseUrl === undefined || missing.length > 0) {
    throw configurationError(
      name,
      `Model '${name.text}' cannot be called yet. Set ${missing.join(' and ')}.`,
    );
  }
  return { baseUrl, apiKey };
}

function unknownModel(name: ModelName): ModelError {
  const { text, prefix } = name;
  const supported = [...Object.keys(knownProviders), 'ai-sdk:<provider>'].map((known) => `${known}:<model>`);
  const fault =
    prefix === '' ? `Model '${text}' names no provider` : `Model '${text}' names an unknown provider`;
  return configurationError(name, `${fault}. Supported: offline, ${supported.join(', ')}.`);
}

function configurationError({ provider }: ModelName, message: string): ModelError {
  return new ModelError(message, { provider, kind: 'configuration' });
}
