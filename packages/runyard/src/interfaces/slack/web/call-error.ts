/** A call of Slack's Web API that was not done, or whose answer was lost. */
export class SlackCallError extends Error {
  /** No sooner, when Slack says so. */
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly method: string,
    /** The error as Slack names it, such as `channel_not_found`; ours have a dash in their names. */
    readonly code: string,
    /** The same call may succeed later. */
    readonly retryable: boolean,
    { retryAfterMs, ...options }: ErrorOptions & { readonly retryAfterMs?: number } = {},
  ) {
    super(`Slack refused ${method}: ${code}`, options);
    this.name = 'SlackCallError';
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Whether it has nothing to do with what was sent: Slack could not be reached, does not work at the moment, or wants
 * fewer calls. However often that happens, the call is not to blame.
 */
export function isUnreachable(error: unknown): boolean {
  if (!(error instanceof SlackCallError)) return false;
  return unreachable.has(error.code) || error.code.startsWith('http-5');
}

const unreachable = new Set([
  'request-failed',
  'call-failed',
  'too-many-calls-wait',
  'ratelimited',
  'rate_limited',
  'service_unavailable',
]);

/** Errors of Slack's that are not about the call: the same call may succeed later. */
const passing = new Set([
  'ratelimited',
  'rate_limited',
  'internal_error',
  'fatal_error',
  'service_unavailable',
  'request_timeout',
  'team_added_to_org',
  'messaging_processing_failed',
]);

export function isPassing(code: string): boolean {
  return passing.has(code);
}

/** Errors about the token: the workspace may have another one by now. */
const ofToken = new Set(['invalid_auth', 'not_authed', 'token_revoked', 'token_expired', 'account_inactive']);

export function isOfToken(code: string): boolean {
  return ofToken.has(code);
}

export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof SlackCallError && codes.includes(error.code);
}
