import type { PostgresDatabase } from '../../../../platform/storage/database.js';
import { numbersOf } from '../../../../platform/storage/stored-vector.js';
import { maximumChunks, rangeOf } from '../row-ids.js';
import { published, versionOfRow } from '../search-store.js';
import { numbered, readRows, type SqlPart } from '../sql-store.js';
import type { IndexRow, VersionRow, VersionStore } from '../version-store.js';

/** What pgvector's index takes. */
export const maximumDimensions = 2_000;
const rowsPerCopy = 500;
const changesPerPage = 500;
/** How far the index looks for chunks that match, and the most that pgvector lets it. */
const leastBreadth = 100;
const mostBreadth = 1_000;

/** Which version of pgvector a database has, installed now if that is possible; undefined: none. */
export async function findPgvector(database: PostgresDatabase): Promise<string | undefined> {
  const [found] = await readRows<{ installed_version: string | null }>(
    database,
    `SELECT installed_version FROM pg_available_extensions WHERE name = 'vector'`,
    [],
  );
  if (found === undefined) return undefined;
  if (found.installed_version === null)
    await database.transaction((run) => run('CREATE EXTENSION IF NOT EXISTS vector'));
  const [installed] = await readRows<{ extversion: string }>(
    database,
    `SELECT extversion FROM pg_extension WHERE extname = 'vector'`,
    [],
  );
  return installed?.extversion;
}

/**
 * A table with an index of pgvector for each knowledge base and length of vectors. It is derived from the vectors that
 * every database has: it can be created, and filled, at any time.
 */
export class PgvectorStore {
  /** Since this version the index looks further when a filter leaves too little. */
  readonly #looksFurther: boolean;
  readonly #created = new Set<string>();

  constructor(
    private readonly database: PostgresDatabase,
    private readonly versions: VersionStore,
    version: string,
  ) {
    const [major = 0, minor = 0] = version.split('.').map(Number);
    this.#looksFurther = major > 0 || minor >= 8;
  }

