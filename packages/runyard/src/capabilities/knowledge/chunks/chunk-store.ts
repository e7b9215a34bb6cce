import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Json, JsonObject } from '../../../core/json.js';
import { bitCodec } from '../../../core/knowledge/search/bit-vectors.js';
import type { EmbeddedChunk, StoredChunk } from '../../../core/knowledge/vector-store.js';
import type {
  Database,
  PostgresDatabase,
  SqliteDatabase,
  WriteRow,
} from '../../../platform/storage/database.js';
import { bytesOf } from '../../../platform/storage/stored-vector.js';
import { indexTermsOf } from './index-terms.js';
import { positionOf, rangeOf, rowIdOf } from './row-ids.js';
import { readRows } from './sql-store.js';
import { decodeMetadata, encodeMetadata } from './stored-metadata.js';
import type { VersionRow } from './version-store.js';

/** How many chunks one transaction removes or changes: other writers wait for that long. */
const batchSize = 500;
/** After so many characters the terms of the next chunk are made in another turn of the event loop. */
const charactersPerTurn = 20_000;

interface PreparedChunk {
  readonly rowId: number;
  readonly name: string | null;
  readonly content: string;
  /** JSON. */
  readonly metadata: string;
  readonly usage: string | null;
  readonly vector: Uint8Array;
  readonly bits: Uint8Array;
  readonly terms: string;
  readonly tokens: number;
}

/** The rows of chunks: text, metadata, vector, bits and terms. */
export class ChunkStore {
  constructor(private readonly database: Database) {}

  /** Writes nothing to a version that is no longer staged. */
  async stage(version: VersionRow, chunks: readonly EmbeddedChunk[]): Promise<void> {
    for (let from = 0; from < chunks.length; from += batchSize) {
      const prepared = await prepare(version, chunks.slice(from, from + batchSize));
      if (this.database.dialect === 'sqlite') await stageInSqlite(this.database, version, prepared);
      else await stageInPostgres(this.database, version, prepared);
    }
  }

  async page(version: VersionRow, from: number, limit: number): Promise<readonly StoredChunk[]> {
    const [, end] = rangeOf(version.version_no);
    const rows = await readRows<{ row_id: number; name: string | null; content: string; metadata: unknown }>(
      this.database,
      `SELECT row_id, name, content, metadata FROM knowledge_chunks WHERE row_id >= ? AND row_id < ?
        ORDER BY row_id LIMIT ?`,
      [rowIdOf(version.version_no, from), end, limit],
    );
    return rows.map(({ row_id, name, content, metadata }) => ({
      position: positionOf(row_id),
      name,
      content,
      metadata: decodeMetadata(metadata),
    }));
  }

  async updateMetadata(
    version: VersionRow,
    changes: Readonly<Record<string, Json | undefined>>,
  ): Promise<void> {
    const [start, end] = rangeOf(version.version_no);
    const [select, update, terms] =
      this.database.dialect === 'sqlite'
        ? [
            'SELECT row_id, metadata, content FROM knowledge_chunks WHERE row_id >= ? AND row_id < ? ORDER BY row_id LIMIT ?',
            'UPDATE knowledge_chunks SET metadata = ? WHERE row_id = ?',
            'INSERT OR REPLACE INTO knowledge_terms (terms, rowid) VALUES (?, ?)',
          ]
        : [
            'SELECT row_id, metadata, content FROM knowledge_chunks WHERE row_id >= $1 AND row_id < $2 ORDER BY row_id LIMIT $3 FOR UPDATE',
            'UPDATE knowledge_chunks SET metadata = CAST($1 AS jsonb) WHERE row_id = $2',
            `UPDATE knowledge_terms SET terms = array_to_tsvector(string_to_array($1, ' ')) WHERE row_id = $2`,
          ];
    for (let from = start; ; ) {
      const last = await this.database.transaction(async (run) => {
        const rows = await run<{ row_id: number; metadata: unknown; content: string }>(select, [
          from,
          end,
          batchSize,
        ]);
        for (const { row_id, metadata, content } of rows) {
          const merged = merge(decodeMetadata(metadata), changes);
          await run(update, [JSON.stringify(encodeMetadata(merged)), row_id]);
          await run(terms, [indexTermsOf(version.knowledge_no, content, merged).terms.join(' '), row_id]);
        }
        return rows.length < batchSize ? undefined : rows.at(-1)?.row_id;
      });
      if (last === undefined) return;
      from = last + 1;
    }
  }

  /** Removes the rows of a version in several transactions. */
  async purge(versionNo: number): Promise<void> {
    const [start, end] = rangeOf(versionNo);
    for (;;) {
      const rows = await readRows<{ row_id: number }>(
        this.database,
        'SELECT row_id FROM knowledge_chunks WHERE row_id >= ? AND row_id < ? ORDER BY row_id LIMIT ?',
        [start, end, batchSize],
      );
      const last = rows.at(-1)?.row_id;
      if (last === undefined) return;
      const { dialect } = this.database;
      const range = [start, last];
      await this.database.transaction(async (run) => {
        for (const table of ['vectors', 'bits', 'terms', 'chunks']) {
          const key = dialect === 'sqlite' ? (table === 'terms' ? 'rowid' : 'row_id') : 'row_id';
          const between = dialect === 'sqlite' ? 'BETWEEN ? AND ?' : 'BETWEEN $1 AND $2';
          await run(`DELETE FROM knowledge_${table} WHERE ${key} ${between}`, range);
        }
      });
    }
  }
}

