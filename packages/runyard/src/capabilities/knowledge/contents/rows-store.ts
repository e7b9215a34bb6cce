import type { Selectable } from 'kysely';
import type { JsonObject } from '../../../core/json.js';
import {
  type Dialect,
  type RunStatement,
  type SqlValue,
  type Statement,
  statement,
} from '../../../platform/storage/database.js';
import { searchText } from '../../../platform/storage/search-text.js';
import type { KnowledgeContentsTable } from '../tables.js';
import type { StoredContent } from './content.js';
import { comparableValue } from './metadata-values.js';

export type ContentRow = Selectable<KnowledgeContentsTable>;

const columns = [
  'knowledge_id',
  'content_id',
  'name',
  'description',
  'metadata',
  'provenance',
  'type',
  'size',
  'status',
  'status_message',
  'digest',
  'request',
  'parent_id',
  'job_id',
  'search_text',
  'created_at',
  'updated_at',
] as const;

/** What a version that searches find was made with stays until another one is published. */
const putContent = statement(
  'put_knowledge_content',
  `INSERT INTO knowledge_contents (${columns.join(', ')}, published, embedder, dimensions, deleted_at)
   VALUES (${columns.map(() => '?').join(', ')}, 0, NULL, NULL, NULL)
   ON CONFLICT (knowledge_id, content_id) DO UPDATE SET
     ${columns
       .slice(2)
       .filter((column) => column !== 'created_at')
       .map((column) => `${column} = excluded.${column}`)
       .join(', ')}, deleted_at = NULL,
     published = CASE WHEN knowledge_contents.deleted_at IS NULL THEN knowledge_contents.published ELSE 0 END,
     created_at = CASE WHEN knowledge_contents.deleted_at IS NULL THEN knowledge_contents.created_at
       ELSE excluded.created_at END`,
);

const removeMetadata = statement(
  'remove_knowledge_metadata',
  'DELETE FROM knowledge_metadata WHERE knowledge_id = ? AND content_id = ?',
);

const insertMetadata = statement(
  'insert_knowledge_metadata',
  'INSERT INTO knowledge_metadata (knowledge_id, content_id, key, value) VALUES (?, ?, ?, ?)',
);

export type ContentToStore = Omit<StoredContent, 'published' | 'deletedAt'>;

export async function putContentRow(
  run: RunStatement,
  dialect: Dialect,
  content: ContentToStore,
): Promise<void> {
  const { knowledgeId, id, name, description, metadata } = content;
  const values: SqlValue[] = [
    knowledgeId,
    id,
    name,
    description ?? '',
    jsonOrNull(metadata),
    jsonOrNull(content.provenance),
    content.type,
    content.size,
    content.status,
    content.statusMessage,
    content.digest,
    JSON.stringify(content.request),
    content.parentId,
    content.jobId,
    searchTextOf(name, description),
    content.createdAt,
    content.updatedAt,
  ];
  await run(putContent[dialect], values);
  await putMetadataRows(run, dialect, knowledgeId, id, metadata);
}

/** Replaces the rows that lists filter by. */
export async function putMetadataRows(
  run: RunStatement,
  dialect: Dialect,
  knowledgeId: string,
  contentId: string,
  metadata: JsonObject | null,
): Promise<void> {
  await run(removeMetadata[dialect], [knowledgeId, contentId]);
  for (const [key, value] of Object.entries(metadata ?? {}))
    await run(insertMetadata[dialect], [knowledgeId, contentId, key, comparableValue(value)]);
}

export const removeMetadataRows: Statement = removeMetadata;

export function searchTextOf(name: string | null, description: string | null): string {
  return searchText(`${name ?? ''}\n${description ?? ''}`);
}

export function contentFromRow(row: ContentRow): StoredContent {
  return {
    knowledgeId: row.knowledge_id,
    id: row.content_id,
    name: row.name,
    description: row.description,
    type: row.type,
    size: Number(row.size),
    metadata: parsed<JsonObject>(row.metadata),
    provenance: parsed<JsonObject>(row.provenance),
    // only these three are stored
    status: row.status as StoredContent['status'],
    statusMessage: row.status_message,
    digest: row.digest,
    // written by this store alone
    request: JSON.parse(row.request) as StoredContent['request'],
    parentId: row.parent_id,
    jobId: row.job_id,
    published: Number(row.published) === 1,
    deletedAt: row.deleted_at === null ? null : Number(row.deleted_at),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
  };
}

export function jsonOrNull(value: JsonObject | null): string | null {
  return value === null ? null : JSON.stringify(value);
}

/** Of a column that this store alone writes. */
function parsed<Value>(text: string | null): Value | null {
  // what was written is what is read
  return text === null ? null : (JSON.parse(text) as Value);
}
