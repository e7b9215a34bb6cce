import { type Database, statement } from '../../../platform/storage/database.js';
import type { ContentOutcome, EmbeddedWith, StoredContent } from './content.js';
import { ContentListStore } from './list-store.js';
import {
  type ContentRow,
  type ContentToStore,
  contentFromRow,
  jsonOrNull,
  putContentRow,
  putMetadataRows,
  removeMetadataRows,
  searchTextOf,
} from './rows-store.js';

const findAny = statement(
  'find_any_knowledge_content',
  'SELECT * FROM knowledge_contents WHERE knowledge_id = ? AND content_id = ?',
);

const isCurrent = statement(
  'knowledge_content_is_current',
  `SELECT content_id FROM knowledge_contents
   WHERE knowledge_id = ? AND content_id = ? AND job_id = ? AND deleted_at IS NULL`,
);

/** Only the job that the row names may say how it ended. */
const settle = statement(
  'settle_knowledge_content',
  `UPDATE knowledge_contents SET status = ?, status_message = ?, size = coalesce(?, size),
     provenance = coalesce(?, provenance), published = CASE WHEN ? = 1 THEN 1 ELSE published END,
     embedder = coalesce(?, embedder), dimensions = coalesce(?, dimensions), updated_at = ?
   WHERE knowledge_id = ? AND content_id = ? AND job_id = ? AND deleted_at IS NULL RETURNING content_id`,
);

/** Takes a content up for another job, which embeds its chunks anew. */
const reassign = statement(
  'reassign_knowledge_content',
  `UPDATE knowledge_contents SET status = 'processing', status_message = '', job_id = ?, updated_at = ?
   WHERE knowledge_id = ? AND content_id = ? AND job_id = ? AND deleted_at IS NULL RETURNING content_id`,
);

/** Another change of the content waits until this one is committed. */
const hold = statement(
  'hold_knowledge_content',
  `UPDATE knowledge_contents SET updated_at = ?
   WHERE knowledge_id = ? AND content_id = ? AND deleted_at IS NULL RETURNING *`,
);

const change = statement(
  'change_knowledge_content',
  `UPDATE knowledge_contents SET name = ?, description = ?, metadata = ?, search_text = ?
   WHERE knowledge_id = ? AND content_id = ?`,
);

const markDeleted = statement(
  'mark_knowledge_content_deleted',
  `UPDATE knowledge_contents SET deleted_at = coalesce(deleted_at, ?)
   WHERE knowledge_id = ? AND content_id = ? RETURNING *`,
);

/** A content that was added again in the meantime stays. */
const drop = statement(
  'drop_knowledge_content',
  `DELETE FROM knowledge_contents
   WHERE knowledge_id = ? AND content_id = ? AND deleted_at IS NOT NULL RETURNING content_id`,
);

const childIds = statement(
  'knowledge_content_children',
  `SELECT content_id FROM knowledge_contents
   WHERE knowledge_id = ? AND parent_id = ? AND deleted_at IS NULL AND content_id > ? ORDER BY content_id LIMIT ?`,
);

const childrenAtOnce = 100;

const unpublish = statement(
  'unpublish_knowledge_content',
  `UPDATE knowledge_contents SET published = 0, embedder = NULL, dimensions = NULL
   WHERE knowledge_id = ? AND content_id = ? AND job_id = ? AND deleted_at IS NULL RETURNING content_id`,
);

const unfinished = statement(
  'unfinished_knowledge_contents',
  `SELECT * FROM knowledge_contents
   WHERE (status = 'processing' OR deleted_at IS NOT NULL) AND updated_at < ?
     AND (updated_at > ? OR (updated_at = ? AND content_id > ?)) ORDER BY updated_at, content_id LIMIT ?`,
);

const embedders = statement(
  'knowledge_embedders',
  `SELECT embedder, dimensions, count(*) AS contents FROM knowledge_contents
   WHERE knowledge_id = ? AND embedder IS NOT NULL AND deleted_at IS NULL GROUP BY embedder, dimensions`,
);

const embeddedOtherwise = statement(
  'knowledge_contents_of_other_embedders',
  `SELECT * FROM knowledge_contents
   WHERE knowledge_id = ? AND embedder IS NOT NULL AND deleted_at IS NULL AND status <> 'processing'
     AND (embedder <> ? OR dimensions <> coalesce(?, dimensions)) AND content_id > ? ORDER BY content_id LIMIT ?`,
);

/** What is stored of the contents of all knowledge bases of a database. Chunks are in the vector store. */
export class ContentStore {
  /** As callers see them. */
  readonly lists: ContentListStore;

  constructor(private readonly database: Database) {
    this.lists = new ContentListStore(database);
  }

  /** Also one that is deleted and not removed yet. */
  async findAny(knowledgeId: string, contentId: string): Promise<StoredContent | undefined> {
    const [row] = await this.database.read<ContentRow>(findAny, [knowledgeId, contentId]);
    return row && contentFromRow(row);
  }

  /** Whether the job still works for this content: it was neither deleted nor added anew. */
  async isCurrent(knowledgeId: string, contentId: string, jobId: string): Promise<boolean> {
    return (await this.database.read(isCurrent, [knowledgeId, contentId, jobId])).length > 0;
  }

