import type { IncomingMessage, ServerResponse } from 'node:http';

const preflightMethods = 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT, QUERY';
const otherOrigin: readonly string[] = ['vary', 'Origin'];

/** Which pages of other origins may read our answers. */
export class Cors {
  readonly #headers: ReadonlyMap<string, readonly string[]>;

  constructor(origins: readonly string[]) {
    // Credentials are allowed, so a wildcard would open every caller's data to every page.
    const named = origins.filter((origin) => origin !== '*');
    this.#headers = new Map(named.map((origin) => [origin, allowHeaders(origin)]));
  }

  /** Headers of an answer to a page of this origin, as a flat list. */
  headersFor(origin: string): readonly string[] {
    return this.#headers.get(origin) ?? otherOrigin;
  }

  isPreflight(request: IncomingMessage): boolean {
    return (
      request.method === 'OPTIONS' &&
      request.headers.origin !== undefined &&
      request.headers['access-control-request-method'] !== undefined
    );
  }

  answerPreflight(request: IncomingMessage, response: ServerResponse, requestId: string): void {
    const origin = request.headers.origin ?? '';
    const allowed = this.#headers.has(origin);
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

/** A refused caller's page may read why, whatever it sent. */
export const refusalHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-methods': '*',
  'access-control-allow-headers': '*',
};

function allowHeaders(origin: string): readonly string[] {
  return [
    'access-control-allow-origin',
    origin,
    'access-control-allow-credentials',
    'true',
    'access-control-expose-headers',
    '*',
    'vary',
    'Origin',
  ];
}
