/** A promise that application code may leave alone: if nobody looks at its failure, it is no unhandled rejection. */
export function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
