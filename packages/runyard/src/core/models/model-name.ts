import { isOpenAIs, type KnownProvider, knownProviders } from './providers.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The parts of a name such as `ollama:llama3.2:3b` or `ai-sdk:mistral:mistral-large-latest`. */
export interface ModelName {
  readonly text: string;
  readonly prefix: string;
  /** The provider's name for the model; empty if it is left out. */
  readonly id: string;
  readonly provider: string;
  readonly known: KnownProvider | undefined;
  /** The package of an AI SDK provider. */
  readonly packageName?: string;
}

export function parseModelName(
  text: string,
  providers: Readonly<Record<string, KnownProvider>> = knownProviders,
): ModelName {
  if (text === 'offline') return { text, prefix: '', id: 'offline', provider: 'Runyard', known: undefined };
  const [prefix, id] = split(text);
  if (prefix === 'ai-sdk') {
    const [given, modelId] = split(id);
    const packageName = given.includes('/') ? given : `@ai-sdk/${given}`;
    return { text, prefix, id: modelId, provider: given || 'AI SDK', known: undefined, packageName };
  }
  const known = Object.hasOwn(providers, prefix) ? providers[prefix] : undefined;
  return {
    text,
    prefix,
    id: known ? id : id || text,
    provider: known?.provider ?? (prefix || 'unknown'),
    known,
  };
}

function split(text: string): [string, string] {
  const colon = text.indexOf(':');
  return colon === -1 ? ['', text] : [text.slice(0, colon), text.slice(colon + 1)];
}

/**
 * The API of the model. The Responses API is OpenAI's own: a server at another address speaks what all
 * OpenAI-compatible servers speak.
 */
export function protocolOf(
  { text, known, packageName }: ModelName,
  environment: Environment,
): 'offline' | 'ai-sdk' | 'chat-completions' | NonNullable<KnownProvider['protocol']> | 'unknown' {
  if (text === 'offline') return 'offline';
  if (packageName !== undefined) return 'ai-sdk';
  if (known === undefined) return 'unknown';
  const elsewhere = environment[known.baseUrlVariable]?.trim();
  const protocol = known.protocol ?? 'chat-completions';
  if (protocol !== 'responses' || !elsewhere) return protocol;
  return isOpenAIs(elsewhere) ? protocol : 'chat-completions';
}
