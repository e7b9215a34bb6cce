import type {
  CancelRequest,
  EventBlock,
  RefusedWrite,
  RunJournal,
  RunWrite,
  StoredText,
} from '../../../core/runs/journal/ports.js';
import type { RunLeases } from '../../../core/runs/leases/run-leases.js';
import type { RunQueue } from '../../../core/runs/leases/run-queue.js';
import type { OrphanJournal } from '../../../core/runs/resume/ending-executable.js';
import type { RunStatus } from '../../../core/runs/run.js';
import type { Database } from '../../../platform/storage/database.js';
import { CancellationStore } from './cancellation-store.js';
import { commitRuns } from './commit-store.js';
import { EventStore } from './event-store.js';
import { jobTables } from './journal-tables-store.js';
import { LeaseStore } from './lease-store.js';
import { LoadedRunStore, type RunWithSteps } from './loaded-run-store.js';
import { OrphanStore } from './orphan-store.js';
import { QueueStore } from './queue-store.js';
import { longTexts, textParts } from './text-store.js';

/** The journal of the jobs of one database. A job has no session: what is about sessions is empty. */
export class JobStore implements RunJournal {
  readonly leases: RunLeases;
  readonly queue: RunQueue;
  readonly orphans: OrphanJournal;
  readonly #loaded: LoadedRunStore;
  readonly #events: EventStore;
  readonly #cancellations: CancellationStore;

  constructor(private readonly database: Database) {
    this.leases = new LeaseStore(database, jobTables);
    this.queue = new QueueStore(database, jobTables);
    this.orphans = new OrphanStore(database, jobTables);
    this.#loaded = new LoadedRunStore(database, jobTables);
    this.#events = new EventStore(database, jobTables);
    this.#cancellations = new CancellationStore(database, jobTables);
  }

  commit(writes: readonly RunWrite[]): Promise<readonly RefusedWrite[]> {
    return commitRuns(this.database, writes, { traces: false, tables: jobTables });
  }

  load(jobId: string): Promise<RunWithSteps | undefined> {
    return this.#loaded.load(jobId);
  }

  loadAll(jobIds: readonly string[]): Promise<RunWithSteps[]> {
    return this.#loaded.loadAll(jobIds);
  }

  progress(jobId: string): Promise<{ status: RunStatus; nextEventIndex: number } | undefined> {
    return this.#loaded.progress(jobId);
  }

  eventBlocks(jobId: string, fromIndex: number, limit: number): Promise<readonly EventBlock[]> {
    return this.#events.blocks(jobId, fromIndex, limit);
  }

  countEvents(jobId: string, fromIndex: number, toIndex: number): Promise<number> {
    return this.#events.count(jobId, fromIndex, toIndex);
  }

  longTexts(jobId: string): Promise<readonly StoredText[]> {
    return longTexts(this.database, jobId, jobTables);
  }

  textParts(jobId: string, textId: string, from: number, limit: number): Promise<readonly string[]> {
    return textParts(this.database, jobId, textId, from, limit, jobTables);
  }

  requestCancellation(request: CancelRequest): Promise<void> {
    return this.#cancellations.request(request);
  }

  cancellations(since: number): Promise<readonly CancelRequest[]> {
    return this.#cancellations.open(since);
  }

  cancellation(jobId: string, since: number): Promise<CancelRequest | undefined> {
    return this.#cancellations.ofRun(jobId, since);
  }

  async idempotentRun(): Promise<undefined> {}

  async history(): Promise<readonly never[]> {
    return [];
  }

  async session(): Promise<undefined> {}

  async summary(): Promise<undefined> {}
}