function merge(metadata: JsonObject, changes: Readonly<Record<string, Json | undefined>>): JsonObject {
  const merged = new Map(Object.entries(metadata));
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined) merged.delete(key);
    else merged.set(key, value);
  }
  return Object.fromEntries(merged);
}

async function prepare(version: VersionRow, chunks: readonly EmbeddedChunk[]): Promise<PreparedChunk[]> {
  const codec = bitCodec(version.dimensions);
  const prepared: PreparedChunk[] = [];
  let characters = 0;
  for (const { position, name, content, metadata, usage, vector } of chunks) {
    const { terms, length } = indexTermsOf(version.knowledge_no, content, metadata);
    prepared.push({
      rowId: rowIdOf(version.version_no, position),
      name,
      content,
      metadata: JSON.stringify(encodeMetadata(metadata)),
      usage: usage === undefined ? null : JSON.stringify(usage),
      vector: bytesOf(vector),
      bits: codec.encode(vector),
      terms: terms.join(' '),
      tokens: length,
    });
    characters += content.length;
    if (characters < charactersPerTurn) continue;
    characters = 0;
    await nextTurn();
  }
  return prepared;
}

async function stageInSqlite(
  database: SqliteDatabase,
  version: VersionRow,
  chunks: readonly PreparedChunk[],
): Promise<void> {
  const rows: WriteRow[] = [
    {
      sql: `SELECT 1 FROM knowledge_versions WHERE version_no = ? AND state = 'staged'`,
      parameters: [version.version_no],
      guard: 'found',
    },
  ];
  for (const { rowId, name, content, metadata, usage, vector, bits, terms, tokens } of chunks)
    rows.push(
      {
        sql: 'INSERT OR REPLACE INTO knowledge_chunks (row_id, metadata, name, usage, content) VALUES (?, ?, ?, ?, ?)',
        parameters: [rowId, metadata, name, usage, content],
      },
      {
        sql: 'INSERT OR REPLACE INTO knowledge_vectors (row_id, vector) VALUES (?, ?)',
        parameters: [rowId, vector],
      },
      {
        sql: 'INSERT OR REPLACE INTO knowledge_bits (row_id, tokens, bits) VALUES (?, ?, ?)',
        parameters: [rowId, tokens, bits],
      },
      {
        sql: 'INSERT OR REPLACE INTO knowledge_terms (rowid, terms) VALUES (?, ?)',
        parameters: [rowId, terms],
      },
    );
  await database.write([rows]);
}

async function stageInPostgres(
  database: PostgresDatabase,
  version: VersionRow,
  chunks: readonly PreparedChunk[],
): Promise<void> {
  const ids = chunks.map(({ rowId }) => String(rowId));
  await database.transaction(async (run) => {
    // who retires the version waits for these rows, and then removes them
    const held = await run(
      `SELECT 1 FROM knowledge_versions WHERE version_no = $1 AND state = 'staged' FOR SHARE`,
      [version.version_no],
    );
    if (held.length === 0) return;
    await run(
      `INSERT INTO knowledge_chunks (row_id, metadata, name, usage, content)
        SELECT row_id, CAST(metadata AS jsonb), name, nullif(usage, ''), content
        FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[])
          AS given (row_id, metadata, name, usage, content)
        ON CONFLICT (row_id) DO UPDATE SET metadata = excluded.metadata, name = excluded.name,
          usage = excluded.usage, content = excluded.content`,
      [
        ids,
        chunks.map(({ metadata }) => metadata),
        // a list may hold NULL where its column may
        chunks.map(({ name }) => name) as readonly string[],
        chunks.map(({ usage }) => usage ?? ''),
        chunks.map(({ content }) => content),
      ],
    );
    await run(
      `INSERT INTO knowledge_vectors (row_id, vector)
        SELECT row_id, decode(vector, 'base64') FROM unnest($1::bigint[], $2::text[]) AS given (row_id, vector)
        ON CONFLICT (row_id) DO UPDATE SET vector = excluded.vector`,
      [ids, chunks.map(({ vector }) => Buffer.from(vector).toString('base64'))],
    );
    await run(
      `INSERT INTO knowledge_bits (row_id, tokens, bits)
        SELECT row_id, tokens, decode(bits, 'base64')
        FROM unnest($1::bigint[], $2::integer[], $3::text[]) AS given (row_id, tokens, bits)
        ON CONFLICT (row_id) DO UPDATE SET tokens = excluded.tokens, bits = excluded.bits`,
      [
        ids,
        chunks.map(({ tokens }) => String(tokens)),
        chunks.map(({ bits }) => Buffer.from(bits).toString('base64')),
      ],
    );
    await run(
      `INSERT INTO knowledge_terms (row_id, terms)
        SELECT row_id, array_to_tsvector(string_to_array(terms, ' '))
        FROM unnest($1::bigint[], $2::text[]) AS given (row_id, terms)
        ON CONFLICT (row_id) DO UPDATE SET terms = excluded.terms`,
      [ids, chunks.map(({ terms }) => terms)],
    );
  });
}
