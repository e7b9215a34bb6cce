import { RunyardError } from '../../../core/errors/errors.js';
import { reasonOf } from '../../../core/errors/reason.js';
import { RunCancelled, RunReleased } from '../../../core/runs/executable.js';
import { defineJob, type Job, type JobContext } from '../../../core/runs/jobs/job.js';
import { outputRecord } from '../../../core/runs/journal/codec.js';
import { flag, object } from '../../../core/runs/journal/shapes.js';
import type { BaseInDatabase } from '../base-in-database.js';
import type { ContentOutcome, StoredContent } from '../contents/content.js';
import type { ContentToStore } from '../contents/rows-store.js';
import { removeContent } from '../removal.js';
import { chunksOfParts, type IndexingProgress, indexContent } from './index-content.js';
import {
  type IngestionInput,
  type IngestionResult,
  ingestionInput,
  ingestionResult,
} from './ingestion-records.js';
import { type ContentOrigin, type FoundChild, resolvedContent } from './resolved-content.js';
import { stagePages } from './staged-pages.js';
import { ChunksNotStored } from './staging.js';
import { storedChunks } from './stored-chunks.js';

const childRecord = outputRecord('indexed_child', 1, object({ completed: flag }));

/** Indexes a content: reads it, splits it, embeds and publishes its chunks. A folder is one job with all its files. */
export function ingestionJob(
  find: (knowledgeId: string) => BaseInDatabase | undefined,
): Job<IngestionInput, IngestionResult> {
  return defineJob({
    kind: 'ingestion',
    input: ingestionInput,
    result: ingestionResult,
    async execute(context, { knowledgeId, contentId, uploadId, reembed = false }) {
      const base = find(knowledgeId);
      if (base === undefined)
        throw new Error(`No knowledge base with the id ${knowledgeId} is registered in this process.`);
      const content = await base.parts.contents.findAny(knowledgeId, contentId);
      if (content === undefined || content.jobId !== context.jobId || content.deletedAt !== null) {
        if (uploadId !== undefined) await base.parts.uploads.remove({ uploadId });
        return { indexed: 0, failed: 0 };
      }
      return new Ingestion(context, base, content).run(reembed);
    },
  });
}

class Ingestion {
  private readonly signal: AbortSignal;

  constructor(
    private readonly context: JobContext,
    private readonly base: BaseInDatabase,
    private readonly content: StoredContent,
  ) {
    this.signal = context.signal;
  }

  async run(reembed: boolean): Promise<IngestionResult> {
    const { content, base } = this;
    const counts = { indexed: 0, failed: 0 };
    const outcome = await this.outcomeOf(content, async () => {
      if (reembed) return this.reembedded();
      const resolved = await resolvedContent(base, content, this.signal);
      if (resolved.kind === 'folder') return this.withChildren(resolved.children, counts);
      const { provenance, size } = resolved;
      const outcome = await this.indexed(content, '', resolved);
      return outcome && { ...outcome, provenance, size };
    });
    if (outcome !== undefined) {
      await base.settled(content, outcome);
      if (counts.indexed + counts.failed === 0)
        counts[outcome.status === 'completed' ? 'indexed' : 'failed'] += 1;
    }
    if (content.request.from.kind === 'upload') await base.parts.uploads.remove(content.request.from);
    return counts;
  }

  /** A failure is the outcome of the content. That the job is cancelled, or continues elsewhere, is not. */
  private async outcomeOf(
    content: StoredContent,
    index: () => Promise<ContentOutcome | undefined>,
  ): Promise<ContentOutcome | undefined> {
    try {
      return await index();
    } catch (error) {
      const { reason } = this.signal;
      if (this.signal.aborted && (reason instanceof RunReleased || reason instanceof RunCancelled))
        throw reason;
      const { log } = this.context;
      log.warn({ err: error, content: content.id, knowledge: this.base.name }, 'a content was not indexed');
      return { status: 'failed', message: failureText(error, content) };
    }
  }

