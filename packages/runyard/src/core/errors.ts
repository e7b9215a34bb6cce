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

  // components and runs
  componentNotFound: (kind: ComponentKind) =>
    new RunyardError(`${kind}_not_found`, 404, `${componentNames[kind]} not found`),
  runNotFound: define('run_not_found', 404, () => 'Run not found'),
  sessionNotFound: define('session_not_found', 404, () => 'Session not found'),
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
