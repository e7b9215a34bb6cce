/**
 * Time, as the core sees it. The core has no timers of its own, so that tests can drive time and a stopped
 * service leaves nothing ticking.
 */
export interface Timers {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds on a clock that is never set: only differences mean something. */
  elapsed(): number;
  /** Calls `work` once, when whatever is ready now has been handled. */
  soon(work: () => void): void;
  /** Calls `work` once after `ms`; the returned function takes it back. */
  after(ms: number, work: () => void): () => void;
  /** Calls `work` every `ms`; the returned function ends it. */
  every(ms: number, work: () => void): () => void;
}
