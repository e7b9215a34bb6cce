import { errors } from '../errors.js';
import { thrownError } from '../failures/thrown-error.js';
import type { Log } from '../log.js';
import type { Timers } from '../timers.js';
import type { RefusedWrite, RunJournal, RunWrite } from './ports.js';
import type { Run } from './run.js';

/** Something whose changes are written together with those of others. */
export interface WriteSource {
  readonly runId: string;
  /** Hands over everything that is new since the last call; undefined when there is nothing. */
  drain(): RunWrite | undefined;
  /** What `drain` handed over is durable. */
  written(write: RunWrite): void;
  /** The journal refused the write: this process may no longer move the run, or never could. */
  refused(write: RunWrite, error: Error): void;
}

interface Waiter {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(error: Error): void;
}

/** How long a write that nobody waits for may stay in memory. */
const lazyMs = 25;
const retryDelaysMs = [50, 100, 250, 500, 1000, 2000, 4000, 8000];

/**
 * Group commit: all runs that have something to write share the next transaction, and each waits until its own
 * part is durable. While one transaction is on its way to the disk the next one fills.
 */
export class WriteQueue {
  private dirty = new Set<WriteSource>();
  private waiters = new Map<WriteSource, Waiter>();
  private scheduled = false;
  private committing = false;
  private cancelLazy: (() => void) | null = null;

  constructor(
    private readonly journal: RunJournal,
    private readonly timers: Timers,
    private readonly log: Log,
    private readonly isTransient: (error: unknown) => boolean,
  ) {}

  /** Resolves when everything that the source has now is durable. */
  flush(source: WriteSource): Promise<void> {
    this.dirty.add(source);
    let waiter = this.waiters.get(source);
    if (waiter === undefined) {
      waiter = newWaiter();
      this.waiters.set(source, waiter);
    }
    this.schedule();
    return waiter.promise;
  }

  /** Writes the source with the next batch; nobody waits for it. */
  touch(source: WriteSource): void {
    this.dirty.add(source);
    if (this.committing || this.scheduled) return;
    this.cancelLazy ??= this.timers.after(lazyMs, () => {
      this.cancelLazy = null;
      this.schedule();
    });
  }

  private schedule(): void {
    if (this.scheduled || this.committing) return;
    this.scheduled = true;
    this.cancelLazy?.();
    this.cancelLazy = null;
    this.timers.soon(() => {
      this.scheduled = false;
      void this.commitNext();
    });
  }

  private async commitNext(): Promise<void> {
    this.committing = true;
    const { dirty, waiters } = this;
    this.dirty = new Set();
    this.waiters = new Map();
    const batch = new Map<RunWrite, WriteSource>();
    const runIds = new Set<string>();
    for (const source of dirty) {
      // two callers who chose the same run id: who is refused can be told only when they are written apart
      if (runIds.has(source.runId)) {
        this.postpone(source, waiters);
        continue;
      }
      runIds.add(source.runId);
      const write = source.drain();
      if (write === undefined) waiters.get(source)?.resolve();
      else batch.set(write, source);
    }
    try {
      if (batch.size > 0) await this.commitBatch(batch, waiters);
    } finally {
      this.committing = false;
    }
    if (this.waiters.size > 0) this.schedule();
    else for (const source of this.dirty) this.touch(source);
  }

  private postpone(source: WriteSource, waiters: Map<WriteSource, Waiter>): void {
    const waiter = waiters.get(source);
    this.dirty.add(source);
    if (waiter !== undefined) this.waiters.set(source, waiter);
  }

  private async commitBatch(
    batch: Map<RunWrite, WriteSource>,
    waiters: Map<WriteSource, Waiter>,
    tried = false,
  ): Promise<void> {
    try {
      const refused = await this.commitPatiently([...batch.keys()], tried);
      settle(batch, waiters, refused);
    } catch (error) {
      // one write that cannot be stored must not take the others with it
      if (batch.size === 1) return this.fail(batch, waiters, error);
      for (const entry of batch) await this.commitBatch(new Map([entry]), waiters, true);
    }
  }

  /** A database that is away for a moment delays the runs, it does not end them. */
  private async commitPatiently(
    writes: readonly RunWrite[],
    tried: boolean,
  ): Promise<readonly RefusedWrite[]> {
    for (let failures = 0; ; failures += 1) {
      try {
        const refused = await this.journal.commit(writes);
        return failures === 0 && !tried ? refused : await this.notOurOwn(refused, writes);
      } catch (error) {
        const delay = retryDelaysMs[failures];
        if (delay === undefined || !this.isTransient(error)) throw error;
        const facts = { err: error, writes: writes.length, retryInMs: delay };
        this.log.warn(facts, 'storage is away, the write is tried again');
        await new Promise<void>((resolve) => {
          this.timers.after(delay, resolve);
        });
      }
    }
  }

  /** A connection that broke during a commit hides that it succeeded: then the run that is stored is this one. */
  private async notOurOwn(
    refused: readonly RefusedWrite[],
    writes: readonly RunWrite[],
  ): Promise<RefusedWrite[]> {
    const foreign: RefusedWrite[] = [];
    for (const refusal of refused) {
      const write = writes.find(({ runId }) => runId === refusal.runId);
      const stored = write && (await this.journal.load(refusal.runId));
      if (stored === undefined || !hasLanded(refusal.reason, write!, stored.run)) foreign.push(refusal);
    }
    return foreign;
  }

  private fail(batch: Map<RunWrite, WriteSource>, waiters: Map<WriteSource, Waiter>, error: unknown): void {
    for (const [write, source] of batch) {
      const reason = thrownError(error);
      this.log.error({ err: error, runId: write.runId }, 'a run could not be stored');
      source.refused(write, reason);
      waiters.get(source)?.reject(reason);
    }
  }
}

function hasLanded(
  reason: RefusedWrite['reason'],
  { attempt, insert, update, claims }: RunWrite,
  stored: Run,
): boolean {
  if (reason === 'run_exists')
    return stored.leaseOwner === insert?.leaseOwner && stored.createdAt === insert?.createdAt;
  if (reason !== 'fenced' || claims === undefined) return false;
  return (
    stored.attempt === attempt &&
    stored.leaseOwner === update?.leaseOwner &&
    stored.updatedAt === update?.updatedAt
  );
}

function settle(
  batch: Map<RunWrite, WriteSource>,
  waiters: Map<WriteSource, Waiter>,
  refused: readonly RefusedWrite[],
): void {
  const reasons = refused.length === 0 ? null : new Map(refused.map((entry) => [entry.runId, entry.reason]));
  for (const [write, source] of batch) {
    const reason = reasons?.get(write.runId);
    if (reason === undefined) {
      source.written(write);
      waiters.get(source)?.resolve();
    } else {
      const error = refusal(write, reason);
      source.refused(write, error);
      waiters.get(source)?.reject(error);
    }
  }
}

function refusal(write: RunWrite, reason: RefusedWrite['reason']): Error {
  if (reason === 'run_exists') return errors.runExists(write.runId);
  if (reason === 'key_taken') return errors.idempotencyKeyTaken();
  if (reason === 'foreign_session') {
    // whose an existing session is never changes: it is gone
    return write.session?.existing
      ? errors.sessionNotFound()
      : errors.foreignSession(write.session?.sessionId ?? '');
  }
  return errors.fenced(write.runId);
}

function newWaiter(): Waiter {
  let resolve!: () => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<void>((onDone, onFailed) => {
    resolve = onDone;
    reject = onFailed;
  });
  // a source hears of the failure through `refused` too; nobody has to wait for the promise
  promise.catch(() => {});
  return { promise, resolve, reject };
}
