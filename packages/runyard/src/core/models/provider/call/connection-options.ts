import type { Shape } from '../../../options/kind.js';
import { callable, count, milliseconds, recordOf, text } from '../../../options/kinds.js';

/** How a provider is reached, the same for every adapter. */
export interface ConnectionOptions {
  /** Sent along with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The longest silence in the middle of an answer. Default two minutes. */
  readonly timeoutMs?: number;
  /** The longest wait for the first byte of an answer. Default five minutes. */
  readonly firstByteTimeoutMs?: number;
  /** How often a call is tried again that failed before any of its answer was used. Default 2. */
  readonly retries?: number;
  readonly fetch?: typeof fetch;
  /** How the pause before another try is waited for. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

export const connectionShape: Shape<ConnectionOptions> = {
  headers: recordOf({ ...text, secret: true }),
  timeoutMs: milliseconds(1),
  firstByteTimeoutMs: milliseconds(1),
  retries: count(0),
  fetch: callable,
  wait: callable,
};
