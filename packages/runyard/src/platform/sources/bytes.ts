import { FetchRefused } from '../net/guarded-fetch.js';

/** A body whose beginning was looked at: reading it starts at the beginning again, once. */
export interface PeekedBody {
  readonly head: Uint8Array;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Reads at least so many bytes, if there are so many. */
export async function peeked(body: AsyncIterable<Uint8Array>, bytes: number): Promise<PeekedBody> {
  const rest = body[Symbol.asyncIterator]();
  const chunks: Uint8Array[] = [];
  for (let size = 0; size < bytes; ) {
    const next = await rest.next();
    if (next.done) break;
    chunks.push(next.value);
    size += next.value.length;
  }
  const head = Buffer.concat(chunks);
  return { head, body: joined(head, rest) };
}

async function* joined(head: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    if (head.length > 0) yield head;
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

/** Reads all of it, up to a bound. `what` as in `The page`. */
export async function whole(
  body: AsyncIterable<Uint8Array>,
  maximumBytes: number,
  what: string,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maximumBytes) throw new FetchRefused(`${what} is larger than ${maximumBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/** A text in a named encoding as UTF-8, while it arrives. An encoding that is not known changes nothing. */
export async function* asUtf8(
  body: AsyncIterable<Uint8Array>,
  charset: string | undefined,
): AsyncGenerator<Uint8Array> {
  const decoder = decoderOf(charset);
  if (decoder === undefined) return yield* body;
  for await (const chunk of body) yield Buffer.from(decoder.decode(chunk, { stream: true }));
  yield Buffer.from(decoder.decode());
}

function decoderOf(charset: string | undefined) {
  if (charset === undefined || /^(utf-?8|us-ascii)$/i.test(charset)) return undefined;
  try {
    return new TextDecoder(charset);
  } catch {
    return undefined;
  }
}
