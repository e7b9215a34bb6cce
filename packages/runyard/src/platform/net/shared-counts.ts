import type { Allowance } from '../../core/allowance.js';

/**
 * What several processes count together, beside what each counts by itself. A process decides at once by its own count
 * and receives a moment later what all have counted: nothing waits for the others, and nothing fails without them.
 */
export interface SharedCounts {
  /** Counts one. Calls `exceeded` when the next one would be too many, with how long that is so. */
  add(key: readonly string[], allowance: Allowance, exceeded: (waitMs: number) => void): void;
}
