import { define, RunyardError, type ValidationItem } from './runyard-error.js';

const outageTexts = {
  lost: 'The database cannot be reached.',
  unwritable: 'The database does not accept writes at the moment.',
  busy: 'The database is too busy to respond.',
  schema: 'The schema of the database has changed.',
} as const;

/** Seconds. What is away for longer is asked again. */
const retrySoon = { 'retry-after': '2' };

/** Requests that cannot be understood, or not answered now. */
export const requestErrors = {
  invalidRequest: (items: readonly ValidationItem[]) =>
    new RunyardError(
      'invalid_request',
      422,
      items.map((item) => `${item.loc.join('.')}: ${item.msg}`).join('; '),
      { items },
    ),
  notFound: (hint?: string) =>
    new RunyardError('not_found', 404, 'Not Found', hint === undefined ? {} : { fields: { hint } }),
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
    (what: string, bound: string, setting?: string) =>
      `${what} is larger than the limit of ${bound}${setting === undefined ? '' : ` (setting ${setting})`}.`,
  ),
  tooManyBodies: (bound: string) =>
    new RunyardError(
      'too_many_bodies',
      503,
      `The request bodies in transfer have reached the limit of ${bound} together (setting maxBodiesBytes). Send the request again in a few seconds.`,
      { headers: { 'retry-after': '5' } },
    ),
  urlTooLong: define('url_too_long', 414, (fault: string) => `The address of the request ${fault}.`),
  headersTooLarge: define(
    'headers_too_large',
    431,
    (bound: string, setting?: string) =>
      `The headers of the request are larger than the limit of ${bound}${setting === undefined ? '' : ` (setting ${setting})`}.`,
  ),
  requestTimeout: (fault: string, setting: string) =>
    new RunyardError('request_timeout', 408, `The request ${fault} (setting ${setting}).`, {
      headers: { connection: 'close' },
    }),
  rateLimited: (perMinute: number, burst: number, retryAfterSeconds: number) =>
    new RunyardError(
      'rate_limited',
      429,
      `Too many requests: the limit is ${perMinute} per minute and ${burst} at once. Try again in ${retryAfterSeconds} s.`,
      { headers: { 'retry-after': String(retryAfterSeconds) } },
    ),
  /** Something that a client of a WebSocket sent and that is no action. */
  invalidFrame: define('invalid_frame', 400, (text: string) => text),
  tooManyFollowed: define(
    'too_many_followed_runs',
    429,
    (bound: number) =>
      `This connection already follows ${bound} runs, which is the limit. Wait until one ends, or open another connection.`,
  ),
  originRefused: define(
    'origin_not_allowed',
    403,
    (origin: string) =>
      `Pages of ${origin} may not call this service. To allow them, add the origin to the setting corsOrigins.`,
  ),
  hostRefused: define(
    'host_not_allowed',
    403,
    () =>
      'The Host header of the request names a host that is not allowed. Use localhost or 127.0.0.1, or add the host to the setting allowedHosts.',
  ),
  repeatedHeader: define(
    'repeated_header',
    400,
    (name: string) => `The request has more than one ${name} header. Send it once.`,
  ),
  internal: define(
    'internal_error',
    500,
    () => 'Internal server error. The log has the details under this request_id.',
  ),
  stopping: define(
    'service_stopping',
    503,
    () => 'The service is stopping and accepts no new runs. Try again shortly.',
  ),
  databaseOutage: (outage: keyof typeof outageTexts, cause?: unknown) =>
    new RunyardError(
      'database_unavailable',
      503,
      `${outageTexts[outage]} Send the request again in a few seconds.`,
      { headers: retrySoon, cause, reported: true },
    ),
  notReady: (id: string, command: string) =>
    new RunyardError(
      'schema_outdated',
      503,
      `Database '${id}' has an older schema than this service. Run: ${command}`,
      { reported: true },
    ),
  /** An older process after a migration: it must not write what it does not know. */
  schemaNewer: (id: string, current: number, latest: number) =>
    new RunyardError(
      'schema_newer',
      503,
      `Database '${id}' has schema version ${current}; this process knows versions up to ${latest} and writes nothing. Restart it with the Runyard that migrated the database, or migrate the database down with that one: runyard migrate --to ${latest}`,
      { headers: retrySoon, reported: true },
    ),
  migrationInProgress: (id: string) =>
    new RunyardError(
      'migration_in_progress',
      503,
      `The schema of database '${id}' is being migrated. Send the request again in a few seconds.`,
      { headers: retrySoon, reported: true },
    ),
  schemaVersionUnknown: define(
    'schema_version_unknown',
    400,
    (given: string, latest: number) =>
      `Failed to migrate database: Invalid version: '${given}'. The versions are 0 to ${latest}; leave it out for the latest.`,
  ),
  downgradeLosesData: define(
    'downgrade_loses_data',
    409,
    (id: string, to: number, losses: readonly string[], backup: string) =>
      `Migrating database '${id}' to version ${to} deletes data: ${losses.join(', ')}. Back up the database first (${backup}), then repeat it with force.`,
  ),

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
} as const;
