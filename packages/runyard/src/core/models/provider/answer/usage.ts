import type { Json } from '../../../json.js';
import type { Writable } from '../../../objects.js';
import type { Usage } from '../../message.js';

export const noUsage: Usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

/** A count as a provider sent it; what is not a positive number counts nothing. */
export function count(value: Json | undefined): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
}

/** The parts of a usage, in the order in which all adapters report them. */
const parts = [
  'cacheReadTokens',
  'cacheWriteTokens',
  'reasoningTokens',
  'audioInputTokens',
  'audioOutputTokens',
] as const satisfies readonly (keyof Usage)[];

/** The usage with its total, without the parts that are zero. */
export function usageOf(tokens: Omit<Usage, 'totalTokens'>): Usage {
  const { inputTokens, outputTokens } = tokens;
  const usage: Writable<Usage> = {
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
  };
  for (const part of parts) {
    const count = tokens[part] ?? 0;
    if (count > 0) usage[part] = count;
  }
  return usage;
}
