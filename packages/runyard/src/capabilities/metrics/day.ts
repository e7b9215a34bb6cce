export const dayMs = 86_400_000;

/** Days since 1970, UTC. */
export function dayOf(time: number): number {
  return Math.floor(time / dayMs);
}

/** Midnight UTC with which a day begins. */
export function startOf(day: number): number {
  return day * dayMs;
}
