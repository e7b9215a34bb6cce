import type { Migration } from '../../../platform/storage/database.js';

/**
 * Chunks of contents and what finds them. The id of a chunk's row is the number of its version and its position, so
 * that the rows of a version are neighbours in every table.
 */
export const knowledgeSearch: Migration = {
  version: 17,
  name: 'knowledge-search',

  up(dialect) {
    const isSqlite = dialect === 'sqlite';
    const numbered = isSqlite
      ? 'integer PRIMARY KEY AUTOINCREMENT'
      : 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY';
    const rowId = isSqlite ? 'integer PRIMARY KEY' : 'bigint PRIMARY KEY';
    const bytes = isSqlite ? 'blob' : 'bytea';
    return [
      // `change` counts what searches see change; what changed up to `pruned_change` is no longer listed.
      `CREATE TABLE knowledge_indexes (
        knowledge_no ${numbered},
        knowledge_id text NOT NULL UNIQUE,
        change bigint NOT NULL DEFAULT 0,
        pruned_change bigint NOT NULL DEFAULT 0,
        chunks bigint NOT NULL DEFAULT 0,
        tokens bigint NOT NULL DEFAULT 0
      )`,
      // staged, published, retired (its rows are to be removed), gone. A row that is gone keeps late writers out.
      `CREATE TABLE knowledge_versions (
        version_no ${numbered},
        knowledge_no bigint NOT NULL,
        content_id text NOT NULL,
        generation text NOT NULL,
        embedder text NOT NULL,
        dimensions integer NOT NULL,
        state text NOT NULL,
        changed bigint NOT NULL DEFAULT 0,
        chunks bigint NOT NULL DEFAULT 0,
        tokens bigint NOT NULL DEFAULT 0,
        UNIQUE (knowledge_no, content_id, generation)
      )`,
      'CREATE INDEX knowledge_versions_by_change ON knowledge_versions (knowledge_no, changed, version_no)',
      `CREATE INDEX knowledge_versions_retired ON knowledge_versions (knowledge_no) WHERE state = 'retired'`,
      // How many published versions each embedder has made.
      `CREATE TABLE knowledge_embedders (
        knowledge_no bigint NOT NULL,
        embedder text NOT NULL,
        dimensions integer NOT NULL,
        versions bigint NOT NULL,
        PRIMARY KEY (knowledge_no, embedder, dimensions)
      )`,
      // The long text last: filters read only what is before it.
      `CREATE TABLE knowledge_chunks (
        row_id ${rowId},
        metadata ${isSqlite ? 'text' : 'jsonb'} NOT NULL,
        name text,
        usage text,
        content text NOT NULL
      )`,
      `CREATE TABLE knowledge_vectors (row_id ${rowId}, vector ${bytes} NOT NULL)`,
      `CREATE TABLE knowledge_bits (row_id ${rowId}, tokens integer NOT NULL, bits ${bytes} NOT NULL)`,
      // Terms are made by Runyard, the same for both databases: neither splits or folds them again.
      ...(isSqlite
        ? [
            `CREATE VIRTUAL TABLE knowledge_terms
              USING fts5(terms, content='', contentless_delete=1, detail=none, tokenize='ascii')`,
          ]
        : [
            'CREATE TABLE knowledge_terms (row_id bigint PRIMARY KEY, terms tsvector NOT NULL)',
            'CREATE INDEX knowledge_terms_by_term ON knowledge_terms USING gin (terms)',
          ]),
    ];
  },

  down: () => [
    'DROP TABLE knowledge_terms',
    'DROP TABLE knowledge_bits',
    'DROP TABLE knowledge_vectors',
    'DROP TABLE knowledge_chunks',
    'DROP TABLE knowledge_embedders',
    'DROP TABLE knowledge_versions',
    'DROP TABLE knowledge_indexes',
  ],
};
