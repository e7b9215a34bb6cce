import { KeySet, type KeySetOptions, largestKeySet } from './key-set.js';
import { KeyFault } from './keys.js';
import type { LoadKeys } from './reloading-keys.js';

export interface JwksUrlOptions {
  readonly algorithms: KeySetOptions['algorithms'];
  /** For the whole answer. */
  readonly timeoutMs: number;
}

/**
 * Fetches the JWKS of an issuer, bounded in time and size. The address is the operator's, so it may be a private
 * one; a redirect is not followed, because its target could name keys of its own.
 */
export function jwksUrlLoader(url: string, { algorithms, timeoutMs }: JwksUrlOptions): LoadKeys {
  let last: string | undefined;
  return async () => {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { accept: 'application/jwk-set+json, application/json', 'user-agent': 'runyard' },
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new Error(`The issuer answered with status ${response.status} instead of its keys.`);
    }
    const text = await boundedText(response);
    if (text === last) return undefined;
    const keys = parsed(text, algorithms);
    last = text;
    return keys;
  };
}

function parsed(text: string, algorithms: KeySetOptions['algorithms']): KeySet {
  try {
    return KeySet.parse(text, { algorithms, secrets: false });
  } catch (error) {
    if (error instanceof KeyFault) throw new Error(`The response of the issuer ${error.message}.`);
    throw error;
  }
}

async function boundedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    // leaving the loop closes the connection
    if (size > largestKeySet) throw new Error(`The issuer's keys are larger than ${largestKeySet} bytes.`);
    chunks.push(chunk);
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks, size));
}
