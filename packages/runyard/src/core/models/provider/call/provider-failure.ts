import { isJsonObject, type Json, type JsonObject, parseJson } from '../../../json.js';
import { type FailureClues, reasonOfRefusal } from '../../failure-reason.js';
import { ModelError } from '../../model-error.js';
import { retryHints } from './retry-hints.js';

const longestMessage = 1_000;

/** What a provider said about a failure, whatever form it chose. */
interface ProviderComplaint {
  readonly message: string;
  readonly code?: string | number;
  /** Its kind in the provider's own words, e.g. `overloaded_error`. */
  readonly type?: string;
  /** The error as it came. */
  readonly error?: JsonObject;
}

/** The part of an HTTP answer that describes a failure. */
export type FailedResponse = Pick<Response, 'status' | 'statusText' | 'headers'>;

/** The error for an answer whose status is not a success. */
export function errorFromResponse(
  provider: string,
  response: FailedResponse,
  body: string,
  redact: (text: string) => string,
): ModelError {
  const { status } = response;
  const complaint = complaintFromBody(body, response);
  const { afterMs, worthwhile } = retryHints(response.headers, complaint.error);
  return new ModelError(`${provider} answered ${status}: ${shortened(redact(complaint.message))}`, {
    provider,
    kind: 'refused',
    reason: reasonOfRefusal({ status, ...cluesOf(complaint) }),
    status,
    retryable: worthwhile ?? isWorthRetrying(status, complaint.code),
    retryAfterMs: afterMs,
  });
}

/** The error for an `error` object inside an answer that began well. */
export function errorFromStream(provider: string, error: Json, redact: (text: string) => string): ModelError {
  const complaint = complaintFrom({ error }) ?? { message: JSON.stringify(error) };
  const status = statusOf(complaint);
  const { afterMs } = retryHints(new Headers(), complaint.error);
  return new ModelError(`${provider} reported an error: ${shortened(redact(complaint.message))}`, {
    provider,
    kind: 'refused',
    reason: reasonOfRefusal({ status, ...cluesOf(complaint) }),
    status,
    retryable: status !== undefined && isWorthRetrying(status, complaint.code),
    retryAfterMs: afterMs,
  });
}

/** Google has the name of its error in `status`. */
function cluesOf({ message, code, type, error }: ProviderComplaint): Pick<FailureClues, 'names' | 'message'> {
  const names = [code, type, error?.status].filter((name) => typeof name === 'string');
  return { message: message.slice(0, longestMessage), names };
}

/** Secrets are removed before the text is cut: half of one would not be recognised. */
function shortened(text: string): string {
  return text.slice(0, longestMessage);
}

/** The status that an error would have had as an answer of its own; inside a stream it comes only by name. */
const statusByName = new Map([
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['rate_limit_exceeded', 429],
  ['insufficient_quota', 429],
  ['api_error', 500],
  ['server_error', 500],
  ['timeout_error', 504],
  ['overloaded_error', 529],
  ['server_is_overloaded', 529],
  ['slow_down', 503],
]);

function statusOf({ code, type }: ProviderComplaint): number | undefined {
  const status = Number(code);
  if (status >= 400 && status < 600) return status;
  return statusByName.get(String(code)) ?? statusByName.get(String(type));
}

function isWorthRetrying(status: number, code: string | number | undefined): boolean {
  // Waiting does not fill an empty account.
  if (code === 'insufficient_quota') return false;
  return status >= 500 || status === 408 || status === 409 || status === 425 || status === 429;
}

function complaintFromBody(body: string, response: FailedResponse): ProviderComplaint {
  const location = response.headers.get('location');
  if (response.status >= 300 && response.status < 400) {
    const target = location ? ` to ${location.split(/[?#]/)[0]}` : '';
    return { message: `it redirects${target}. Set the base URL to where it really is.` };
  }
  const text = body.trim();
  if (text === '') return { message: response.statusText || 'no explanation' };
  try {
    const parsed = complaintFrom(parseJson(text));
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
  return { message: text };
}

/** Finds the message in the shapes that providers and the proxies before them use. */
function complaintFrom(value: Json): ProviderComplaint | undefined {
  const body = Array.isArray(value) ? value[0] : value;
  if (!isJsonObject(body)) return undefined;
  const error = body.error ?? body;
  if (typeof error === 'string') return { message: error };
  if (!isJsonObject(error)) return undefined;
  const message = [error.message, error.detail, error.msg, body.message].find(
    (part) => typeof part === 'string',
  );
  const code = typeof error.code === 'string' || typeof error.code === 'number' ? error.code : undefined;
  const type = typeof error.type === 'string' ? error.type : undefined;
  const text = message ?? (error.detail === undefined ? undefined : JSON.stringify(error.detail));
  if (text === undefined) return undefined;
  return { message: String(text), code, type, error };
}
