import { define, RunyardError } from './runyard-error.js';

/** Knowledge bases, their contents and sources. */
export const knowledgeErrors = {
  knowledgeRequired: define(
    'knowledge_required',
    400,
    (ids: readonly string[]) =>
      `db_id or knowledge_id query parameter is required when using multiple knowledge bases. Available IDs: ${quoted(ids)}`,
  ),
  severalKnowledgeBases: define(
    'knowledge_required',
    400,
    (databaseId: string, ids: readonly string[]) =>
      `Multiple knowledge instances found for db_id '${databaseId}'. Please specify knowledge_id parameter. Available IDs: ${quoted(ids)}`,
  ),
  knowledgeNotFound: define('knowledge_not_found', 404, (id: string) => `Knowledge base '${id}' not found`),
  knowledgeDatabaseNotFound: define(
    'knowledge_not_found',
    404,
    (databaseId: string) => `Knowledge instance with db_id '${databaseId}' not found`,
  ),

  contentNotFound: define('content_not_found', 404, (id: string) => `Content not found: ${id}`),
  /** Content that the caller may not see has the id that the new content would have. */
  contentIdTaken: define(
    'content_id_taken',
    409,
    (id: string) => `A content with the id ${id} exists. Give the new content another name.`,
  ),
  contentRequired: define(
    'content_required',
    400,
    () => 'The request has no content. Send exactly one of file, text_content and url.',
  ),
  severalContents: define(
    'content_ambiguous',
    400,
    (fields: readonly string[]) =>
      `The request has several contents: ${fields.join(', ')}. Send exactly one of file, text_content and url.`,
  ),
  invalidReader: define('invalid_reader', 400, (id: string) => `Invalid reader_id: ${id}`),
  invalidMetadata: define('invalid_metadata', 400, () => 'Invalid JSON format for metadata'),

  unknownSource: define(
    'source_unknown',
    400,
    (id: string) => `Unknown content source: ${id}. Check /knowledge/config for available sources.`,
  ),
  sourceNotFound: define('source_not_found', 404, (id: string) => `Content source not found: ${id}`),

  vectorStoreUnknown: define(
    'vector_store_unknown',
    400,
    (given: readonly string[], id: string) =>
      `None of the provided Vector DB IDs ${quoted(given)} match the knowledge base Vector DB ID ${id}`,
  ),
  embedderFailed: (text: string, cause?: unknown) =>
    new RunyardError('embedder_failed', 502, `The query could not be embedded: ${text}`, { cause }),
  searchFailed: (cause?: unknown) =>
    new RunyardError('search_failed', 503, 'The vector store could not be searched. Try again shortly.', {
      cause,
    }),
  claimRequired: define(
    'claim_required',
    403,
    (name: string) => `Your token has no claim that says where contents of knowledge base '${name}' belong.`,
  ),
} as const;

/** A list as the wire contract writes it. */
function quoted(values: readonly string[]): string {
  return `[${values.map((value) => `'${value}'`).join(', ')}]`;
}