  async create(knowledgeNo: number, dimensions: number): Promise<void> {
    const table = tableOf(knowledgeNo, dimensions);
    if (this.#created.has(table)) return;
    await this.database.transaction(async (run) => {
      // two processes that create the same table at the same time would fail
      await run('SELECT pg_advisory_xact_lock(hashtext($1))', [table]);
      await run(`CREATE TABLE IF NOT EXISTS knowledge_pgvector (
        knowledge_no bigint NOT NULL, dimensions integer NOT NULL, change bigint NOT NULL, version_no bigint NOT NULL,
        PRIMARY KEY (knowledge_no, dimensions))`);
      await run(`CREATE TABLE IF NOT EXISTS ${table} (
        row_id bigint PRIMARY KEY, embedding vector(${dimensions}) NOT NULL)`);
      await run(
        `CREATE INDEX IF NOT EXISTS ${table}_nearest ON ${table} USING hnsw (embedding vector_cosine_ops)`,
      );
      await run(
        'INSERT INTO knowledge_pgvector (knowledge_no, dimensions, change, version_no) VALUES ($1, $2, 0, 0) ON CONFLICT DO NOTHING',
        [knowledgeNo, dimensions],
      );
    });
    this.#created.add(table);
  }

  /** How many vectors of published chunks are not in the table. */
  async missing(index: IndexRow, dimensions: number): Promise<number> {
    const after = await this.#progress(index.knowledge_no, dimensions);
    if (after.changed >= index.change) return 0;
    const [row] = await readRows<{ missing: number }>(
      this.database,
      `SELECT coalesce(sum(v.chunks - (
          SELECT count(*) FROM ${tableOf(index.knowledge_no, dimensions)} AS t
          WHERE t.row_id >= v.version_no * ${maximumChunks} AND t.row_id < (v.version_no + 1) * ${maximumChunks}
        )), 0) AS missing
        FROM knowledge_versions AS v WHERE v.knowledge_no = ? AND v.dimensions = ? AND ${published}
          AND (v.changed > ? OR (v.changed = ? AND v.version_no > ?))`,
      [index.knowledge_no, dimensions, after.changed, after.changed, after.version_no],
    );
    return Number(row?.missing ?? 0);
  }

  /** Brings the table to the last change. Rows that are there stay, so that it can be interrupted. */
  async catchUp(index: IndexRow, dimensions: number, signal?: AbortSignal): Promise<void> {
    const { knowledge_no } = index;
    await this.create(knowledge_no, dimensions);
    let after = await this.#progress(knowledge_no, dimensions);
    while (after.changed < index.change) {
      const changes = await this.versions.changes(knowledge_no, after, changesPerPage);
      for (const version of changes) {
        signal?.throwIfAborted();
        if (version.state === 'published' && version.dimensions === dimensions)
          await this.copy(knowledge_no, version, dimensions);
      }
      const last = changes.length < changesPerPage ? undefined : changes.at(-1);
      // all of the last change is done
      after = last ?? {
        changed: Math.max(index.change, changes.at(-1)?.changed ?? 0),
        version_no: Number.MAX_SAFE_INTEGER,
      };
      await this.database.transaction((run) =>
        run(
          `UPDATE knowledge_pgvector SET change = $1, version_no = $2
            WHERE knowledge_no = $3 AND dimensions = $4 AND change <= $1`,
          [after.changed, after.version_no, knowledge_no, dimensions],
        ),
      );
    }
  }

  /** Copies the vectors of a version that are not in the table. */
  async copy(
    knowledgeNo: number,
    version: Pick<VersionRow, 'version_no'>,
    dimensions: number,
  ): Promise<void> {
    const table = tableOf(knowledgeNo, dimensions);
    const [start, end] = rangeOf(version.version_no);
    for (let from = start; ; ) {
      const rows = await readRows<{ row_id: number; vector: Uint8Array }>(
        this.database,
        `SELECT v.row_id, v.vector FROM knowledge_vectors AS v
          WHERE v.row_id >= ? AND v.row_id < ? AND NOT EXISTS (SELECT 1 FROM ${table} AS t WHERE t.row_id = v.row_id)
          ORDER BY v.row_id LIMIT ?`,
        [from, end, rowsPerCopy],
      );
      const last = rows.at(-1);
      if (last === undefined) return;
      await this.put(
        knowledgeNo,
        dimensions,
        rows.map(({ row_id, vector }) => [row_id, numbersOf(vector)]),
      );
      from = last.row_id + 1;
    }
  }

  async put(
    knowledgeNo: number,
    dimensions: number,
    rows: readonly (readonly [number, ArrayLike<number>])[],
  ): Promise<void> {
    await this.database.transaction((run) =>
      run(
        `INSERT INTO ${tableOf(knowledgeNo, dimensions)} (row_id, embedding)
          SELECT row_id, CAST(embedding AS vector(${dimensions}))
          FROM unnest($1::bigint[], $2::text[]) AS given (row_id, embedding)
          ON CONFLICT (row_id) DO UPDATE SET embedding = excluded.embedding`,
        [rows.map(([rowId]) => String(rowId)), rows.map(([, vector]) => textOf(vector))],
      ),
    );
  }

  async purge(knowledgeNo: number, dimensions: number, versionNo: number): Promise<void> {
    const table = tableOf(knowledgeNo, dimensions);
    const [start, end] = rangeOf(versionNo);
    await this.database.transaction(async (run) => {
      const [found] = await run<{ exists: boolean }>('SELECT to_regclass($1) IS NOT NULL AS exists', [table]);
      if (found?.exists) await run(`DELETE FROM ${table} WHERE row_id >= $1 AND row_id < $2`, [start, end]);
    });
  }

  async allRows(knowledgeNo: number, dimensions: number): Promise<readonly number[]> {
    const rows = await readRows<{ row_id: number }>(
      this.database,
      `SELECT t.row_id FROM ${tableOf(knowledgeNo, dimensions)} AS t
        JOIN knowledge_versions AS v ON ${versionOfRow('t.row_id')} WHERE ${published}`,
      [],
    );
    return rows.map(({ row_id }) => row_id);
  }

  /** The nearest of some rows, each compared. */
  async nearestAmong(
    knowledgeNo: number,
    vector: Float32Array,
    rowIds: Iterable<number>,
    limit: number,
  ): Promise<readonly number[]> {
    const rows = await readRows<{ row_id: number }>(
      this.database,
      `SELECT row_id FROM (
          SELECT t.row_id, t.embedding <=> CAST(? AS vector) AS distance
          FROM ${tableOf(knowledgeNo, vector.length)} AS t WHERE t.row_id = ANY (CAST(? AS bigint[])) OFFSET 0
        ) AS compared ORDER BY distance LIMIT ?`,
      [textOf(vector), `{${[...rowIds].join(',')}}`, limit],
    );
    return rows.map(({ row_id }) => row_id);
  }

  /** About the nearest, by the index. */
  async nearest(
    knowledgeNo: number,
    vector: Float32Array,
    condition: SqlPart | undefined,
    limit: number,
  ): Promise<readonly number[]> {
    const text = `SELECT t.row_id FROM ${tableOf(knowledgeNo, vector.length)} AS t
      JOIN knowledge_versions AS v ON ${versionOfRow('t.row_id')}
      ${condition ? 'JOIN knowledge_chunks AS c ON c.row_id = t.row_id' : ''}
      WHERE ${published} ${condition ? `AND ${condition.sql}` : ''}
      ORDER BY t.embedding <=> CAST(? AS vector) LIMIT ?`;
    const breadth = Math.min(mostBreadth, Math.max(leastBreadth, 2 * limit));
    return this.database.transaction(async (run) => {
      await run(`SET LOCAL hnsw.ef_search = ${breadth}`);
      if (this.#looksFurther) await run(`SET LOCAL hnsw.iterative_scan = 'relaxed_order'`);
      // the order of the index is the point: joined from it row by row, not sorted afterwards
      await run('SET LOCAL enable_seqscan = off');
      await run('SET LOCAL enable_hashjoin = off');
      await run('SET LOCAL enable_mergejoin = off');
      const rows = await run<{ row_id: number }>(numbered(text), [
        ...(condition?.values ?? []),
        textOf(vector),
        limit,
      ]);
      return rows.map(({ row_id }) => row_id);
    });
  }

  async #progress(
    knowledgeNo: number,
    dimensions: number,
  ): Promise<Pick<VersionRow, 'changed' | 'version_no'>> {
    await this.create(knowledgeNo, dimensions);
    const [row] = await readRows<{ change: number; version_no: number }>(
      this.database,
      'SELECT change, version_no FROM knowledge_pgvector WHERE knowledge_no = ? AND dimensions = ?',
      [knowledgeNo, dimensions],
    );
    return { changed: row?.change ?? 0, version_no: row?.version_no ?? 0 };
  }
}

/** Both are numbers of Runyard's own. */
function tableOf(knowledgeNo: number, dimensions: number): string {
  return `knowledge_pgvector_${Math.trunc(knowledgeNo)}_${Math.trunc(dimensions)}`;
}

function textOf(vector: ArrayLike<number>): string {
  return `[${Array.from(vector).join(',')}]`;
}