  /** Stores a content, in place of an earlier one with its id. */
  put(content: ContentToStore): Promise<void> {
    return this.database.transaction((run) => putContentRow(run, this.database.dialect, content));
  }

  /** Whether it was the job's to say. */
  async settle(
    { knowledgeId, id, jobId }: Pick<StoredContent, 'knowledgeId' | 'id' | 'jobId'>,
    { status, message, size, provenance, embedded }: ContentOutcome,
  ): Promise<boolean> {
    const values = [
      status,
      message,
      size ?? null,
      jsonOrNull(provenance ?? null),
      embedded === undefined ? 0 : 1,
      embedded?.embedder ?? null,
      embedded?.dimensions ?? null,
      Date.now(),
    ];
    return this.changes(settle, [...values, knowledgeId, id, jobId]);
  }

  /** Whether the content was still as it is given here. */
  reassign(content: StoredContent, jobId: string): Promise<boolean> {
    const { knowledgeId, id } = content;
    return this.changes(reassign, [jobId, Date.now(), knowledgeId, id, content.jobId]);
  }

  /** The content as it is then: one change after the other. Undefined when it is gone. */
  update(
    knowledgeId: string,
    contentId: string,
    changed: (stored: StoredContent) => Pick<StoredContent, 'name' | 'description' | 'metadata'>,
  ): Promise<StoredContent | undefined> {
    const { dialect } = this.database;
    return this.database.transaction(async (run) => {
      const [held] = await run<ContentRow>(hold[dialect], [Date.now(), knowledgeId, contentId]);
      if (held === undefined) return undefined;
      const stored = contentFromRow(held);
      const { name, description, metadata } = changed(stored);
      const texts = [name, description ?? '', jsonOrNull(metadata), searchTextOf(name, description)];
      await run(change[dialect], [...texts, knowledgeId, contentId]);
      await putMetadataRows(run, dialect, knowledgeId, contentId, metadata);
      return { ...stored, name, description: description ?? '', metadata };
    });
  }

  /** From now on it is gone for everyone, and no job publishes anything for it. */
  async markDeleted(knowledgeId: string, contentId: string): Promise<StoredContent | undefined> {
    const [row] = await this.database.transaction((run) =>
      run<ContentRow>(markDeleted[this.database.dialect], [Date.now(), knowledgeId, contentId]),
    );
    return row && contentFromRow(row);
  }

  /** Removes what is marked. */
  async drop(knowledgeId: string, contentId: string): Promise<void> {
    const { dialect } = this.database;
    await this.database.transaction(async (run) => {
      const rows = await run(drop[dialect], [knowledgeId, contentId]);
      if (rows.length > 0) await run(removeMetadataRows[dialect], [knowledgeId, contentId]);
    });
  }

  /** The contents that came from a folder, or a list of addresses. */
  async *childIds(knowledgeId: string, parentId: string): AsyncIterable<string> {
    for (let after: string | undefined = ''; after !== undefined; ) {
      const values: readonly (string | number)[] = [knowledgeId, parentId, after, childrenAtOnce];
      const rows: readonly { content_id: string }[] = await this.database.read(childIds, values);
      for (const row of rows) yield row.content_id;
      after = rows.length < childrenAtOnce ? undefined : rows.at(-1)?.content_id;
    }
  }

  /** Its chunks are gone: it has become a folder. */
  unpublish({ knowledgeId, id, jobId }: StoredContent): Promise<boolean> {
    return this.changes(unpublish, [knowledgeId, id, jobId]);
  }

  /** Contents in process, and those whose removal did not end, that nothing has touched since. */
  async unfinished(
    before: number,
    after: StoredContent | undefined,
    limit: number,
  ): Promise<StoredContent[]> {
    const { updatedAt, id } = after ?? { updatedAt: -1, id: '' };
    const rows = await this.database.read<ContentRow>(unfinished, [before, updatedAt, updatedAt, id, limit]);
    return rows.map(contentFromRow);
  }

  /** What the published contents were embedded with. */
  async embedders(knowledgeId: string): Promise<(EmbeddedWith & { readonly contents: number })[]> {
    const rows = await this.database.read<{ embedder: string; dimensions: number; contents: number }>(
      embedders,
      [knowledgeId],
    );
    return rows.map(({ embedder, dimensions, contents }) => ({
      embedder,
      dimensions: Number(dimensions),
      contents: Number(contents),
    }));
  }

  /** Contents that were embedded with something else. */
  async embeddedOtherwise(
    knowledgeId: string,
    embedder: string,
    dimensions: number | null,
    after: string,
    limit: number,
  ): Promise<StoredContent[]> {
    const parameters = [knowledgeId, embedder, dimensions, after, limit];
    return (await this.database.read<ContentRow>(embeddedOtherwise, parameters)).map(contentFromRow);
  }

  private async changes(
    change: ReturnType<typeof statement>,
    parameters: readonly (string | number | null)[],
  ): Promise<boolean> {
    const rows = await this.database.transaction((run) => run(change[this.database.dialect], parameters));
    return rows.length > 0;
  }
}
