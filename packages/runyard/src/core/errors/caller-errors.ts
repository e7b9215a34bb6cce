import { define, isReported, RunyardError } from './runyard-error.js';

const quoted = (texts: readonly string[]) => texts.map((text) => `'${text}'`).join(', ');

/** The words of OAuth (RFC 6749, 7591, 8707) for what is wrong. Clients act on them. */
export type OauthCode =
  | 'access_denied'
  | 'invalid_client'
  | 'invalid_client_metadata'
  | 'invalid_grant'
  | 'invalid_redirect_uri'
  | 'invalid_request'
  | 'invalid_scope'
  | 'invalid_target'
  | 'temporarily_unavailable'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type';

/** Who calls, and what they may do. */
export const callerErrors = {
  invalidToken: define('invalid_token', 401, (text: string) => `Invalid token: ${text}`),
  undecodableToken: (text: string, cause?: unknown) =>
    new RunyardError('undecodable_token', 401, `Error decoding token: ${text}`, { cause }),
  tokenExpired: define('token_expired', 401, () => 'Token has expired'),
  /** A WebSocket sends the cause, where the contract has a longer text. */
  tokenAudience: (expected: readonly string[], given: readonly string[]) =>
    new RunyardError(
      'token_audience',
      401,
      'Invalid token audience - token not valid for this Runyard instance',
      {
        cause: new Error(`Invalid audience. Expected one of: [${quoted(expected)}], got: [${quoted(given)}]`),
      },
    ),
  tokenSubject: define('token_subject', 401, () => 'Invalid token subject'),
  tokenMissing: define('token_missing', 401, (text: string) => text),
  securityKeyWrong: define('security_key_wrong', 401, () => 'Invalid authentication token'),
  insufficientScope: define(
    'insufficient_scope',
    403,
    (scopes: readonly string[]) => `Insufficient permissions. Required scope(s): ${scopes.join(', ')}`,
  ),
  /** Of one in whose name the service acts later. */
  rightsLost: define(
    'rights_lost',
    403,
    (reason: string) => `The creator of this schedule has lost the right to it: ${reason}`,
  ),
  /** In the words of a WebSocket. */
  actionNotAllowed: define(
    'insufficient_scope',
    403,
    (doing: string, kind: string) => `Insufficient permissions to ${doing} this ${kind}`,
  ),
  /** In the words of MCP. */
  mcpHostRefused: define('invalid_host', 400, () => 'Host not allowed.'),
  mcpOriginRefused: define('invalid_origin', 400, () => 'Origin not allowed.'),
  mcpCallerRefused: define('unauthorized', 401, () => 'Not authorized for the MCP server.'),
  authenticationUnavailable: (cause?: unknown) =>
    new RunyardError('authentication_unavailable', 503, 'Authentication is temporarily unavailable', {
      headers: { 'retry-after': '5' },
      cause,
      reported: isReported(cause),
    }),

  invalidScopes: define(
    'invalid_scopes',
    400,
    (scopes: readonly string[]) => `Invalid scope(s): ${scopes.join(', ')}`,
  ),
  privilegedScopes: define(
    'privileged_scopes',
    400,
    (scopes: readonly string[]) =>
      `Privileged scope(s) require allow_privileged_scopes=true: ${scopes.join(', ')}. Grant them only to accounts that need them.`,
  ),
  minterUnknown: define(
    'minter_unknown',
    401,
    () => 'JWT authentication is required to mint a service account.',
  ),
  scopesNotHeld: define(
    'scopes_not_held',
    403,
    (scopes: readonly string[]) => `Cannot grant scope(s) you do not hold: ${scopes.join(', ')}`,
  ),
  serviceAccountExists: define(
    'service_account_exists',
    409,
    (name: string) => `An active service account named '${name}' already exists. Revoke it first to rotate.`,
  ),
  serviceAccountNameTaken: define(
    'service_account_name_taken',
    409,
    (name: string) => `The name '${name}' belonged to a service account of another user. Choose another.`,
  ),
  serviceAccountNotFound: define(
    'service_account_not_found',
    404,
    (id: string) => `Service account '${id}' not found`,
  ),
  /** One text for unknown, revoked and expired ones: it does not reveal what exists. */
  invalidAccountToken: define(
    'invalid_service_account_token',
    401,
    () => 'Invalid or expired service account token',
  ),
  tooManyFailedAttempts: (retryAfterSeconds: number) =>
    new RunyardError('too_many_failed_attempts', 429, 'Too many failed authentication attempts', {
      headers: { 'retry-after': String(retryAfterSeconds) },
    }),

  /** Of the authorization server for `/mcp`. */
  oauth: (code: OauthCode, text: string) => new RunyardError(code, 400, text),
  /** Of a client that sent its credentials in a header. */
  oauthClientRefused: (text: string) =>
    new RunyardError('invalid_client', 401, text, { headers: { 'www-authenticate': 'Basic realm="mcp"' } }),
  oauthLimited: (text: string, retryAfterSeconds: number) =>
    new RunyardError('temporarily_unavailable', 429, text, {
      headers: { 'retry-after': String(retryAfterSeconds) },
    }),
  /** The service cannot know where it is reached, and must not believe what a request says. */
  publicUrlMissing: () =>
    new RunyardError(
      'public_url_missing',
      500,
      'The authorization server for MCP does not know its public address. Set publicUrl of mcp(), or the setting mcpPublicUrl.',
    ),
} as const;
