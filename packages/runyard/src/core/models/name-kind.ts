import { nearestName } from '../nearest-name.js';
import type { Kind } from '../options/kind.js';
import { parseModelName } from './model-name.js';
import type { KnownProvider } from './providers.js';

type Providers = Readonly<Record<string, KnownProvider>>;

/** Looks into the name of a model, an embedder or a reranker: only a call shows whether the provider has it. */
export function checkedName(
  providers: Providers,
  others: readonly ('offline' | 'ai-sdk')[],
): NonNullable<Kind['inside']> {
  return (value, path, faults) => {
    const fault = typeof value === 'string' ? faultOf(value, providers, others) : undefined;
    if (fault !== undefined) faults.push(`${path} is '${value}', which ${fault}`);
  };
}

function faultOf(text: string, providers: Providers, others: readonly string[]): string | undefined {
  const { prefix, id, known } = parseModelName(text, providers);
  const hasOffline = others.includes('offline');
  if (hasOffline && text === 'offline') return undefined;
  if (others.includes(prefix)) return undefined;
  // an id may be a part of an address, and must not lead to another one
  if (/(?:^|\/)\.{1,2}(?:\/|$)/.test(id)) return `has '.' or '..' as a part of the model's id.`;
  if (known !== undefined) return id === '' ? `names no model. Write ${prefix}:<model>.` : undefined;
  const names = [...Object.keys(providers), ...others.filter((other) => other !== 'offline')];
  const plain = hasOffline ? ['offline', ...names] : names;
  const near = prefix === '' ? nearestName(text, plain) : nearestName(prefix, names);
  const meant = near === 'offline' ? near : near && `${near}:${prefix === '' ? '<model>' : id}`;
  const fault = prefix === '' ? 'names no provider' : 'names an unknown provider';
  return meant === undefined
    ? `${fault}. Write ${hasOffline ? 'offline or ' : ''}<provider>:<model>. The providers are ${names.join(', ')}.`
    : `${fault}. Did you mean ${meant}?`;
}
