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

/** Reads and unpacks a body, and stops as soon as it is too large, packed or unpacked. */
export async function readBoundedBody(
  response: IncomingMessage,
  maximumBytes: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const announced = Number(response.headers['content-length'] ?? 0);
  if (announced > maximumBytes) {
    response.destroy();
    throw new BodyTooLarge(maximumBytes);
  }
  const unpacked = unpack(response);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of unpacked as AsyncIterable<Uint8Array>) {
      signal.throwIfAborted();
      size += chunk.length;
      if (size > maximumBytes) throw new BodyTooLarge(maximumBytes);
      chunks.push(chunk);
    }
  } finally {
    unpacked.destroy();
    response.destroy();
  }
  return Buffer.concat(chunks, size);
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
