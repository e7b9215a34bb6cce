import { fieldsOf } from '../objects.js';
import type { Optional } from '../options/kind.js';
import { isAiSdkModel } from './ai-sdk/types.js';
import { checkedName } from './name-kind.js';
import { knownProviders } from './providers.js';

/** Whatever names or is a model. */
export const model: Optional = {
  allowed: "a model, or the name of one such as 'offline' or 'openai:gpt-5-mini'",
  takes: (value) => (typeof value === 'string' ? value.trim() !== '' : isModel(value) || isAiSdkModel(value)),
  inside: checkedName(knownProviders, ['offline', 'ai-sdk']),
};

function isModel(value: unknown): boolean {
  const { id, generate, stream } = fieldsOf(value);
  return typeof id === 'string' && typeof generate === 'function' && typeof stream === 'function';
}
