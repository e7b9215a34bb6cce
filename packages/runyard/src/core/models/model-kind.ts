import { kind } from '../options/kinds.js';
import { isAiSdkModel } from './ai-sdk/types.js';
import type { Model } from './model.js';

/** Whatever names or is a model. */
export const model = kind("a model, or the name of one such as 'offline' or 'openai:gpt-5-mini'", (value) =>
  typeof value === 'string' ? value.trim() !== '' : isModel(value) || isAiSdkModel(value),
);

function isModel(value: unknown): boolean {
  const { id, generate, stream } = (value ?? {}) as Partial<Model>;
  return typeof id === 'string' && typeof generate === 'function' && typeof stream === 'function';
}
