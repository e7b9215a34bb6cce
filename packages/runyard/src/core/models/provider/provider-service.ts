import type { Json, JsonObject } from '../../json.js';
import type { Shape } from '../../options/kind.js';
import { json, name, required, secret } from '../../options/kinds.js';
import type { KnownProvider } from '../providers.js';
import { ApiKey } from './call/api-key.js';
import { type ConnectionOptions, connectionShape } from './call/connection-options.js';
import { endpoint } from './call/endpoint.js';
import { ProviderClient } from './call/provider-client.js';

/** The options of everything that a provider answers with one JSON object: embedders and rerankers. */
export interface ServiceOptions extends ConnectionOptions {
  /** The provider's name for the model. */
  readonly id: string;
  /** Default: the variable of the provider. */
  readonly apiKey?: string;
  /** Default: the address of the provider. */
  readonly baseUrl?: string;
  /** Who serves it, as shown in errors and prices. */
  readonly provider?: string;
  /** Sent along with every request. */
  readonly parameters?: JsonObject;
}

export const serviceShape: Shape<ServiceOptions> = {
  ...connectionShape,
  id: required(name),
  apiKey: secret,
  baseUrl: name,
  provider: name,
  parameters: json,
};

/** The endpoint of a provider that takes and answers one JSON object. */
export class ProviderService {
  readonly id: string;
  readonly provider: string;
  readonly #url: string;
  readonly #key: ApiKey;
  readonly #client: ProviderClient;

  /** `keyHeader` is where the key goes if it is not a bearer token. */
  constructor(options: ServiceOptions, known: KnownProvider, path: string, keyHeader?: string) {
    this.id = options.id;
    this.provider = options.provider ?? known.provider;
    this.#url = endpoint(options.baseUrl ?? known.baseUrl ?? '', path);
    this.#key = new ApiKey(this.provider, options, known.keyVariables);
    const { value } = this.#key;
    const headers = keyHeader ? { [keyHeader]: value } : { authorization: `Bearer ${value}` };
    this.#client = new ProviderClient(
      { provider: this.provider, headers: value === '' ? {} : headers, secrets: [value] },
      options,
    );
  }

  async post<T>(body: JsonObject, signal: AbortSignal, read: (answer: JsonObject) => T): Promise<T> {
    this.#key.require();
    return this.#client.post(this.#url, body, signal, read);
  }
}

/**
 * The entries of an answer at the index that each of them names. What an answer left out is undefined there; throws
 * what is wrong with it otherwise.
 */
export function byIndex(entries: unknown, length: number, listName: string): (JsonObject | undefined)[] {
  if (!Array.isArray(entries)) throw new Error(`an answer without ${listName}`);
  const found = Array.from<JsonObject | undefined>({ length });
  for (const entry of entries) {
    const index: Json | undefined = entry?.index;
    if (typeof index !== 'number' || !(index in found)) {
      throw new Error(`an entry of ${listName} whose index is ${JSON.stringify(index)}, of ${length} in all`);
    }
    if (found[index] !== undefined) throw new Error(`two entries of ${listName} whose index is ${index}`);
    found[index] = entry;
  }
  return found;
}
