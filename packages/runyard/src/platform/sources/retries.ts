import { setTimeout as wait } from 'node:timers/promises';
import { backOffMs, type RetryBackoff } from '../../core/async/back-off.js';
import { BodyTooLarge } from '../net/bounded-body.js';
import { FetchRefused, type GuardedStream } from '../net/guarded-fetch.js';

const tries = 3;
const passing = new Set([429, 500, 502, 503, 504]);
/** A server that asks for more patience than this gets its answer passed on. */
const longestWaitMs = 10_000;

/** Asks again when the connection fails or the server says that it cannot answer now. */
export async function withRetries(
  open: () => Promise<GuardedStream>,
  signal: AbortSignal,
  backoff: RetryBackoff,
): Promise<GuardedStream> {
  for (let failures = 0; ; failures++) {
    const isLast = failures + 1 >= tries;
    let asked: number | undefined;
    try {
      const answer = await open();
      if (isLast || !passing.has(answer.status)) return answer;
      asked = retryAfterMs(answer.headers['retry-after']);
      if (asked !== undefined && asked > longestWaitMs) return answer;
      answer.close();
    } catch (error) {
      signal.throwIfAborted();
      if (isLast || error instanceof FetchRefused || error instanceof BodyTooLarge) throw error;
    }
    await wait(asked ?? backOffMs(backoff, failures), undefined, { signal });
  }
}

function retryAfterMs(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,6}$/.test(value) ? Number(value) * 1000 : undefined;
}
