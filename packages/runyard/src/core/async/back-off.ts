/** How long to wait before what failed is tried again: `delayMs`, then `factor` times as long each time. */
export interface RetryBackoff {
  readonly delayMs: number;
  /** Default 2. */
  readonly factor?: number;
  /** Default 30 000. */
  readonly maximumMs?: number;
}

/** The defaults. */
export const defaultBackoff: RetryBackoff = { delayMs: 500 };

/** Up to a quarter shorter, at random: what failed at the same time is not tried again at the same time. */
export function backOffMs(
  { delayMs, factor = 2, maximumMs = 30_000 }: RetryBackoff,
  failures: number,
): number {
  if (delayMs === 0) return 0;
  return Math.round(Math.min(delayMs * factor ** failures, maximumMs) * (0.75 + Math.random() / 4));
}
