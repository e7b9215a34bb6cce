import { ModelError } from '../../model-error.js';

export interface KeyOptions {
  readonly apiKey?: string;
  readonly baseUrl?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * The key of an adapter that was made in code: as given, or from the environment. A proxy at an address of its
 * own may need none; the provider itself always does, and `require` says so before it does.
 */
export class ApiKey {
  readonly value: string;
  readonly #missing: ModelError | undefined;

  constructor(provider: string, options: KeyOptions, variables: readonly string[]) {
    // The key of the environment belongs to the provider: it is not sent to another address unasked.
    const fromEnvironment = variables.map((name) => process.env[name]?.trim()).find((value) => value);
    this.value = options.apiKey?.trim() || (options.baseUrl === undefined && fromEnvironment) || '';
    const needed = this.value === '' && options.baseUrl === undefined && options.headers === undefined;
    if (needed) {
      const message = `${provider} needs a key. Set ${variables.join(' or ')}, or give apiKey.`;
      this.#missing = new ModelError(message, { provider, kind: 'configuration' });
    }
  }

  require(): void {
    if (this.#missing) throw this.#missing;
  }
}
