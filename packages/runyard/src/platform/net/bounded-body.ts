import type { IncomingMessage } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

/** A body that is larger than it may be. */
export class BodyTooLarge extends Error {
  constructor(readonly maximumBytes: number) {
    super(`The answer is larger than ${maximumBytes} bytes.`);
    this.name = 'BodyTooLarge';
  }
}

export interface BodyBounds {
  /** Of the body, packed and unpacked. */
  readonly maximumBytes: number;
  /** How long to wait for the next bytes. The time that the reader takes for what it has does not count. */
  readonly idleMs: number | undefined;
  readonly signal: AbortSignal;
  /** The error when no bytes come for so long. */
  readonly stalled: (idleMs: number) => Error;
}

/** Unpacks a body while it arrives, and stops as soon as it is too large or no bytes come. */
export async function* boundedBody(
  response: IncomingMessage,
  bounds: BodyBounds,
): AsyncGenerator<Uint8Array> {
  const { maximumBytes, idleMs, signal, stalled } = bounds;
  let unpacked: Readable = response;
  try {
    if (Number(response.headers['content-length'] ?? 0) > maximumBytes) throw new BodyTooLarge(maximumBytes);
    unpacked = unpack(response);
    const chunks: AsyncIterator<Uint8Array> = unpacked[Symbol.asyncIterator]();
    let size = 0;
    for (;;) {
      const timer =
        idleMs === undefined ? undefined : setTimeout(() => unpacked.destroy(stalled(idleMs)), idleMs);
      const next = await chunks.next().finally(() => clearTimeout(timer));
      signal.throwIfAborted();
      if (next.done) return;
      size += next.value.length;
      if (size > maximumBytes) throw new BodyTooLarge(maximumBytes);
      yield next.value;
    }
  } finally {
    unpacked.destroy();
    response.destroy();
  }
}

function unpack(response: IncomingMessage): Readable {
  const unpacker = unpackerOf(response.headers['content-encoding']);
  if (unpacker === undefined) return response;
  response.on('error', (error) => unpacker.destroy(error));
  response.on('aborted', () => unpacker.destroy(new Error('The connection was closed before the end.')));
  return response.pipe(unpacker);
}

function unpackerOf(encoding = 'identity'): Transform | undefined {
  switch (encoding.trim().toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    case 'identity':
    case '':
      return undefined;
    default:
      throw new Error(`The answer has the content encoding '${encoding}', which was not requested.`);
  }
}
