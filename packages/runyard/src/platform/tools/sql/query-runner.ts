import type { TimeBound } from '../../../core/async/abort.js';
import { systemTimers } from '../../engine/local/timers.js';

/** What a query answered with. */
export interface QueryAnswer {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  /** Whether there is more than was fetched. */
  readonly more: boolean;
}

export interface QueryBounds {
  readonly maximumRows: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** A database that can be asked and not changed. */
export interface QueryRunner {
  /** `SQLite` or `PostgreSQL`, so that a model writes the right kind of SQL. */
  readonly dialect: string;
  query(sql: string, bounds: QueryBounds): Promise<QueryAnswer>;
  /** What tables there are, with their columns. */
  describe(bounds: QueryBounds): Promise<string>;
}

/** No answer holds more than this many characters; the rows beyond it are left for another query. */
export const largestAnswer = 200_000;

/** A text for the model about a query whose time was up. */
export function timedOut(timeoutMs: number): Error {
  return new Error(
    `The query did not finish within ${timeoutMs} ms. Ask for less, or use an indexed column.`,
  );
}

export function boundOf({ timeoutMs, signal }: Pick<QueryBounds, 'timeoutMs' | 'signal'>): TimeBound {
  return { timeoutMs, signal, timers: systemTimers, timeout: () => timedOut(timeoutMs) };
}
