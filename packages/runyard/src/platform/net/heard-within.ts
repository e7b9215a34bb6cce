/**
 * Fails when an answer takes longer, counted in looks for it, `listenMs` apart, at which this process could have taken
 * it: one that is itself held up finds the answer before it finds that the time is over.
 */
export function heardWithin<T>(ms: number, answer: Promise<T>, listenMs = 100): Promise<T> {
  return new Promise((resolve, reject) => {
    let left = ms / listenMs;
    const listening = setInterval(() => {
      left -= 1;
      if (left <= 0) reject(new Error(`no answer within ${ms} ms`));
    }, listenMs);
    answer.then(resolve, reject).finally(() => clearInterval(listening));
  });
}
