import { ModelError } from './model-error.js';
import type { Environment, ModelName } from './model-name.js';

/** What messages call the thing that was named. */
export type NamedThing = 'Model' | 'Embedder' | 'Reranker';

/** The options of an adapter that follow from a name and the environment. */
export interface NamedConnection {
  readonly id: string;
  readonly provider: string;
  readonly baseUrl: string;
  readonly apiKey?: string;
}

/** Where the provider of a name is reached and with which key, or what is missing. */
export function connectionOf(
  thing: NamedThing,
  name: ModelName,
  environment: Environment,
  supported: readonly string[],
): NamedConnection {
  const { text, prefix, id, known } = name;
  if (known === undefined) {
    const fault = prefix === '' ? 'names no provider' : 'names an unknown provider';
    throw cannotCall(name, `${thing} '${text}' ${fault}. Supported: ${supported.join(', ')}.`);
  }
  if (id === '') throw cannotCall(name, `${thing} '${text}' names no model. Write ${prefix}:<model>.`);
  const { provider, baseUrlVariable, keyVariables, keyRequired } = known;
  const baseUrl = environment[baseUrlVariable]?.trim() || known.baseUrl;
  const apiKey = keyVariables.map((variable) => environment[variable]?.trim()).find((key) => key);
  const missing = [
    ...(baseUrl ? [] : [`${baseUrlVariable} to the address of the server, e.g. https://example.com/v1`]),
    ...(keyRequired && !apiKey ? [`${keyVariables.join(' or ')} to your ${provider} key`] : []),
  ];
  if (baseUrl === undefined || missing.length > 0) {
    throw cannotCall(name, `${thing} '${text}' cannot be called yet. Set ${missing.join(' and ')}.`);
  }
  return { id, provider, baseUrl, ...(apiKey && { apiKey }) };
}

/** How the names that a table of providers makes possible are written. */
export function nameForms(providers: object): string[] {
  return Object.keys(providers).map((prefix) => `${prefix}:<model>`);
}

export function cannotCall({ provider }: { readonly provider: string }, message: string): ModelError {
  return new ModelError(message, { provider, kind: 'configuration' });
}
