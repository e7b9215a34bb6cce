import { thrownError } from '../../core/errors/thrown-error.js';
import type { Knowledge } from '../../core/knowledge/knowledge.js';
import type { Log } from '../../core/log.js';
import type { Timers } from '../../core/timers.js';
import type { KnowledgeParts } from './base-in-database.js';
import type { StoredContent } from './contents/content.js';
import { embedderName } from './ingestion/cached-embedding.js';
import { addInitialContents } from './initial-contents.js';
import { KnowledgeBase } from './knowledge-base.js';
import { finishRemoval } from './removal.js';

/** How often contents are looked for that nothing works on. */
const sweepMs = 300_000;
/** What was touched in this time is being worked on. */
const freshMs = 60_000;
const rowsAtOnce = 200;
/** So long a search waits for the contents of the settings to be indexed. */
const longestFillMs = 10_000;
/** Bytes that no content refers to are removed after a day. */
const uploadsKeptMs = 86_400_000;

/** The knowledge bases of one database. */
export class DatabaseKnowledge {
  private readonly bases: ReadonlyMap<string, KnowledgeBase>;
  private readonly byKnowledge: ReadonlyMap<Knowledge, KnowledgeBase>;
  private readonly log: Log;
  private stopTimer: (() => void) | null = null;
  private sweeping: Promise<void> | null = null;
  private readonly stopped = new AbortController();
  /** Until the contents of the settings are indexed. */
  private filling: ReadonlyMap<Knowledge, Promise<void>> = new Map();

  constructor(
    registered: readonly Knowledge[],
    private readonly parts: KnowledgeParts,
    private readonly timers: Timers,
  ) {
    this.log = parts.log;
    const bases = registered.map((knowledge) => [knowledge, new KnowledgeBase(knowledge, parts)] as const);
    this.byKnowledge = new Map(bases);
    this.bases = new Map(bases.map(([, base]) => [base.id, base]));
  }

  list(): readonly KnowledgeBase[] {
    return [...this.bases.values()];
  }

  base(id: string): KnowledgeBase | undefined {
    return this.bases.get(id);
  }

  of(knowledge: Knowledge): KnowledgeBase {
    const base = this.byKnowledge.get(knowledge);
    if (base === undefined) throw new Error(`Knowledge '${knowledge.name}' is not registered here.`);
    return base;
  }

  /** The same, once it has the contents of its settings, or when that takes too long. */
  async filled(knowledge: Knowledge): Promise<KnowledgeBase> {
    await this.untilFilled(knowledge);
    return this.of(knowledge);
  }

  private untilFilled(knowledge: Knowledge): Promise<void> {
    return new Promise((resolve) => {
      const takeBack = this.timers.after(longestFillMs, resolve);
      void Promise.resolve(this.filling.get(knowledge)).then(resolve).finally(takeBack);
    });
  }

  /** Takes up what a process that died has left: contents without a job, removals that did not end. */
  async start(): Promise<void> {
    if (this.bases.size === 0) return;
    await Promise.all(this.list().map((base) => this.sayWhetherEmbedderChanged(base)));
    this.stopTimer = this.timers.every(sweepMs, () => this.sweep(Date.now() - freshMs));
    this.sweep(Date.now());
    const { signal } = this.stopped;
    this.filling = new Map(
      Array.from(this.byKnowledge, ([knowledge, base]) => [knowledge, addInitialContents(base, signal)]),
    );
  }

  async stop(): Promise<void> {
    this.stopTimer?.();
    this.stopped.abort();
    await Promise.all(this.filling.values());
    await this.sweeping;
  }

  private sweep(before: number): void {
    this.sweeping ??= this.sweepNow(before)
      .catch((error: unknown) =>
        this.log.warn({ err: thrownError(error) }, 'unfinished contents could not be looked after'),
      )
      .finally(() => {
        this.sweeping = null;
      });
  }

  private async sweepNow(before: number): Promise<void> {
    const { contents, uploads, embeddings } = this.parts;
    for (let after: StoredContent | undefined; ; ) {
      const found = await contents.unfinished(before, after, rowsAtOnce);
      for (const content of found) await this.lookAfter(content);
      after = found.at(-1);
      if (found.length < rowsAtOnce) break;
    }
    await uploads.removeBefore(Date.now() - uploadsKeptMs);
    await embeddings.removeUnused();
  }

  private async lookAfter(content: StoredContent): Promise<void> {
    const base = this.bases.get(content.knowledgeId);
    if (base === undefined) return;
    if (content.deletedAt !== null) return finishRemoval(base, content);
    const { jobs, job } = this.parts;
    const state = await jobs.find(job, content.jobId);
    // its process died between the row and the job
    if (state === undefined && content.parentId === null) return base.startJob(content);
    if (state?.status === 'pending' || state?.status === 'running') return;
    const message = state?.error?.message ?? 'The content was not indexed';
    await base.settled(content, { status: 'failed', message });
  }

  private async sayWhetherEmbedderChanged(base: KnowledgeBase): Promise<void> {
    const changed = await base.otherEmbedders();
    if (changed.length === 0) return;
    this.log.warn(
      { knowledge: base.name, embedder: embedderName(base.embedder), stored: changed },
      'contents were embedded with another embedder: run `runyard knowledge reembed`',
    );
  }
}
