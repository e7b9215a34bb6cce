/** How much of something is allowed: `burst` at once, and one more after each interval. */
export interface Allowance {
  readonly burst: number;
  readonly intervalMs: number;
}

/**
 * The allowance of a number per minute. A tenth of it may come at once, and the rest is spread over the minute, so that
 * no minute has more than the number.
 */
export function perMinute(most: number): Allowance {
  const burst = Math.max(1, Math.floor(most / 10));
  return { burst, intervalMs: 60_000 / (burst > 1 ? most - burst : most) };
}

/** When all that was taken so far is made up for, in milliseconds. All that is known of one allowance in use. */
export type TakenUntil = number;

/** How long to wait before so many are allowed; 0: they are now. More than a burst is allowed when a whole burst is. */
export function waitFor(
  { burst, intervalMs }: Allowance,
  taken: TakenUntil,
  amount: number,
  now: number,
): number {
  return Math.max(0, Math.max(taken, now) - (burst - Math.min(amount, burst)) * intervalMs - now);
}

export function takenAfter(
  { intervalMs }: Allowance,
  taken: TakenUntil,
  amount: number,
  now: number,
): TakenUntil {
  return Math.max(taken, now) + amount * intervalMs;
}
