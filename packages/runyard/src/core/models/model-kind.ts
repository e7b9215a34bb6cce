import { fieldsOf } from '../objects.js';
import { kind } from '../options/kinds.js';
import { isAiSdkModel } from './ai-sdk/types.js';

/** Whatever names or is a model. */
export const model = kind("a model, or the name of one such as 'offline' or 'openai:gpt-5-mini'", (value) =>
  typeof value === 'string' ? value.trim() !== '' : isModel(value) || isAiSdkModel(value),
);

function isModel(value: unknown): boolean {
  const { id, generate, stream } = fieldsOf(value);
  return typeof id === 'string' && typeof generate === 'function' && typeof stream === 'function';
}