  private indexed(
    content: StoredContent,
    key: string,
    origin: ContentOrigin,
  ): Promise<ContentOutcome | undefined> {
    const { base, context, signal } = this;
    return indexContent({
      context,
      base,
      content,
      key,
      stage: (into) =>
        'url' in origin
          ? stagePages({ context, base, content, into }, origin.url)
          : into.add(chunksOfParts(base, content, origin.parts(), into.read, signal)),
      onProgress: (progress) => this.report(progress),
    });
  }

  private reembedded(): Promise<ContentOutcome | undefined> {
    const { base, content, context } = this;
    return indexContent({
      context,
      base,
      content,
      key: '',
      stage: (into) => into.add(storedChunks(base, content)),
      onProgress: (progress) => this.report(progress),
    });
  }

  /** The files of a folder, one after the other. Each is a content of its own; the folder says how many there are. */
  private async withChildren(
    children: AsyncIterable<FoundChild>,
    counts: { indexed: number; failed: number },
  ): Promise<ContentOutcome> {
    const found = new Set<string>();
    for await (const child of children) {
      found.add(child.content.id);
      const key = `child:${child.content.id}`;
      const record = { name: 'index a file', record: childRecord };
      // the file is fetched again after a restart, and its batches that are stored are steps of their own
      const { completed } = await this.context.step(key, record, async () => {
        const { contents } = this.base.parts;
        const existing = await contents.findAny(child.content.knowledgeId, child.content.id);
        if (existing?.deletedAt === null && !this.hasSameClaims(existing, child.content))
          return { completed: false };
        await contents.put(child.content);
        const stored = { ...child.content, published: false, deletedAt: null };
        const outcome = await this.outcomeOf(stored, () => this.indexed(stored, `${key}/`, child));
        if (outcome !== undefined) await this.base.settled(stored, { ...outcome, size: child.size });
        return { completed: outcome?.status !== 'failed' };
      });
      counts[completed ? 'indexed' : 'failed'] += 1;
      this.context.progress({
        done: counts.indexed + counts.failed,
        message: 'Files indexed',
        data: { files: counts.indexed + counts.failed, failed: counts.failed },
      });
    }
    await this.removeOthers(found);
    return outcomeOfFolder(counts);
  }

  /** Whether the callers who see the one see the other: a file never replaces a content that was given to others. */
  private hasSameClaims(...contents: readonly [ContentToStore, ContentToStore]): boolean {
    const [one, other] = contents.map(({ metadata }) => metadata ?? {});
    return Object.keys(this.base.settings.claimFilters ?? {}).every((key) => one?.[key] === other?.[key]);
  }

  /** What was there when the folder was added before, and is not there now. */
  private async removeOthers(found: ReadonlySet<string>): Promise<void> {
    const { base, content } = this;
    const { contents } = base.parts;
    // a newer job of this content decides by what it finds
    if (!(await contents.isCurrent(base.id, content.id, content.jobId))) return;
    for await (const child of contents.childIds(base.id, content.id))
      if (!found.has(child)) await removeContent(base, child);
    if (content.published && (await contents.unpublish(content)))
      await base.vectorStore.remove(base.id, content.id);
  }

  private report({ pages, totalPages, chunks }: IndexingProgress): void {
    this.context.progress({
      done: pages,
      ...(totalPages !== undefined && { total: totalPages }),
      message: 'Pages read',
      data: { pages, chunks },
    });
  }
}

function outcomeOfFolder({ indexed, failed }: { indexed: number; failed: number }): ContentOutcome {
  const total = indexed + failed;
  if (total === 0) return { status: 'failed', message: 'No files were found' };
  const message =
    failed === 0 ? `${total} files indexed` : `${indexed} of ${total} files indexed, ${failed} failed`;
  return { status: indexed === 0 ? 'failed' : 'completed', message };
}

/** Why a content was not indexed, for its owner. */
function failureText(error: unknown, content: StoredContent): string {
  const text = error instanceof RunyardError ? error.message : reasonOf(error);
  const { from } = content.request;
  const isOfUrl = from.kind === 'url' && !(error instanceof ChunksNotStored);
  const shown = isOfUrl ? `Error reading URL: ${from.url} - ${text}` : text;
  return content.published ? `${shown}. The earlier version is still searched.` : shown;
}
