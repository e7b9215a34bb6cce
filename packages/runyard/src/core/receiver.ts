/**
 * Who waits for the outcome of work that may take long. It is an object that is there anyway: a promise and an async
 * function that waits for it take up to a kilobyte for as long as the work lasts. It gets one of both, once, and throws
 * nothing.
 */
export interface Receiver<T> {
  received(result: T): void;
  failed(error: unknown): void;
}

/** Hands on what comes of a promise. */
export function deliver<T>(work: Promise<T>, receiver: Receiver<T>): void {
  work.then(
    (result) => receiver.received(result),
    (error: unknown) => receiver.failed(error),
  );
}

/** A promise of what the work hands to its receiver. */
export function promised<T>(begin: (receiver: Receiver<T>) => void): Promise<T> {
  return new Promise((received, failed) => begin({ received, failed }));
}
