/**
 * Every error that Runyard answers with, in one catalogue: a stable code, an HTTP status, and a text that says
 * what was wrong and what to do. Texts in the wire contract are matched by clients: do not reword those.
 */

/** One fault of a request, in the form of the wire contract. */
export interface ValidationItem {
  readonly type: string;
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly input: unknown;
  readonly ctx?: Record<string, unknown>;
}

export class RunyardError extends Error {
  constructor(
    readonly code: string,
    readonly status: number,
    message: string,
    readonly options: {
      readonly items?: readonly ValidationItem[];
      readonly headers?: Record<string, string>;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'RunyardError';
  }

  /** What the wire shows under `detail`: the list of faults, or the text. */
  get detail(): string | readonly ValidationItem[] {
    return this.options.items ?? this.message;
  }
}

function define<Arguments extends unknown[]>(
  code: string,
  status: number,
  text: (...args: Arguments) => string,
) {
  return (...args: Arguments) => new RunyardError(code, status, text(...args));
}

const quoted = (texts: readonly string[]) => texts.map((text) => `'${text}'`).join(', ');

const componentNames = { agent: 'Agent', team: 'Team', workflow: 'Workflow' } as const;
type ComponentKind = keyof typeof componentNames;

export const errors = {
  // requests
  invalidRequest: (items: readonly ValidationItem[]) =>
    new RunyardError(
      'invalid_request',
      422,
      items.map((item) => `${item.loc.join('.')}: ${item.msg}`).join('; '),
      { items },
    ),
  notFound: define('not_found', 404, () => 'Not Found'),
  badUrl: define('bad_url', 400, () => 'The path of the request is not valid percent-encoded UTF-8.'),
  methodNotAllowed: (allowed: readonly string[]) =>
    new RunyardError('method_not_allowed', 405, 'Method Not Allowed', {
      headers: { allow: allowed.join(', ') },
    }),
  unsupportedMediaType: define(
    'unsupported_media_type',
    415,
    (given: string, accepted: readonly string[]) =>
      `Content type ${given || '(none)'} is not accepted here. Send ${accepted.join(' or ')}.`,
  ),
  payloadTooLarge: define(
    'payload_too_large',
    413,
    (what: string, bound: string, setting: string) =>
      `${what} is larger than the limit of ${bound} (setting ${setting}).`,
  ),
  /** Something that a client of a WebSocket sent and that is no action. */
  invalidFrame: define('invalid_frame', 400, (text: string) => text),
  tooManyFollowed: define(
    'too_many_followed_runs',
    429,
    (bound: number) =>
      `This connection follows ${bound} runs already, which is the limit. Wait until one ends, or open another connection.`,
  ),
  originRefused: define(
    'origin_not_allowed',
    403,
    (origin: string) =>
      `Pages of ${origin} may not connect to this service. Add the origin to the setting corsOrigins.`,
  ),
  internal: define(
    'internal_error',
    500,
    () => 'Internal server error. The log has the details under this request_id.',
  ),
  stopping: define(
    'service_stopping',
    503,
    () => 'The service is stopping and takes no new runs. Try again shortly.',
  ),
  notReady: define(
    'schema_outdated',
    503,
    (id: string, command: string) =>
      `Database '${id}' has an older schema than this service. Run: ${command}`,
  ),

  // tokens
  invalidToken: define('invalid_token', 401, (text: string) => `Invalid token: ${text}`),
  undecodableToken: (text: string, cause?: unknown) =>
    new RunyardError('undecodable_token', 401, `Error decoding token: ${text}`, { cause }),
  tokenExpired: define('token_expired', 401, () => 'Token has expired'),
  /** A WebSocket tells the cause, where the contract has a longer text. */
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
  authenticationUnavailable: (cause?: unknown) =>
    new RunyardError('authentication_unavailable', 503, 'Authentication is temporarily unavailable', {
      headers: { 'retry-after': '5' },
      cause,
    }),

  // choosing a database
  databaseRequired: define(
    'database_required',
    400,
    () => 'The db_id query parameter is required when using multiple databases',
  ),
  tableWithoutDatabase: define(
    'table_without_database',
    400,
    () => 'The db_id query parameter is required when passing a table',
  ),
  databaseUnknown: define('database_unknown', 404, (id: string) => `No database found with id '${id}'`),
  tableUnknown: define(
    'table_unknown',
    404,
    (id: string, table: string) => `No database with id '${id}' has table '${table}'`,
  ),

  // components and runs
  componentNotFound: (kind: ComponentKind) =>
    new RunyardError(`${kind}_not_found`, 404, `${componentNames[kind]} not found`),
  runNotFound: define('run_not_found', 404, (text?: string) => text ?? 'Run not found'),
  /** The contract has several wordings. */
  sessionNotFound: define('session_not_found', 404, (text?: string) => text ?? 'Session not found'),
  sessionExists: define(
    'session_exists',
    409,
    (id: string) => `Session with id '${id}' already exists. Use PATCH /sessions/${id} to update it.`,
  ),
  /** It may be somebody else's: nothing is told of it. */
  sessionIdRefused: define(
    'session_id_refused',
    409,
    (id: string) => `The id '${id}' cannot be used for a session. Leave session_id out, or choose another.`,
  ),
  sessionListsDiffer: define(
    'session_lists_differ',
    400,
    () => 'Session IDs and session types must have the same length',
  ),
  runExists: define(
    'run_exists',
    409,
    (runId: string) => `Run ${runId} exists already. Leave run_id out, or choose another.`,
  ),
  foreignSession: define(
    'session_of_another_user',
    409,
    (sessionId: string) =>
      `Session ${sessionId} belongs to another user. Use that user_id, or another session_id.`,
  ),
  reservedUser: define(
    'reserved_user',
    403,
    (userId: string) => `The user id '${userId}' is reserved. Use another user_id.`,
  ),
  invalidFactoryInput: define('invalid_factory_input', 400, (text: string) => text),
  factoryRefused: define('factory_refused', 403, (text: string) => text),
  /** What an application's code threw is for the log: it may hold anything. */
  factoryFailed: (cause: unknown) =>
    new RunyardError(
      'factory_failed',
      500,
      'Error in agent factory: the agent could not be built. The log has the details.',
      { cause },
    ),
  emptyFile: define('empty_file', 400, () => 'Empty file'),
  unsupportedFileType: define('unsupported_file_type', 400, () => 'Unsupported file type'),

  runHandedOn: define(
    'run_handed_on',
    503,
    (runId: string) =>
      `The service is stopping; run ${runId} is stored and goes on when it is back. Ask for it by its run_id.`,
  ),

  tooManyRuns: (waiting: number) =>
    new RunyardError(
      'too_many_runs',
      503,
      `${waiting} runs are waiting already, which is the limit (setting maxWaitingRuns). Try again in a few seconds.`,
      { headers: { 'retry-after': '5' } },
    ),
  cannotContinue: define(
    'cannot_continue',
    409,
    (runId: string, status: string, why = `is ${status}`) => `Cannot continue run ${runId}: run ${why}`,
  ),
  noSuchMessage: define(
    'no_such_message',
    400,
    (field: 'continue_from' | 'message_index', last: number) => `${field} must be between 0 and ${last}`,
  ),
  notPaused: define('run_not_paused', 409, (status: string) => `Run is not paused (status=${status})`),
  answeredBefore: define(
    'answered_before',
    409,
    (runId: string) =>
      `Run ${runId} does not wait for one of these answers any more. Get the run to see what it waits for.`,
  ),
  idempotencyKeyTaken: define(
    'idempotency_key_taken',
    409,
    () => 'Another run was started with this Idempotency-Key. Use a new key for another run.',
  ),

  invalidContinue: define('invalid_continue', 400, (text: string) => text),
  unresolvedRequirements: define(
    'unresolved_requirements',
    400,
    (parameter: 'requirements' | 'step_requirements' = 'requirements') =>
      `Run has unresolved HITL requirements. Provide the \`${parameter}\` parameter (or resolve an admin approval first).`,
  ),
  nothingToFork: define('nothing_to_fork', 400, () => 'Source session has no runs to fork.'),

  invalidAnswer: define('invalid_answer', 400, (text: string) => text),

  // traces
  traceNotFound: define('trace_not_found', 404, () => 'Trace not found'),
  spanNotFound: define('span_not_found', 404, () => 'Span not found'),
  spanOfOtherTrace: define(
    'span_of_other_trace',
    404,
    (spanId: string, traceId: string) => `Span ${spanId} does not belong to trace ${traceId}`,
  ),
  invalidTraceFilter: define(
    'invalid_trace_filter',
    400,
    (text: string) => `Invalid filter expression: ${text}`,
  ),
  invalidTime: define(
    'invalid_time',
    400,
    (field: string) =>
      `Invalid ${field} format. Use ISO 8601, such as 2026-01-31T10:00:00Z or 2026-01-31T10:00:00+02:00.`,
  ),

  // approvals
  approvalNotFound: define('approval_not_found', 404, () => 'Approval not found'),
  approvalResolved: define(
    'approval_resolved',
    409,
    (status: string) => `Approval is already '${status}' and cannot be resolved`,
  ),
  approvalWithoutRun: define(
    'approval_without_run',
    409,
    (runId: string, status: string) =>
      `Run ${runId} is ${status} and no longer waits for this approval; it cannot be resolved.`,
  ),
  ownApproval: define(
    'own_approval',
    403,
    () => 'Whoever asked for this call cannot decide on it. Somebody else has to resolve the approval.',
  ),
  resolverUnknown: define(
    'resolver_unknown',
    403,
    () => 'Nobody decides on their own calls here, so the decision needs a name. Send resolved_by.',
  ),

  // memories
  memoryNotFound: define('memory_not_found', 404, (memoryId?: string) =>
    memoryId === undefined ? 'Memory not found' : `Memory with ID ${memoryId} not found`,
  ),
  userRequired: define('user_required', 400, () => 'User ID is required'),
  noMemories: define('no_memories', 404, (userId: string) => `No memories found for user ${userId}`),
  invalidModelName: define(
    'invalid_model_name',
    400,
    (name: string) =>
      `Invalid model string format: '${name}'. Write provider:model_id, for example openai:gpt-5-mini.`,
  ),
  modelProviderUnsupported: define(
    'model_provider_unsupported',
    400,
    (provider: string) => `Model provider '${provider}' is not supported.`,
  ),
  noDefaultModel: define(
    'no_default_model',
    400,
    () =>
      'There is no model for this: the service has no agent and no setting defaultModel. Send model as provider:model_id.',
  ),
  memoriesChanged: define(
    'memories_changed',
    409,
    (userId: string) =>
      `The memories of user ${userId} were changed meanwhile, so nothing was replaced. Try again.`,
  ),
  optimizeFailed: (reason: string, cause?: unknown) =>
    new RunyardError('optimize_failed', 500, `Failed to optimize memories: ${reason}`, { cause }),

  // learnings
  learningNotFound: define('learning_not_found', 404, () => 'Learning not found'),
  learningExists: define(
    'learning_exists',
    409,
    (type: string, id: string) =>
      `A '${type}' learning already exists for this identity (id '${id}'). Use PATCH /learnings/${id} to update it.`,
  ),
  learningsOfAnother: define(
    'learnings_of_another_user',
    403,
    (what: 'list learnings' | 'create learnings' | 'delete learnings' | 'list learning users') =>
      `Cannot ${what} for another user`,
  ),
  ownerlessLearning: define(
    'ownerless_learning',
    403,
    () => 'Only admins can modify learnings that have no owner (user_id is null)',
  ),

  // service accounts
  invalidScopes: define(
    'invalid_scopes',
    400,
    (scopes: readonly string[]) => `Invalid scope(s): ${scopes.join(', ')}`,
  ),
  privilegedScopes: define(
    'privileged_scopes',
    400,
    (scopes: readonly string[]) =>
      `Privileged scope(s) require allow_privileged_scopes=true: ${scopes.join(', ')}. Grant them only to accounts that cannot do without.`,
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
  serviceAccountNotFound: define(
    'service_account_not_found',
    404,
    (id: string) => `Service account '${id}' not found`,
  ),
  /** One text for unknown, revoked and expired ones: it tells nothing of what there is. */
  invalidAccountToken: define(
    'invalid_service_account_token',
    401,
    () => 'Invalid or expired service account token',
  ),
  tooManyFailedAttempts: (retryAfterSeconds: number) =>
    new RunyardError('too_many_failed_attempts', 429, 'Too many failed authentication attempts', {
      headers: { 'retry-after': String(retryAfterSeconds) },
    }),

  // the heart
  illegalTransition: define(
    'illegal_transition',
    409,
    (runId: string, from: string, to: string) => `Run ${runId} is ${from}; it cannot become ${to}.`,
  ),
  fenced: define('run_fenced', 409, (runId: string) => `Run ${runId} was taken over by another process.`),

  // configuration
  databaseNotFound: define(
    'database_not_found',
    404,
    (id: string, known: readonly string[]) =>
      `No database found with id '${id}'. Registered: ${known.join(', ')}.`,
  ),
  migrationFailed: define(
    'migration_failed',
    500,
    (id: string, name: string, reason: string) => `Database '${id}': migration ${name} failed: ${reason}`,
  ),
  addressUnavailable: define(
    'address_unavailable',
    500,
    (host: string, port: number, reason: string) => `Cannot listen on ${host}:${port}: ${reason}.`,
  ),
  invalidConfig: define('invalid_config', 500, (text: string) => text),
  databaseUnavailable: (text: string, cause?: unknown) =>
    new RunyardError('database_unavailable', 503, text, { cause }),
} as const;
