import type { ContentVersion } from '../../../core/knowledge/vector-store.js';
import {
  type Database,
  type RunStatement,
  type SqlValue,
  statement,
} from '../../../platform/storage/database.js';
import { rangeOf } from './row-ids.js';
import { numbered, readRows } from './sql-store.js';
import type { KnowledgeIndexesTable, KnowledgeVersionsTable } from './tables.js';

export type IndexRow = KnowledgeIndexesTable;
export type VersionRow = KnowledgeVersionsTable;

/** How many versions that are gone an index remembers. */
const keptTombstones = 1_000;

type Embedder = Pick<VersionRow, 'embedder' | 'dimensions'>;

export interface SearchedIndex {
  readonly index: IndexRow;
  /** The first two: a search needs to know whether there is another than its own. */
  readonly embedders: readonly Embedder[];
}

const readSearched = statement(
  'knowledge_searched',
  `SELECT i.*, e.embedder, e.dimensions FROM knowledge_indexes i
    LEFT JOIN knowledge_embedders e ON e.knowledge_no = i.knowledge_no AND e.versions > 0
    WHERE i.knowledge_id = ? ORDER BY e.versions DESC, e.embedder LIMIT 2`,
);

/** Which versions of contents there are, and which of them searches see. */
export class VersionStore {
  constructor(private readonly database: Database) {}

  /** What a search begins with: the index, and the embedders of its published chunks. */
  async searched(knowledgeId: string): Promise<SearchedIndex | undefined> {
    const rows = await this.database.read<IndexRow & Partial<Embedder>>(readSearched, [knowledgeId]);
    const [index] = rows;
    if (index === undefined) return undefined;
    const embedders = rows.flatMap(({ embedder, dimensions }) =>
      embedder == null || dimensions == null ? [] : { embedder, dimensions },
    );
    return { index, embedders };
  }

