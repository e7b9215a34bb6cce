import { errors, type RunyardError } from '../../core/errors.js';
import { type BodyReading, leastBytes } from './bodies-in-flight.js';
import { BodyPieces } from './body-pieces.js';
import type { Exchange } from './exchange.js';

/** How large a body may be, and which setting says so. */
export interface BodyLimit {
  readonly bytes: number;
  readonly setting: string;
}

/** The client went away in the middle of its request: there is nobody left to answer. */
export class ClientGone extends Error {
  constructor() {
    super('The client closed the connection before its request was complete.');
    this.name = 'ClientGone';
  }
}

/** How long the rest of a refused body is read and thrown away, so that the client gets to see the answer. */
const lingerMs = 5_000;

export function hasBody(exchange: Exchange): boolean {
  const { headers } = exchange.request;
  if (headers['transfer-encoding'] !== undefined) return true;
  const length = headers['content-length'];
  return length !== undefined && length !== '0';
}

/** Reads the whole body, as long as it stays within the limit. */
export function readBody(exchange: Exchange, limit: BodyLimit): Promise<Buffer> {
  const { request, response } = exchange;
  if (Number(request.headers['content-length'] ?? 0) > limit.bytes) {
    return Promise.reject(refuse(exchange, limit));
  }
  if (exchange.expectsContinue) response.writeContinue();
  return new Promise((resolve, reject) => {
    const pieces = new BodyPieces();
    const reading: BodyReading = {
      owner: exchange.bodyOwner,
      received: 0,
      looked: undefined,
      cut: (why) => {
        settle();
        reject(why === 'slow' ? tooSlow(exchange) : crowded(exchange));
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
        reject(refuse(exchange, limit));
        return;
      }
      pieces.add(chunk);
      exchange.bodies.grow(reading, chunk.length);
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

/**
 * Closing a connection on which data still arrives makes the client's system throw our answer away unread. So
 * the rest of the body is read into nothing for a while; a client that does not stop is cut off.
 */
function refuse(exchange: Exchange, limit: BodyLimit): RunyardError {
  throwAwayRest(exchange);
  return errors.payloadTooLarge('The request body', describeBytes(limit.bytes), limit.setting);
}

function tooSlow(exchange: Exchange): RunyardError {
  throwAwayRest(exchange);
  const { slowClientMs } = exchange;
  const rate = `${describeBytes(leastBytes)} in ${slowClientMs} ms`;
  return errors.requestTimeout(`comes too slowly: its body has to bring at least ${rate}`, 'slowClientMs');
}

function crowded(exchange: Exchange): RunyardError {
  throwAwayRest(exchange);
  return errors.tooManyBodies(describeBytes(exchange.bodies.most));
}

function throwAwayRest(exchange: Exchange): void {
  const { request } = exchange;
  // A client that waits for our sign to send has sent nothing, and will not.
  if (!exchange.expectsContinue) {
    request.on('error', () => {});
    request.resume();
    const timer = setTimeout(() => request.destroy(), lingerMs);
    timer.unref();
    request.once('close', () => clearTimeout(timer));
  }
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
