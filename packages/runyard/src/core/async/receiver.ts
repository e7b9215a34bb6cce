/**
 * Receives the outcome of work that may take long: one call of one of both methods, which must not throw. Callers pass
 * an object that exists anyway: a promise and an async function that awaits it take up to a kilobyte while the work
 * lasts.
 */
export interface Receiver<T> {
  received(result: T): void;
  failed(error: unknown): void;
}

/** Passes the outcome of a promise to a receiver. */
export function deliver<T>(work: Promise<T>, receiver: Receiver<T>): void {
  work.then(
    (result) => receiver.received(result),
    (error: unknown) => receiver.failed(error),
  );
}

/** A promise of the outcome that the work passes to its receiver. */
export function promised<T>(begin: (receiver: Receiver<T>) => void): Promise<T> {
  return new Promise((received, failed) => begin({ received, failed }));
}
