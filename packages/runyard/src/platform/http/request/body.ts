import { errors, type RunyardError } from '../../../core/errors/errors.js';
import { type BodyReading, leastBytes } from '../defences/bodies-in-flight.js';
import type { Exchange } from '../exchange.js';
import { BodyPieces } from './body-pieces.js';

/** How large a body may be, and which setting says so. */
export interface BodyLimit {
  readonly bytes: number;
  readonly setting: string;
}

/** The client disconnected in the middle of its request: no response can reach it. */
export class ClientGone extends Error {
  constructor() {
    super('The client closed the connection before its request was complete.');
    this.name = 'ClientGone';
  }
}

export function hasBody(exchange: Exchange): boolean {
  const { headers } = exchange.request;
  if (headers['transfer-encoding'] !== undefined) return true;
  const length = headers['content-length'];
  return length !== undefined && length !== '0';
}

/** Reads the whole body, as long as it stays within the limit. */
export function readBody(exchange: Exchange, limit: BodyLimit): Promise<Buffer> {
  const { request, response } = exchange;
  const length = Number(request.headers['content-length'] ?? 0);
  if (length > limit.bytes) {
    return Promise.reject(tooLarge(limit));
  }
  if (exchange.expectsContinue) response.writeContinue();
  return new Promise((resolve, reject) => {
    const pieces = new BodyPieces();
    const reading: BodyReading = {
      exchange,
      received: 0,
      looked: undefined,
      cut: (why) => {
        settle();
        reject(why === 'slow' ? tooSlow(exchange) : tooManyBodies(exchange));
      },
    };
    exchange.bodies.add(reading);
    const settle = () => {
      exchange.bodies.delete(reading);
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
    };
    const onData = (chunk: Buffer) => {
      if (reading.received + chunk.length > limit.bytes) {
        settle();
        reject(tooLarge(limit));
        return;
      }
      pieces.add(chunk);
      // a body that arrives in one piece is not held in memory while the rest arrives
      if (chunk.length !== length) exchange.bodies.grow(reading, chunk.length);
    };
    const onEnd = () => {
      settle();
      resolve(pieces.whole());
    };
    const onClose = () => {
      settle();
      reject(new ClientGone());
    };
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

export function tooLarge(limit: BodyLimit): RunyardError {
  return errors.payloadTooLarge('The request body', describeBytes(limit.bytes), limit.setting);
}

export function tooManyBodies({ bodies }: Exchange): RunyardError {
  return errors.tooManyBodies(describeBytes(bodies.most));
}

export function tooSlow({ slowClientMs }: Exchange): RunyardError {
  const rate = `${describeBytes(leastBytes)} in ${slowClientMs} ms`;
  return errors.requestTimeout(`arrives too slowly: its body must bring at least ${rate}`, 'slowClientMs');
}

export function describeBytes(bytes: number): string {
  if (bytes % 1_048_576 === 0) return `${bytes / 1_048_576} MiB`;
  if (bytes % 1_024 === 0) return `${bytes / 1_024} KiB`;
  return `${bytes} bytes`;
}

/** The media type of a content type header, in lower case, without parameters. */
export function mediaType(header: string | undefined): string {
  if (header === undefined) return '';
  const end = header.indexOf(';');
  return (end === -1 ? header : header.slice(0, end)).trim().toLowerCase();
}