  /** How many published chunks an index has. */
  async chunksOf(knowledgeNo: number): Promise<number> {
    const [row] = await this.#read<Pick<IndexRow, 'chunks'>>(
      'SELECT chunks FROM knowledge_indexes WHERE knowledge_no = ?',
      [knowledgeNo],
    );
    return row?.chunks ?? 0;
  }

  async find({ knowledgeId, contentId, generation }: ContentVersion): Promise<VersionRow | undefined> {
    const rows = await this.#read<VersionRow>(
      `SELECT v.* FROM knowledge_versions v JOIN knowledge_indexes i ON i.knowledge_no = v.knowledge_no
        WHERE i.knowledge_id = ? AND v.content_id = ? AND v.generation = ?`,
      [knowledgeId, contentId, generation],
    );
    return rows[0];
  }

  ofContent(knowledgeId: string, contentId: string): Promise<readonly VersionRow[]> {
    return this.#read<VersionRow>(
      `SELECT v.* FROM knowledge_versions v JOIN knowledge_indexes i ON i.knowledge_no = v.knowledge_no
        WHERE i.knowledge_id = ? AND v.content_id = ? ORDER BY v.version_no DESC LIMIT 1000`,
      [knowledgeId, contentId],
    );
  }

  async publishedOf(knowledgeId: string, contentId: string): Promise<VersionRow | undefined> {
    return (await this.ofContent(knowledgeId, contentId)).find(({ state }) => state === 'published');
  }

  /** The version, created when it is new. */
  async open(version: ContentVersion, embedder: string, dimensions: number): Promise<VersionRow> {
    const found = await this.find(version);
    if (found !== undefined) return found;
    const { knowledgeId, contentId, generation } = version;
    return this.#transaction(async (run) => {
      await run('INSERT INTO knowledge_indexes (knowledge_id) VALUES (?) ON CONFLICT DO NOTHING', [
        knowledgeId,
      ]);
      await run(
        `INSERT INTO knowledge_versions (knowledge_no, content_id, generation, embedder, dimensions, state)
          SELECT knowledge_no, ?, ?, ?, ?, 'staged' FROM knowledge_indexes WHERE knowledge_id = ?
          ON CONFLICT DO NOTHING`,
        [contentId, generation, embedder, dimensions, knowledgeId],
      );
      const rows = await run<VersionRow>(
        `SELECT v.* FROM knowledge_versions v JOIN knowledge_indexes i ON i.knowledge_no = v.knowledge_no
          WHERE i.knowledge_id = ? AND v.content_id = ? AND v.generation = ?`,
        [knowledgeId, contentId, generation],
      );
      // both rows exist now: the inserts above ran in this transaction, or another process was first
      return rows[0]!;
    });
  }

  async countChunks(versionNo: number): Promise<number> {
    const rows = await this.#read<{ count: number }>(
      'SELECT count(*) AS count FROM knowledge_bits WHERE row_id >= ? AND row_id < ?',
      rangeOf(versionNo),
    );
    return rows[0]?.count ?? 0;
  }

  /**
   * One transaction whose cost does not depend on the number of chunks, but for counting them. Versions that were begun
   * before this one are retired too: their job is not to overwrite it when it ends late.
   */
  async publish(version: ContentVersion): Promise<boolean> {
    return this.#transaction(async (run) => {
      const index = await nextChange(run, version.knowledgeId);
      if (index === undefined) return false;
      const all = await contentVersions(run, index, version.contentId);
      const own = all.find(({ generation }) => generation === version.generation);
      if (own === undefined || own.state === 'retired' || own.state === 'gone') return false;
      if (own.state === 'published') return true;
      // a query of sums has one row
      const [{ chunks, tokens }] = (await run(
        'SELECT count(*) AS chunks, coalesce(sum(tokens), 0) AS tokens FROM knowledge_bits WHERE row_id >= ? AND row_id < ?',
        rangeOf(own.version_no),
      )) as [{ chunks: number; tokens: number }];
      if (chunks === 0) return false;
      for (const other of all)
        if (other.state === 'published' || (other.state === 'staged' && other.version_no < own.version_no))
          await retire(run, index, other);
      await run(
        `UPDATE knowledge_versions SET state = 'published', changed = ?, chunks = ?, tokens = ? WHERE version_no = ?`,
        [index.change, chunks, Number(tokens), own.version_no],
      );
      await count(run, index, { ...own, chunks, tokens: Number(tokens) }, 1);
      return true;
    });
  }

  async remove(knowledgeId: string, contentId: string, what: 'all' | 'staged'): Promise<void> {
    await this.#transaction(async (run) => {
      const index = await nextChange(run, knowledgeId);
      if (index === undefined) return;
      for (const version of await contentVersions(run, index, contentId))
        if (version.state === 'staged' || (version.state === 'published' && what === 'all'))
          await retire(run, index, version);
    });
  }

  /** Versions whose chunks are to be removed. */
  retired(knowledgeId: string): Promise<readonly VersionRow[]> {
    return this.#read<VersionRow>(
      `SELECT v.* FROM knowledge_versions v JOIN knowledge_indexes i ON i.knowledge_no = v.knowledge_no
        WHERE i.knowledge_id = ? AND v.state = 'retired' LIMIT 1000`,
      [knowledgeId],
    );
  }

  /** Notes that its chunks are removed, and forgets versions that have been gone for long. */
  async markGone(knowledgeId: string, versionNo: number): Promise<void> {
    await this.#transaction(async (run) => {
      const [index] = await run<IndexRow>('SELECT * FROM knowledge_indexes WHERE knowledge_id = ?', [
        knowledgeId,
      ]);
      if (index === undefined) return;
      await run(`UPDATE knowledge_versions SET state = 'gone' WHERE version_no = ?`, [versionNo]);
      const [oldest] = await run<{ changed: number }>(
        `SELECT changed FROM knowledge_versions WHERE knowledge_no = ? AND state = 'gone'
          ORDER BY changed DESC, version_no DESC LIMIT 1 OFFSET ?`,
        [index.knowledge_no, keptTombstones],
      );
      if (oldest === undefined) return;
      await run(`DELETE FROM knowledge_versions WHERE knowledge_no = ? AND state = 'gone' AND changed <= ?`, [
        index.knowledge_no,
        oldest.changed,
      ]);
      await run(
        'UPDATE knowledge_indexes SET pruned_change = ? WHERE knowledge_no = ? AND pruned_change < ?',
        [oldest.changed, index.knowledge_no, oldest.changed],
      );
    });
  }

  /** What changed after a change, in order; `after` is the last one of the page before. */
  changes(
    knowledgeNo: number,
    after: Pick<VersionRow, 'changed' | 'version_no'>,
    limit: number,
  ): Promise<readonly Pick<VersionRow, 'version_no' | 'state' | 'changed' | 'chunks' | 'dimensions'>[]> {
    return this.#read(
      `SELECT version_no, state, changed, chunks, dimensions FROM knowledge_versions
        WHERE knowledge_no = ? AND (changed > ? OR (changed = ? AND version_no > ?))
        ORDER BY changed, version_no LIMIT ?`,
      [knowledgeNo, after.changed, after.changed, after.version_no, limit],
    );
  }

  #read<Row>(sql: string, values: readonly SqlValue[]): Promise<readonly Row[]> {
    return readRows<Row>(this.database, sql, values);
  }

  #transaction<T>(work: (run: RunStatement) => Promise<T>): Promise<T> {
    if (this.database.dialect === 'sqlite') return this.database.transaction(work);
    return this.database.transaction((run) => work((sql, values) => run(numbered(sql), values)));
  }
}

/** Takes the lock of the index: changes are numbered in the order in which they are committed. */
async function nextChange(run: RunStatement, knowledgeId: string): Promise<IndexRow | undefined> {
  const [index] = await run<IndexRow>(
    'UPDATE knowledge_indexes SET change = change + 1 WHERE knowledge_id = ? RETURNING *',
    [knowledgeId],
  );
  return index;
}

function contentVersions(run: RunStatement, index: IndexRow, contentId: string): Promise<VersionRow[]> {
  return run<VersionRow>('SELECT * FROM knowledge_versions WHERE knowledge_no = ? AND content_id = ?', [
    index.knowledge_no,
    contentId,
  ]);
}

async function retire(run: RunStatement, index: IndexRow, version: VersionRow): Promise<void> {
  await run(`UPDATE knowledge_versions SET state = 'retired', changed = ? WHERE version_no = ?`, [
    index.change,
    version.version_no,
  ]);
  if (version.state === 'published') await count(run, index, version, -1);
}

async function count(run: RunStatement, index: IndexRow, version: VersionRow, sign: 1 | -1): Promise<void> {
  const { knowledge_no } = index;
  await run('UPDATE knowledge_indexes SET chunks = chunks + ?, tokens = tokens + ? WHERE knowledge_no = ?', [
    sign * version.chunks,
    sign * version.tokens,
    knowledge_no,
  ]);
  await run(
    `INSERT INTO knowledge_embedders (knowledge_no, embedder, dimensions, versions) VALUES (?, ?, ?, ?)
      ON CONFLICT (knowledge_no, embedder, dimensions)
      DO UPDATE SET versions = knowledge_embedders.versions + excluded.versions`,
    [knowledge_no, version.embedder, version.dimensions, sign],
  );
}
