import { setImmediate as nextTurn } from 'node:timers/promises';
import type { KnowledgeFilter } from '../../../core/knowledge/filter.js';
import type { Database, Dialect, SqlValue, Statement } from '../../../platform/storage/database.js';
import { numbersOf } from '../../../platform/storage/stored-vector.js';
import { facetQueryOf } from './filter-facets.js';
import { filterSql, termQueryText } from './filter-store.js';
import { maximumChunks } from './row-ids.js';
import { amongRows, anyOf, numbered, numbersIn, readRows, type SqlPart } from './sql-store.js';
import { decodeMetadata } from './stored-metadata.js';
import type { IndexRow, VersionRow, VersionStore } from './version-store.js';

export interface ChunkRow {
  readonly rowId: number;
  readonly contentId: string;
  readonly name: string | null;
  readonly content: string;
  readonly metadata: ReturnType<typeof decodeMetadata>;
  readonly usage: string | null;
}

/** The rows that match a filter; undefined when there are more than were asked for. */
export type FilteredRows = ReadonlySet<number> | undefined;

/** SQLite compares so many chunks with a filter before other work gets its turn. */
const rowsPerTurn = 4_096;

/** What a row of `knowledge_versions AS v` has to do with a row id. */
export const published = `v.state = 'published'`;
export function versionOfRow(rowId: string): string {
  return `v.version_no = ${rowId} / ${maximumChunks}`;
}

/** What the terms of chunks are read from, and the condition on them: its value is a `termQueryText`. */
export const termsMatch = {
  sqlite: { from: 'knowledge_terms AS t', rowId: 't.rowid', where: 'knowledge_terms MATCH ?' },
  postgres: { from: 'knowledge_terms AS t', rowId: 't.row_id', where: 't.terms @@ CAST(? AS tsquery)' },
} as const satisfies Record<Dialect, { from: string; rowId: string; where: string }>;

/** PostgreSQL sends them as one text: a value for each row, in the digits of `bytea`, costs twice the CPU. */
const readVectors: Statement = {
  name: 'knowledge_vectors_of_rows',
  sqlite: `SELECT row_id, vector FROM knowledge_vectors
    WHERE row_id IN (SELECT value FROM json_each(?)) AND length(vector) = ?`,
  postgres: `SELECT string_agg(CAST(row_id AS text), ',') AS ids,
      encode(string_agg(vector, CAST('' AS bytea)), 'base64') AS vectors
    FROM knowledge_vectors WHERE row_id = ANY (CAST($1 AS bigint[])) AND length(vector) = $2`,
};

const readContents = forBoth(
  'knowledge_contents_of_versions',
  (among) => `SELECT v.version_no, v.content_id FROM knowledge_versions AS v
    WHERE v.version_no ${among} AND ${published}`,
);

/** The chunks, and in the same moment whether a version was replaced or removed after a change of the index. */
const readChunks = forBoth(
  'knowledge_chunks_of_rows',
  (among) => `SELECT r.retired, c.row_id, c.content_id, c.name, c.content, c.metadata, c.usage
    FROM (SELECT CAST(EXISTS (
        SELECT 1 FROM knowledge_versions AS g
        WHERE g.knowledge_no = ? AND g.changed > ? AND g.state IN ('retired', 'gone')
      ) AS integer) AS retired) AS r
    LEFT JOIN (
      SELECT c.row_id, v.content_id, c.name, c.content, c.metadata, c.usage
      FROM knowledge_chunks AS c JOIN knowledge_versions AS v ON ${versionOfRow('c.row_id')}
      WHERE c.row_id ${among} AND ${published}
    ) AS c ON true`,
);

function forBoth(name: string, sql: (among: string) => string): Statement {
  return { name, sqlite: sql(amongRows.sqlite), postgres: numbered(sql(amongRows.postgres)) };
}

interface StoredChunkRow extends Omit<ChunkRow, 'rowId' | 'contentId' | 'metadata'> {
  readonly row_id: number | null;
  readonly content_id: string;
  readonly metadata: unknown;
  readonly retired: number;
}

/** Reads chunks for searches.  */
export class SearchStore {
  constructor(
    private readonly database: Database,
    private readonly versions: VersionStore,
  ) {}

  /** How many statements a search may have under way: SQLite reads in this thread. */
  get readsAtOnce(): number {
    return this.database.dialect === 'sqlite' ? 1 : 2;
  }

  /** The vectors of rows, as far as they have so many dimensions. */
  async vectors(rowIds: readonly number[], dimensions: number): Promise<ReadonlyMap<number, Float32Array>> {
    if (rowIds.length === 0) return new Map();
    const bytes = dimensions * Float32Array.BYTES_PER_ELEMENT;
    const values = [...anyOf(this.database, rowIds).values, bytes];
    if (this.database.dialect === 'sqlite') {
      type Row = { row_id: number; vector: Uint8Array };
      const rows = await this.database.read<Row>(readVectors, values);
      return new Map(rows.map(({ row_id, vector }) => [row_id, numbersOf(vector)]));
    }
    type Row = { ids: string | null; vectors: string | null };
    const [row] = await this.database.read<Row>(readVectors, values);
    const all = Buffer.from(row?.vectors ?? '', 'base64');
    const vectorAt = (at: number) => numbersOf(all.subarray(at * bytes, (at + 1) * bytes));
    return new Map(numbersIn(row?.ids).map((rowId, at) => [rowId, vectorAt(at)]));
  }

