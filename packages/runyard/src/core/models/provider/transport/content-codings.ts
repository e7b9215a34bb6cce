import { pipeline, Readable, type Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

/** Each costs memory, and no server has a reason for more. */
const mostCodings = 5;

/**
 * The codings of a body that can be undone, in the order in which they were applied. Whatever else the header names, the
 * body is taken as it is, as `fetch` does.
 */
export function codingsOf(header: string): string[] {
  if (header === '') return [];
  const codings = header
    .split(',')
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity');
  if (codings.length > mostCodings) throw new Error(`a body with more than ${mostCodings} content codings`);
  return codings.every((coding) => decoders.has(coding)) ? codings : [];
}

/** The bytes without their codings. They are passed on as they come, and a body that lacks its last bytes still counts. */
export function decoded(
  bytes: AsyncIterable<Uint8Array>,
  codings: readonly string[],
): AsyncIterator<Uint8Array> {
  const streams = codings.map((coding) => decoders.get(coding)?.()).filter((stream) => stream !== undefined);
  const last = streams[0] ?? Readable.from(bytes);
  // The reader of the last stream gets the error too.
  pipeline([Readable.from(bytes), ...streams.reverse()], () => {});
  return last[Symbol.asyncIterator]();
}

const gunzip = () => createGunzip({ flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH });

const decoders = new Map<string, () => Transform>([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['deflate', () => createInflate({ flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH })],
  [
    'br',
    () =>
      createBrotliDecompress({
        flush: constants.BROTLI_OPERATION_FLUSH,
        finishFlush: constants.BROTLI_OPERATION_FLUSH,
      }),
  ],
]);
