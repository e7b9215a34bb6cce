import { nearestName } from '../nearest-name.js';
import { fieldsOf } from '../objects.js';
import type { Optional } from '../options/kind.js';
import { isAiSdkModel } from './ai-sdk/types.js';
import { parseModelName } from './model-name.js';
import { knownProviders } from './providers.js';

/** Whatever names or is a model. Of a name, the provider is checked: only a call tells whether it has the model. */
export const model: Optional = {
  allowed: "a model, or the name of one such as 'offline' or 'openai:gpt-5-mini'",
  takes: (value) => (typeof value === 'string' ? value.trim() !== '' : isModel(value) || isAiSdkModel(value)),
  inside: (value, path, faults) => {
    const fault = typeof value === 'string' ? faultOf(value) : undefined;
    if (fault !== undefined) faults.push(`${path} is '${value}', which ${fault}`);
  },
};

function isModel(value: unknown): boolean {
  const { id, generate, stream } = fieldsOf(value);
  return typeof id === 'string' && typeof generate === 'function' && typeof stream === 'function';
}

function faultOf(text: string): string | undefined {
  const { prefix, id, known, packageName } = parseModelName(text);
  if (text === 'offline' || packageName !== undefined) return undefined;
  if (known !== undefined) return id === '' ? `names no model. Write ${prefix}:<model>.` : undefined;
  const names = [...Object.keys(knownProviders), 'ai-sdk'];
  const near = prefix === '' ? nearestName(text, ['offline', ...names]) : nearestName(prefix, names);
  const meant = near === 'offline' ? near : near && `${near}:${prefix === '' ? '<model>' : id}`;
  const fault = prefix === '' ? 'names no provider' : 'names an unknown provider';
  return meant === undefined
    ? `${fault}. Write offline or <provider>:<model>. The providers are ${names.join(', ')}.`
    : `${fault}. Did you mean ${meant}?`;
}
