import { errors, RunyardError } from '../../../core/errors/errors.js';
import type { Exchange } from '../exchange.js';
import type { EncodeError } from '../route.js';
import { Reply } from './results.js';

type Headers = Readonly<Record<string, string>>;

/** Sends JSON. Written straight to the socket's response: nothing needs to look at it again. */
export function sendJson(exchange: Exchange, status: number, value: unknown, headers?: Headers): void {
  sendContent(exchange, status, JSON.stringify(value) ?? 'null', 'application/json', headers);
}

export function sendContent(
  exchange: Exchange,
  status: number,
  content: string | Uint8Array,
  contentType: string,
  headers?: Headers,
): void {
  const length = typeof content === 'string' ? Buffer.byteLength(content) : content.byteLength;
  const list = headerList(exchange, headers);
  list.push('content-type', contentType, 'content-length', String(length));
  exchange.response.writeHead(status, list);
  endAnswer(exchange, content);
}

function sendEmpty(exchange: Exchange, status: number, headers?: Headers): void {
  exchange.response.writeHead(status, headerList(exchange, headers));
  endAnswer(exchange);
}

export function sendReply(exchange: Exchange, { status, body, headers }: Reply): void {
  if (body === undefined) sendEmpty(exchange, status, headers);
  else sendJson(exchange, status, body, headers);
}

/** How long the rest of an unwanted body is read and thrown away. */
const lingerMs = 5_000;

/**
 * Closing a connection on which data still arrives makes the client's system throw our answer away unread. So the
 * rest of the body is read into nothing for a while; a client that does not stop is cut off.
 */
function endAnswer({ request, response }: Exchange, content?: string | Uint8Array): void {
  if (request.complete) {
    response.end(content);
    return;
  }
  const timer = setTimeout(() => request.destroy(), lingerMs);
  timer.unref();
  request.on('error', () => {}).once('close', () => clearTimeout(timer));
  if (response.shouldKeepAlive) response.end(content);
  else {
    // the end of the answer closes the connection
    if (content !== undefined) response.write(content);
    request.once('end', () => response.end());
  }
  request.resume();
}

/** The headers that every answer carries, as the flat list that Node writes fastest. */
export function headerList(exchange: Exchange, headers?: Headers): string[] {
  const list = [
    'x-request-id',
    exchange.requestId,
    // a browser takes it for what it is said to be, and does not pass its address on
    'x-content-type-options',
    'nosniff',
    'referrer-policy',
    'no-referrer',
  ];
  // responses are private unless the route says otherwise
  if (headers?.['cache-control'] === undefined) list.push('cache-control', 'no-store');
  if (exchange.cors) list.push(...exchange.cors);
  if (exchange.hint !== undefined) list.push('x-runyard-hint', exchange.hint);
  if (headers) for (const name in headers) list.push(name, headers[name] ?? '');
  return list;
}

/** Answers with an error in the form of the wire contract. Unexpected ones are logged whole and shown as nothing. */
export function sendError(exchange: Exchange, error: unknown, headers?: Headers, encode?: EncodeError): void {
  const known = error instanceof RunyardError && error.status < 500 ? error : explain(exchange, error);
  // The answer has begun: the only honest thing left is to break it off.
  if (exchange.response.headersSent) {
    exchange.response.destroy();
    return;
  }
  if (encode !== undefined) {
    const { basePath, path, request, requestId } = exchange;
    const answer = encode(known, { basePath, path, requestId, headers: request.headers });
    sendReply(exchange, new Reply(answer.status, answer.body, { ...answer.headers, ...headers }));
    return;
  }
  const runId = known.options.fields?.run_id;
  sendJson(exchange, known.status, errorBody(known, exchange.requestId), {
    ...known.options.headers,
    ...(runId !== undefined && runIdHeader(runId)),
    ...headers,
  });
}

/** Names the run of a response. An id of the client's may have characters that no header can carry. */
export function runIdHeader(runId: string): Headers {
  return { 'x-run-id': encodeURIComponent(runId.replace(loneSurrogates, '\ufffd')) };
}

const loneSurrogates = /\p{Surrogate}/gu;

function errorBody(error: RunyardError, requestId: string): object {
  return { detail: error.detail, error_code: error.code, request_id: requestId, ...error.options.fields };
}

function explain(exchange: Exchange, error: unknown): RunyardError {
  const { requestId, request, path, log } = exchange;
  const fields = { request_id: requestId, method: request.method, path };
  if (error instanceof RunyardError) {
    if (error.isReported) return error;
    // an error of the catalogue says what is wrong; only its cause is worth a stack
    const { cause } = error.options;
    log.warn(
      { ...fields, error_code: error.code, ...(cause !== undefined && { err: cause }) },
      error.message,
    );
    return error;
  }
  log.error({ ...fields, err: error }, 'request failed unexpectedly');
  return errors.internal();
}
