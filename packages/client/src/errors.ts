import type { ValidationItem } from './generated/api.js';

/** Everything that the client throws, except the reason of an aborted signal. */
export class RunyardError extends Error {
  override name = 'RunyardError';
}

/** The service could not be reached, or the connection broke. `cause` is what the platform said. */
export class NetworkError extends RunyardError {
  override name = 'NetworkError';
}

/** What a response that is an error says. */
export interface ProblemDetails {
  readonly status: number;
  readonly errorCode: string;
  readonly detail: string;
  /** Identifies the request in the log of the service. */
  readonly requestId: string | undefined;
  /** How long the service asks to wait. */
  readonly retryAfterMs: number | undefined;
  /** The faults of the request with their places, if the service names them. */
  readonly faults: readonly ValidationItem[];
  /** The whole body, as JSON if it is JSON. */
  readonly body: unknown;
}

/** The service refused the request, or failed. */
export class ApiError extends RunyardError implements ProblemDetails {
  override name = 'ApiError';
  readonly status!: number;
  readonly errorCode!: string;
  readonly detail!: string;
  readonly requestId!: string | undefined;
  readonly retryAfterMs!: number | undefined;
  readonly faults!: readonly ValidationItem[];
  readonly body!: unknown;

  constructor(problem: ProblemDetails) {
    super(`${problem.status} ${problem.errorCode}: ${problem.detail}`);
    Object.assign(this, problem);
  }
}

/** 400 and 422: the request is not valid. */
export class InvalidRequestError extends ApiError {
  override name = 'InvalidRequestError';
}
/** 401: the token is missing, wrong or expired. */
export class AuthenticationError extends ApiError {
  override name = 'AuthenticationError';
}
/** 403: the caller may not do this. */
export class ForbiddenError extends ApiError {
  override name = 'ForbiddenError';
}
/** 404: it does not exist, or belongs to another user. */
export class NotFoundError extends ApiError {
  override name = 'NotFoundError';
}
/** 409: the state of the service does not allow it. */
export class ConflictError extends ApiError {
  override name = 'ConflictError';
}
/** 429: too many requests. */
export class RateLimitError extends ApiError {
  override name = 'RateLimitError';
}
/** 503: the service cannot do this now. */
export class UnavailableError extends ApiError {
  override name = 'UnavailableError';
}

const classes: Record<number, typeof ApiError> = {
  400: InvalidRequestError,
  401: AuthenticationError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  422: InvalidRequestError,
  429: RateLimitError,
  503: UnavailableError,
};

/** The error that a response is. It may be of a proxy, which has other bodies than the service. */
export async function apiError(response: Response): Promise<ApiError> {
  const { status, headers } = response;
  const text = await response.text().catch(() => '');
  const body = parsed(text);
  const { detail, error_code: code, request_id: id } = Object(body);
  const faults: ValidationItem[] = Array.isArray(detail) ? detail.filter((fault) => fault?.loc?.join) : [];
  const faultTexts = faults.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`);
  return new (classes[status] ?? ApiError)({
    status,
    errorCode: typeof code === 'string' ? code : 'unknown',
    detail: typeof detail === 'string' ? detail : faultTexts.join('; ') || detailOf(response, text),
    requestId: typeof id === 'string' ? id : (headers.get('x-request-id') ?? undefined),
    retryAfterMs: waitIn(headers.get('retry-after')),
    faults,
    body,
  });
}

/** Browsers hide the status and the address of a redirect. */
function detailOf({ status, statusText, type, headers }: Response, text: string): string {
  if (type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    const target = headers.get('location') ?? 'another address';
    return `The request was redirected to ${target}. Redirects are not followed: set baseUrl to the address of the service.`;
  }
  const isPage = headers.get('content-type')?.startsWith('text/html');
  return (isPage ? '' : text.slice(0, 500)) || statusText || 'The response does not say why.';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Seconds, or a date. */
function waitIn(header: string | null): number | undefined {
  if (!header) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/** Whether the same request may succeed soon. */
export function isTransient(error: unknown, longestWaitMs = 60_000): error is NetworkError | ApiError {
  if (!(error instanceof ApiError)) return error instanceof NetworkError;
  return [429, 502, 503, 504].includes(error.status) && (error.retryAfterMs ?? 0) <= longestWaitMs;
}
