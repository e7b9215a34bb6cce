import { SlackCallError } from './call-error.js';

export interface Download {
  readonly url: string;
  readonly mostBytes: number;
  readonly token: string | undefined;
  readonly apiUrl: string;
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
}

const what = 'the download of a file';

/** Reads a file with the token. The token is sent to Slack alone, whatever address a message names. */
export async function downloaded({
  url,
  mostBytes,
  token,
  apiUrl,
  signal,
  timeoutMs,
}: Download): Promise<Uint8Array> {
  if (!isOfSlack(url, apiUrl)) throw new SlackCallError(what, 'not-at-slack', false);
  const given = AbortSignal.timeout(timeoutMs);
  const bound = signal === undefined ? given : AbortSignal.any([given, signal]);
  try {
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${token ?? ''}` },
      redirect: 'manual',
      signal: bound,
    });
    if (!response.ok || response.body === null) {
      await response.body?.cancel();
      const isPassing = response.status === 429 || response.status >= 500;
      throw new SlackCallError(what, `http-${response.status}`, isPassing);
    }
    return await readWithin(response.body, mostBytes);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof SlackCallError) throw error;
    throw new SlackCallError(what, 'request-failed', true, { cause: error });
  }
}

async function readWithin(body: ReadableStream<Uint8Array>, mostBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // leaving the loop closes the connection
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > mostBytes) throw new SlackCallError(what, 'too-large', false);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function isOfSlack(url: string, apiUrl: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, origin } = new URL(url);
  if (origin === new URL(apiUrl).origin) return true;
  return protocol === 'https:' && (hostname === 'slack.com' || hostname.endsWith('.slack.com'));
}
