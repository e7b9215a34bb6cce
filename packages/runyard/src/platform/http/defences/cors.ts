import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Origins } from './origins.js';

const preflightMethods = 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT, QUERY';
const otherOrigin: readonly string[] = ['vary', 'Origin'];

/** Says to browsers which pages of other origins may read our answers. */
export class Cors {
  constructor(private readonly origins: Origins) {}

  /** Headers of an answer to a page of this origin, as a flat list. */
  headersFor(origin: string, request: IncomingMessage): readonly string[] {
    // credentials are allowed, so a wildcard would open every caller's data to every page
    return this.origins.allows(origin, request) ? allowHeaders(origin, request) : otherOrigin;
  }

  answerPreflight(request: IncomingMessage, response: ServerResponse, requestId: string): void {
    const origin = request.headers.origin ?? '';
    const allowed = this.origins.allows(origin, request);
    const text = allowed ? 'OK' : 'Disallowed CORS origin';
    const requested = request.headers['access-control-request-headers'];
    response.writeHead(allowed ? 200 : 400, {
      'content-type': 'text/plain; charset=utf-8',
      'content-length': text.length,
      'x-request-id': requestId,
      'x-content-type-options': 'nosniff',
      vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
      'access-control-allow-methods': preflightMethods,
      'access-control-max-age': '600',
      'access-control-allow-credentials': 'true',
      ...(allowed ? { 'access-control-allow-origin': origin } : undefined),
      ...(requested === undefined ? undefined : { 'access-control-allow-headers': requested }),
    });
    response.end(text);
  }
}

/** Whether a browser asks what a page of another origin may send. */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  );
}

/** A refused caller's page may read why, whatever it sent. */
export const refusalHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-methods': '*',
  'access-control-allow-headers': '*',
};

/** Where a page sends credentials along, browsers take `*` for the name of a header: what clients need is named. */
const exposedByName = '*, retry-after, x-request-id, x-run-id, x-runyard-hint';

function allowHeaders(origin: string, { headers }: IncomingMessage): readonly string[] {
  return [
    'access-control-allow-origin',
    origin,
    'access-control-allow-credentials',
    'true',
    'access-control-expose-headers',
    headers.cookie === undefined ? '*' : exposedByName,
    'vary',
    'Origin',
  ];
}