  /** The chunks of rows that are published still; whether anything of the index was replaced or removed since it was read. */
  async chunks(
    { knowledge_no, change }: Pick<IndexRow, 'knowledge_no' | 'change'>,
    rowIds: readonly number[],
  ): Promise<{ readonly chunks: ReadonlyMap<number, ChunkRow>; readonly hasRetired: boolean }> {
    const { values } = anyOf(this.database, rowIds);
    const rows = await this.database.read<StoredChunkRow>(readChunks, [knowledge_no, change, ...values]);
    const chunks = new Map<number, ChunkRow>();
    for (const { row_id, content_id, name, content, metadata, usage } of rows)
      if (row_id !== null)
        chunks.set(row_id, {
          rowId: row_id,
          contentId: content_id,
          name,
          content,
          metadata: decodeMetadata(metadata),
          usage,
        });
    return { chunks, hasRetired: rows.some(({ retired }) => retired !== 0) };
  }

  /** Which content each of some versions belongs to, as far as they are published still. */
  async contents(versionNos: Iterable<number>): Promise<ReadonlyMap<number, string>> {
    type Row = { version_no: number; content_id: string };
    const rows = await this.database.read<Row>(readContents, anyOf(this.database, versionNos).values);
    return new Map(rows.map(({ version_no, content_id }) => [version_no, content_id]));
  }

  /** Those of some rows that match the filter. */
  async matching(rowIds: readonly number[], filter: KnowledgeFilter): Promise<ReadonlySet<number>> {
    const among = anyOf(this.database, rowIds);
    const condition = filterSql(this.database.dialect, filter);
    const rows = await readRows<{ row_id: number }>(
      this.database,
      `SELECT c.row_id FROM knowledge_chunks AS c WHERE c.row_id ${among.sql} AND ${condition.sql}`,
      [...among.values, ...condition.values],
    );
    return new Set(rows.map(({ row_id }) => row_id));
  }

  /** All rows that match a filter, unless there are more than `most`. */
  async filtered(knowledgeNo: number, filter: KnowledgeFilter, most: number): Promise<FilteredRows> {
    const facets = facetQueryOf(knowledgeNo, filter);
    const condition = filterSql(this.database.dialect, filter);
    if (facets === undefined) return this.#scanned(knowledgeNo, condition, most);
    const { dialect } = this.database;
    const terms = termsMatch[dialect];
    const rows = await readRows<{ row_id: number }>(
      this.database,
      `SELECT ${terms.rowId} AS row_id FROM ${terms.from}
        ${facets.isExact ? '' : `JOIN knowledge_chunks AS c ON c.row_id = ${terms.rowId}`}
        JOIN knowledge_versions AS v ON ${versionOfRow(terms.rowId)}
        WHERE ${terms.where} AND ${published} ${facets.isExact ? '' : `AND ${condition.sql}`} LIMIT ?`,
      [termQueryText(dialect, facets.query), ...(facets.isExact ? [] : condition.values), most + 1],
    );
    return rows.length > most ? undefined : new Set(rows.map(({ row_id }) => row_id));
  }

  /** Without help of the index: compares the chunks of the knowledge base, some at a time. */
  async #scanned(knowledgeNo: number, condition: SqlPart, most: number): Promise<FilteredRows> {
    const found = new Set<number>();
    let after: Pick<VersionRow, 'changed' | 'version_no'> = { changed: 0, version_no: 0 };
    for (;;) {
      const page = await this.versions.changes(knowledgeNo, after, 500);
      const last = page.at(-1);
      if (last === undefined) return found;
      after = last;
      for (const versions of grouped(page.filter(({ state }) => state === 'published'))) {
        const rows = await this.#matchingIn(versions, condition, most + 1 - found.size);
        for (const rowId of rows) found.add(rowId);
        if (found.size > most) return undefined;
      }
    }
  }

  async #matchingIn(versions: readonly number[], condition: SqlPart, limit: number): Promise<number[]> {
    const list: readonly SqlValue[] =
      this.database.dialect === 'sqlite' ? [`[${versions.join(',')}]`] : [versions.map(String)];
    const numbers =
      this.database.dialect === 'sqlite' ? 'json_each(?) AS r' : 'unnest(CAST(? AS bigint[])) AS r (value)';
    const rows = await readRows<{ row_id: number }>(
      this.database,
      `SELECT c.row_id FROM ${numbers} CROSS JOIN knowledge_chunks AS c
        WHERE c.row_id >= r.value * ${maximumChunks} AND c.row_id < (r.value + 1) * ${maximumChunks}
          AND ${condition.sql} LIMIT ?`,
      [...list, ...condition.values, limit],
    );
    // others have their turn between two statements
    await nextTurn();
    return rows.map(({ row_id }) => row_id);
  }
}

function* grouped(versions: readonly Pick<VersionRow, 'version_no' | 'chunks'>[]): Generator<number[]> {
  let group: number[] = [];
  let rows = 0;
  for (const { version_no, chunks } of versions) {
    group.push(version_no);
    rows += chunks;
    if (rows < rowsPerTurn) continue;
    yield group;
    group = [];
    rows = 0;
  }
  if (group.length > 0) yield group;
}
