import { setMaxListeners } from 'node:events';
import type { Timers } from '../timers.js';

/** A signal, or what has one. */
export interface Abortable {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: () => void, options?: { once: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** An AbortController whose signal is made for those who ask: it takes a kilobyte, and a run may wait for hours. */
export class LazyAbort implements Abortable {
  /** Called before those who asked for the signal are notified. */
  onAbort: { handleEvent(): void } | undefined;
  #controller: AbortController | undefined;
  /** Those who listen without a signal. */
  #listeners: Set<() => void> | undefined;
  #aborted = false;
  #reason: unknown;

  get aborted(): boolean {
    return this.#aborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      // as many as a run has parallel calls; they are removed when the calls end
      setMaxListeners(0, this.#controller.signal);
      if (this.#aborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason;
    this.onAbort?.handleEvent();
    this.#controller?.abort(reason);
    for (const listener of this.#listeners ?? []) listener();
  }

  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason;
  }

  /** Makes no signal. It aborts once, whatever the options say. */
  addEventListener(_type: 'abort', listener: () => void): void {
    if (this.#aborted) return;
    this.#listeners ??= new Set();
    this.#listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners?.delete(listener);
  }
}

/** Waits for the work or for the abort, whichever comes first. An abort ends the waiting, not the work. */
export function untilAborted<T>(work: T | Promise<T>, signal: Abortable): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    // every run waits like this: `finally` would cost two promises more
    Promise.resolve(work).then(
      (value) => {
        signal.removeEventListener('abort', onAbort);
        resolve(value);
      },
      (error: unknown) => {
        signal.removeEventListener('abort', onAbort);
        reject(error);
      },
    );
  });
}

/** Waits so long, unless the signal aborts first: then it throws the reason of the abort. */
export function pause(ms: number, signal: AbortSignal, timers: Timers): Promise<void> {
  let cancelTimer = (): void => {};
  const waited = new Promise<void>((resolve) => {
    if (!signal.aborted) cancelTimer = timers.after(ms, resolve);
  });
  return untilAborted(waited, signal).finally(() => cancelTimer());
}

export interface TimeBound {
  /** Undefined: for as long as the signal allows. */
  readonly timeoutMs: number | undefined;
  readonly signal: AbortSignal | undefined;
  readonly timers: Timers;
  /** The error when the time is up. */
  readonly timeout: () => Error;
  /** How long work that is stopped may tidy up before it is left behind. */
  readonly graceMs?: number;
}

/** Does the work with a signal of its own, which aborts with the outer signal or when the time is up. */
export function withinTime<T>(bound: TimeBound, work: (signal: AbortSignal) => T | Promise<T>): Promise<T> {
  const { timeoutMs, signal, timers, timeout, graceMs = 0 } = bound;
  const controller = new AbortController();
  return new Promise((resolve, reject) => {
    let cancelTimer = (): void => {};
    let fail = reject;
    const settle = (): void => {
      cancelTimer();
      signal?.removeEventListener('abort', onAbort);
    };
    const stop = (reason: unknown): void => {
      settle();
      // whatever the work makes of being stopped
      fail = () => reject(reason);
      if (graceMs === 0) reject(reason);
      else cancelTimer = timers.after(graceMs, () => reject(reason));
      controller.abort(reason);
    };
    const onAbort = (): void => stop(signal?.reason);
    if (timeoutMs !== undefined) cancelTimer = timers.after(timeoutMs, () => stop(timeout()));
    signal?.addEventListener('abort', onAbort, { once: true });
    const succeeded = (value: T): void => {
      settle();
      resolve(value);
    };
    const failed = (error: unknown): void => {
      settle();
      fail(error);
    };
    try {
      // a tool call costs two promises less than with `finally`
      Promise.resolve(work(controller.signal)).then(succeeded, failed);
    } catch (error) {
      failed(error);
    }
    // a signal that was aborted before is noticed as well
    if (signal?.aborted) onAbort();
  });
}
