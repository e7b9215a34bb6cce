/** From when until when, in milliseconds. The first bound is inclusive, the second is not. */
export interface TimeBounds {
  readonly from: number;
  readonly until: number;
}

/** The bounds that a request gives in Unix seconds, both inclusive: times are shown in whole seconds. */
export function boundsOf(after: number | undefined, before: number | undefined): TimeBounds {
  return {
    from: after === undefined ? 0 : countable(after * 1000),
    until: before === undefined ? Number.MAX_SAFE_INTEGER : countable((before + 1) * 1000),
  };
}

/** Whether every time is within them. */
export function isUnbounded({ from, until }: TimeBounds): boolean {
  return from <= 0 && until === Number.MAX_SAFE_INTEGER;
}

/** Within what a database counts. */
function countable(milliseconds: number): number {
  return Math.max(Math.min(milliseconds, Number.MAX_SAFE_INTEGER), Number.MIN_SAFE_INTEGER);
}
