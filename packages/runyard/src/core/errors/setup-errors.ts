import { define, RunyardError } from './runyard-error.js';

/** What an operator has to fix. */
export const setupErrors = {
  notReplayable: define(
    'not_replayable',
    503,
    (database: string, current: number, latest: number) =>
      `The database '${database}' has schema version ${current}, but this code reads version ${latest}. Export the runs with the deployed code (runyard replay --export runs.jsonl), then compare them with this code (runyard replay --file runs.jsonl).`,
  ),
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
  embedderChanged: define(
    'embedder_changed',
    409,
    (knowledge: string, stored: string, given: string) =>
      `Knowledge '${knowledge}' was embedded by ${stored}, but this search uses ${given}: their vectors cannot be compared. Embed it anew: runyard knowledge reembed. Keyword searches work meanwhile.`,
  ),
  invalidConfig: define('invalid_config', 500, (text: string) => text),
  notOpened: () =>
    new RunyardError(
      'database_unavailable',
      503,
      'The service is not open. Send the request again in a few seconds.',
      {
        headers: { 'retry-after': '2' },
      },
    ),
  databaseUnavailable: (text: string, cause?: unknown) =>
    new RunyardError('database_unavailable', 503, text, { cause }),
} as const;
