/** Waits for what calls `done`, or rejects when the signal aborts; `begin` answers with what undoes it. */
function abortable(begin: (done: () => void) => () => void, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const aborted = () => {
      undo();
      reject(signal?.reason);
    };
    const undo = begin(() => {
      signal?.removeEventListener('abort', aborted);
      resolve();
    });
    signal?.addEventListener('abort', aborted, { once: true });
  });
}

/** What a promise answers with, unless the signal aborts first. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  // the call itself cannot be taken back: its failure has nobody left to be thrown to
  work.catch(() => {});
  await abortable((done) => {
    void work.then(done, done);
    return () => {};
  }, signal);
  return work;
}

export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return abortable((done) => {
    const timer = setTimeout(done, ms);
    return () => clearTimeout(timer);
  }, signal);
}
