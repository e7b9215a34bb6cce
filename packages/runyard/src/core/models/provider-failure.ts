import { isJsonObject, type Json } from '../json.js';
import { ModelError } from './model-error.js';

const longestMessage = 1_000;

/** What a provider said about a failure, whatever form it chose. */
interface ProviderComplaint {
  readonly message: string;
  readonly code?: string | number;
}

/** The error for an answer whose status is not a success. */
export function errorFromResponse(
  provider: string,
  response: Response,
  body: string,
  redact: (text: string) => string,
): ModelError {
  const { status } = response;
  const complaint = complaintFromBody(body, response);
  return new ModelError(`${provider} answered ${status}: ${redact(complaint.message)}`, {
    provider,
    kind: 'refused',
    status,
    retryable: isWorthRetrying(status, complaint.code),
    retryAfterMs: retryAfter(response.headers),
  });
}

/** The error for an `error` object inside an answer that began well. */
export function errorFromStream(provider: string, error: Json, redact: (text: string) => string): ModelError {
  const complaint = complaintFrom({ error }) ?? { message: JSON.stringify(error).slice(0, longestMessage) };
  const code = Number(complaint.code);
  const status = code >= 400 && code < 600 ? code : undefined;
  return new ModelError(`${provider} reported an error: ${redact(complaint.message)}`, {
    provider,
    kind: 'refused',
    status,
    retryable: status !== undefined && isWorthRetrying(status, complaint.code),
  });
}

function isWorthRetrying(status: number, code: string | number | undefined): boolean {
  // Waiting does not fill an empty account.
  if (code === 'insufficient_quota') return false;
  return status >= 500 || status === 408 || status === 409 || status === 425 || status === 429;
}

function complaintFromBody(body: string, response: Response): ProviderComplaint {
  const location = response.headers.get('location');
  if (response.status >= 300 && response.status < 400) {
    const target = location ? ` to ${location.split(/[?#]/)[0]}` : '';
    return { message: `it redirects${target}. Set the base URL to where it really is.` };
  }
  const text = body.trim();
  if (text === '') return { message: response.statusText || 'no explanation' };
  try {
    const parsed = complaintFrom(JSON.parse(text) as Json);
    if (parsed) return parsed;
  } catch {
    // Not JSON: a proxy's page or plain text.
  }
  if (/^<(!doctype|html|\?xml)/i.test(text)) {
    const title = /<title[^>]*>([^<]*)<\/title>/i.exec(text)?.[1]?.trim();
    return {
      message: `an HTML page${title ? ` titled “${title.slice(0, 200)}”` : ''} instead of a model's answer`,
    };
  }
  return { message: text.slice(0, longestMessage) };
}

/** Finds the message in the shapes that providers and the proxies before them use. */
function complaintFrom(value: Json): ProviderComplaint | undefined {
  const body = Array.isArray(value) ? value[0] : value;
  if (!isJsonObject(body)) return undefined;
  const error = body.error ?? body;
  if (typeof error === 'string') return { message: error.slice(0, longestMessage) };
  if (!isJsonObject(error)) return undefined;
  const message = [error.message, error.detail, error.msg, body.message].find(
    (part) => typeof part === 'string',
  );
  const code = typeof error.code === 'string' || typeof error.code === 'number' ? error.code : undefined;
  if (message !== undefined) return { message: String(message).slice(0, longestMessage), code };
  if (error.detail !== undefined)
    return { message: JSON.stringify(error.detail).slice(0, longestMessage), code };
  return undefined;
}

function retryAfter(headers: Headers): number | undefined {
  const milliseconds = Number(headers.get('retry-after-ms') ?? Number.NaN);
  if (Number.isFinite(milliseconds) && milliseconds >= 0) return milliseconds;
  const value = headers.get('retry-after');
  if (value === null) return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return seconds >= 0 ? seconds * 1000 : undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}
