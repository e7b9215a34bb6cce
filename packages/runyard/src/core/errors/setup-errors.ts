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
    (stored: string, given: string) =>
      `The knowledge base was embedded by ${stored}, but ${given} is in use now: their vectors cannot be compared. Embed it anew with runyard knowledge reembed. Keyword searches still work.`,
  ),
  knowledgeTooLarge: define(
    'knowledge_too_large',
    507,
    (knowledge: string, chunks: number, bytes: number) =>
      `The ${chunks} chunks of knowledge '${knowledge}' need more than the ${bytes} bytes of memory that searching them may use. Use PostgreSQL with pgvector, or another vector store.`,
  ),
  tooManyChunks: define(
    'too_many_chunks',
    422,
    (bound: number) =>
      `The content has more than ${bound} chunks. Use larger chunks, or split it into several contents.`,
  ),
  metadataTooLarge: define(
    'metadata_too_large',
    422,
    (bound: string) => `The metadata of a chunk has more than ${bound}.`,
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
