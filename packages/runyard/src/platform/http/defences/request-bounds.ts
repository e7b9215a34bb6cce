import type { IncomingMessage } from 'node:http';
import { errors, type RunyardError } from '../../../core/errors/errors.js';

const longestUrl = 16_384;
const mostQueryParameters = 200;
export const mostHeaders = 200;
/** How many requests of one connection may be unanswered. Clients do not send the next before they have an answer. */
export const mostUnanswered = 100;

/** Which part of a request is too large, before anything else of it is read; undefined for the usual one. */
export function excessOf(request: IncomingMessage): RunyardError | undefined {
  const { url = '/', rawHeaders } = request;
  // names and values one after the other
  if (rawHeaders.length > 2 * mostHeaders) return errors.headersTooLarge(`${mostHeaders} fields`);
  // each parameter takes a sign at least, so a short address need not be counted
  if (url.length <= mostQueryParameters) return undefined;
  if (url.length > longestUrl)
    return errors.urlTooLong(`is longer than the limit of ${longestUrl} characters`);
  if (hasMore(url, '&', mostQueryParameters - 1))
    return errors.urlTooLong(`has more than the limit of ${mostQueryParameters} query parameters`);
  return undefined;
}

/** A request has at most one of each: readers of the first and readers of the last would see two different requests. */
const onceOnly: ReadonlySet<string> = new Set([
  'host',
  'authorization',
  'content-length',
  'content-type',
  'origin',
  'sec-fetch-site',
  'transfer-encoding',
]);

/** A header that stands more than once in a request and must not; Node shows only one of them. */
export function repeatedHeaderOf({ headers, rawHeaders }: IncomingMessage): RunyardError | undefined {
  // names and values one after the other
  if (Object.keys(headers).length === rawHeaders.length / 2) return undefined;
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? '';
    if (onceOnly.has(name) && seen.has(name)) return errors.repeatedHeader(name);
    seen.add(name);
  }
  return undefined;
}

function hasMore(text: string, sign: string, most: number): boolean {
  let count = 0;
  for (let at = text.indexOf(sign); at !== -1; at = text.indexOf(sign, at + 1))
    if (++count > most) return true;
  return false;
}
