import { FetchRefused, guardedStream } from '../../platform/net/guarded-fetch.js';
import type { PushMessage } from './push-config.js';

export type Delivered =
  | { readonly ok: true }
  | {
      readonly ok: false;
      /** For the client who registered the address: it names no address behind it, and repeats nothing that was sent. */
      readonly reason: string;
      /** The receiver wants no more of them. */
      readonly final?: boolean;
      readonly retryAfterMs?: number | undefined;
    };

export interface DeliveryLimits {
  readonly allowedHosts: readonly string[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** `Gone`: the address was taken down for good. */
const gone = 410;

/** Sends a notification through the guard, once. A redirect is not followed: it would take the secrets elsewhere. */
export async function deliver(
  url: string,
  { headers, body }: PushMessage,
  limits: DeliveryLimits,
): Promise<Delivered> {
  try {
    const answer = await guardedStream(url, {
      method: 'POST',
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
      body,
      maximumRedirects: 0,
      ...limits,
    });
    // what a receiver says beside its status means nothing
    answer.close();
    if (answer.status >= 200 && answer.status < 300) return { ok: true };
    return {
      ok: false,
      reason: `The receiver answered with status ${answer.status}.`,
      final: answer.status === gone,
      retryAfterMs: retryAfterMs(answer.headers['retry-after']),
    };
  } catch (error) {
    return { ok: false, reason: reasonOf(error) };
  }
}

/** What the guard says names the address, whose query may be a secret. */
function reasonOf(error: unknown): string {
  if (!(error instanceof FetchRefused)) return 'The receiver could not be reached.';
  if (error.message.includes('not a public address'))
    return 'The receiver has no public address, or does not exist. A private host must be allowed by name.';
  if (error.message.includes('did not answer')) return 'The receiver did not answer in time.';
  if (error.message.includes('redirects')) return 'The receiver redirects, which is not followed.';
  return 'The address is not one that notifications are sent to.';
}

function retryAfterMs(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(date - Date.now(), 0);
}
