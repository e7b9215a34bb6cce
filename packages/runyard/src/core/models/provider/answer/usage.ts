import type { Json } from '../../../json.js';
import type { Usage } from '../../message.js';

export const noUsage: Usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

/** A count as a provider sent it; what is not a positive number counts nothing. */
export function count(value: Json | undefined): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
}

/** The usage with its total, without the parts that are zero. */
export function usageOf(tokens: Omit<Usage, 'totalTokens'>): Usage {
  const { inputTokens, outputTokens, ...parts } = tokens;
  const present = Object.entries(parts).filter(([, value]) => value !== undefined && value > 0);
  return {
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
    ...Object.fromEntries(present),
  };
}
