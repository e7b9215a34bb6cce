/** A promise that application code may ignore: its failure does not become an unhandled rejection. */
export function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(ignore);
  return promise;
}

function ignore(): void {}
