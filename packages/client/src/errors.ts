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

/** The error that a response is. */
export async function apiError(response: Response): Promise<ApiError> {
  const { status, headers, statusText } = response;
  const text = await response.text().catch(() => '');
  const body = parsed(text);
  const { detail, error_code: code, request_id: id } = Object(body);
  const faults: ValidationItem[] = Array.isArray(detail) ? detail : [];
  const faultTexts = faults.map(({ loc, msg }) => `${loc?.join('.')}: ${msg}`);
  return new (classes[status] ?? ApiError)({
    status,
    errorCode: typeof code === 'string' ? code : 'unknown',
    detail: typeof detail === 'string' ? detail : faultTexts.join('; ') || text.slice(0, 500) || statusText,
    requestId: id ?? headers.get('x-request-id') ?? undefined,
    retryAfterMs: waitIn(headers.get('retry-after')),
    faults,
    body,
  });
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

const longestWaitMs = 60_000;

/** Whether the same request may succeed soon. */
export function isTransient(error: unknown): error is NetworkError | ApiError {
  if (!(error instanceof ApiError)) return error instanceof NetworkError;
  return [429, 502, 503, 504].includes(error.status) && (error.retryAfterMs ?? 0) <= longestWaitMs;
}
