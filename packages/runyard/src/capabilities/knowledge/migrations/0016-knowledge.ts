import type { Migration } from '../../../platform/storage/database.js';

/** Contents of knowledge bases, what lists filter them by, and vectors by the hash of their text. */
export const knowledgeContents: Migration = {
  version: 16,
  name: 'knowledge',

  up: (dialect) => [
    // The same content may be in several knowledge bases of one database.
    `CREATE TABLE knowledge_contents (
      knowledge_id text NOT NULL,
      content_id text NOT NULL,
      name text,
      description text NOT NULL,
      metadata text,
      provenance text,
      type text,
      size bigint NOT NULL,
      status text NOT NULL,
      status_message text NOT NULL,
      digest text,
      request text NOT NULL,
      parent_id text,
      job_id text NOT NULL,
      published integer NOT NULL,
      embedder text,
      dimensions integer,
      search_text text NOT NULL,
      deleted_at bigint,
      created_at bigint NOT NULL,
      updated_at bigint NOT NULL,
      PRIMARY KEY (knowledge_id, content_id)
    )`,
    // Lists are newest first.
    'CREATE INDEX knowledge_contents_by_creation ON knowledge_contents (knowledge_id, created_at, content_id)',
    'CREATE INDEX knowledge_contents_by_update ON knowledge_contents (knowledge_id, updated_at, content_id)',
    'CREATE INDEX knowledge_contents_by_parent ON knowledge_contents (knowledge_id, parent_id) WHERE parent_id IS NOT NULL',
    // What a start looks after: contents in process, and those whose removal did not end.
    `CREATE INDEX knowledge_contents_unfinished ON knowledge_contents (updated_at)
      WHERE status = 'processing' OR deleted_at IS NOT NULL`,
    // Which embedders the contents of a knowledge base have.
    `CREATE INDEX knowledge_contents_by_embedder ON knowledge_contents (knowledge_id, embedder, dimensions)
      WHERE embedder IS NOT NULL`,
    `CREATE TABLE knowledge_metadata (
      knowledge_id text NOT NULL,
      content_id text NOT NULL,
      key text NOT NULL,
      value text NOT NULL,
      PRIMARY KEY (knowledge_id, content_id, key)
    )${dialect === 'sqlite' ? ' WITHOUT ROWID' : ''}`,
    'CREATE INDEX knowledge_metadata_by_value ON knowledge_metadata (knowledge_id, key, value, content_id)',
    `CREATE TABLE knowledge_embeddings (
      hash text NOT NULL PRIMARY KEY,
      vector ${dialect === 'sqlite' ? 'blob' : 'bytea'} NOT NULL,
      used_at bigint NOT NULL
    )`,
    'CREATE INDEX knowledge_embeddings_by_use ON knowledge_embeddings (used_at)',
    // Bytes that wait to be indexed, in pieces.
    `CREATE TABLE knowledge_uploads (
      upload_id text NOT NULL,
      position integer NOT NULL,
      bytes ${dialect === 'sqlite' ? 'blob' : 'bytea'} NOT NULL,
      created_at bigint NOT NULL,
      PRIMARY KEY (upload_id, position)
    )`,
    'CREATE INDEX knowledge_uploads_by_time ON knowledge_uploads (created_at)',
  ],

  down: () => [
    'DROP TABLE knowledge_uploads',
    'DROP TABLE knowledge_embeddings',
    'DROP TABLE knowledge_metadata',
    'DROP TABLE knowledge_contents',
  ],
};
