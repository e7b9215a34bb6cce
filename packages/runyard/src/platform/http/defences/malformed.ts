import type { Duplex } from 'node:stream';
import { errors, RunyardError } from '../../../core/errors/errors.js';
import { newId } from '../../../core/ids.js';
import { describeBytes } from '../request/body.js';
import type { HttpSettings } from '../settings.js';

/** How long the headers of a request may take to arrive, unless all of it has less. */
export const headersTimeoutMs = 30_000;

type Bounds = Pick<HttpSettings, 'maxHeaderBytes' | 'requestTimeoutMs'>;

/** What is not even HTTP has no request and no response object; it gets an answer all the same. */
export function answerMalformed(error: { readonly code: string }, socket: Duplex, bounds: Bounds): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, code, message } = explain(error, bounds);
  const requestId = newId();
  const body = JSON.stringify({ detail: message, error_code: code, request_id: requestId });
  socket.end(
    `HTTP/1.1 ${status} ${reasons[status] ?? 'Bad Request'}\r\n` +
      `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
      `x-request-id: ${requestId}\r\n` +
      `x-content-type-options: nosniff\r\ncache-control: no-store\r\nconnection: close\r\n\r\n${body}`,
  );
}

const reasons: Readonly<Record<number, string>> = {
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

function explain(
  { code }: { readonly code: string },
  { maxHeaderBytes, requestTimeoutMs }: Bounds,
): RunyardError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return errors.requestTimeout(
        `did not arrive in time: its headers within ${headersTimeoutMs} ms, all of it within ${requestTimeoutMs} ms`,
        'requestTimeoutMs',
      );
    case 'HPE_HEADER_OVERFLOW':
      return errors.headersTooLarge(describeBytes(maxHeaderBytes), 'maxHeaderBytes');
    default:
      return new RunyardError('bad_request', 400, 'Bad Request');
  }
}
