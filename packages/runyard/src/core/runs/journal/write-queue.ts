import { inNeutralContext } from '../../async/neutral-context.js';
import { TransientMap } from '../../collections/transient-map.js';
import { errors } from '../../errors/errors.js';
import { handled } from '../../errors/handled.js';
import { thrownError } from '../../errors/thrown-error.js';
import type { Log } from '../../log.js';
import type { Timers } from '../../timers.js';
import type { Run } from '../run.js';
import { longTextLength } from './long-texts.js';
import type { RefusedWrite, RunJournal, RunWrite } from './ports.js';

/** Something whose changes are written together with those of others. */
export interface WriteSource {
  readonly runId: string;
  /** Whether its first write is durable. Until then a caller waits to learn whether the run was accepted at all. */
  readonly isAccepted: boolean;
  /** Whether what is stored of it waits for any process with a free slot. */
  readonly isOffered?: boolean;
  /** Whether readers in other processes wait for what is stored of it. */
  readonly isAwaited?: boolean;
  /** Hands over everything that is new since the last call; undefined when there is nothing. */
  drain(): RunWrite | undefined;
  /** What `drain` handed over is durable. */
  written(write: RunWrite): void;
  /** Its changes cannot be stored: this process may no longer move the run, or never could. Called once. */
  refused(error: Error): void;
}

interface Waiter {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(error: Error): void;
}

/** The part of one source in a batch. */
interface Entry {
  readonly source: WriteSource;
  readonly write: RunWrite;
  readonly waiter: Waiter | undefined;
  /** When the source first had something that this write holds. */
  readonly since: number;
  /** A commit that held it failed: whether it was made is unknown. */
  tried: boolean;
}

/** By run id: a batch holds one write of a run. */
type Batch = Map<string, Entry>;

/** How long a write without a waiter may stay in memory. */
const lazyMs = 25;
/** The same where readers in other processes wait for it. */
const awaitedMs = 5;
/** The last one is repeated. */
const retryDelaysMs = [50, 100, 250, 500];
/** How long a new run, or one that is to continue, waits for an unavailable database before its caller is refused. */
const newRunPatienceMs = 3_000;
/** How long a run in progress waits. After that it is left to the process that takes it over by its lease. */
const acceptedRunPatienceMs = 90_000;
/** How long a caller waits for a write that takes long without failing. */
const slowWritePatienceMs = 30_000;
const namedRuns = 10;
/** What is on its way to the storage is held several times: a commit takes so much, and the rest comes next. */
const commitBytes = 4 * 1024 * 1024;

/**
 * Group commit: all runs that have something to write share the next transaction, and each waits until its own
 * part is durable. While one transaction is on its way to the disk the next one fills.
 *
 * A source that fails fails alone: the queue continues with the others. One that was refused stays refused.
 */
export class WriteQueue {
  /** Sources with something to write, with the time since when. */
  private readonly dirty = new TransientMap<WriteSource, number>();
  private readonly waiters = new TransientMap<WriteSource, Waiter>();
  private readonly refusals = new WeakMap<WriteSource, Error>();
  private scheduled = false;
  private committing = false;
  /** How many runs are in the batch that is being stored. */
  private underWay = 0;
  /** Whether the last commit failed. */
  private failing = false;
  private cancelLazy: (() => void) | null = null;
  /** Whether that comes early, for readers in other processes. */
  private hurries = false;

  constructor(
    private readonly journal: RunJournal,
    private readonly timers: Timers,
    private readonly log: Log,
    private readonly isTransient: (error: unknown) => boolean,
    /** Called when changes of a source are durable, with the time since when it had them. It must not throw. */
    private readonly onStored: (source: WriteSource, since: number) => void = () => {},
  ) {}

  /** How many runs have changes that are not stored. */
  get size(): number {
    return this.dirty.size + this.underWay;
  }

  /** Resolves when everything that the source has now is durable; rejects when any of it was refused. */
  flush(source: WriteSource): Promise<void> {
    let waiter = this.waiters.get(source);
    if (waiter === undefined) {
      waiter = newWaiter();
      const refusal = this.refusals.get(source);
      if (refusal !== undefined) {
        waiter.reject(refusal);
        return waiter.promise;
      }
      this.waiters.set(source, waiter);
    }
    this.mark(source);
    this.schedule();
    return waiter.promise;
  }

  /**
   * For a caller who waits for a write of a run in progress. It is made sooner or later; while writes fail, the caller
   * waits no longer for it than for a new run. A database that is merely slow is given more time.
   */
  withinPatience(stored: Promise<void>, overdue = () => errors.databaseOutage('busy')): Promise<void> {
    return new Promise((resolve, reject) => {
      let waitedMs = 0;
      let cancel = (): void => {};
      const wait = (): void => {
        cancel = this.timers.after(newRunPatienceMs, () => {
          waitedMs += newRunPatienceMs;
          if (this.failing || waitedMs >= slowWritePatienceMs) reject(overdue());
          else wait();
        });
      };
      wait();
      const ended = (): void => cancel();
      stored.then(ended, ended);
      stored.then(resolve, reject);
    });
  }

  /** Writes the source with the next batch; the caller does not wait for it. */
  touch(source: WriteSource): void {
    if (this.refusals.has(source)) return;
    this.mark(source);
    if (!this.committing && !this.scheduled) this.scheduleLazily(source.isAwaited === true);
  }

  private mark(source: WriteSource): void {
    if (!this.dirty.has(source)) this.dirty.set(source, this.timers.now());
  }

  private scheduleLazily(isAwaited: boolean): void {
    if (isAwaited && !this.hurries) this.cancelTimer();
    if (this.cancelLazy === null) this.startTimer(isAwaited);
  }

  private startTimer(isAwaited: boolean): void {
    const begin = () => {
      this.cancelLazy = null;
      this.schedule();
    };
    this.hurries = isAwaited;
    this.cancelLazy = inNeutralContext(() => this.timers.after(isAwaited ? awaitedMs : lazyMs, begin));
  }

  private cancelTimer(): void {
    this.cancelLazy?.();
    this.cancelLazy = null;
  }

  private schedule(): void {
    if (this.scheduled || this.committing) return;
    this.scheduled = true;
    this.cancelTimer();
    inNeutralContext(() => this.timers.soon(() => void this.commitNext()));
  }

  private async commitNext(): Promise<void> {
    this.scheduled = false;
    this.committing = true;
    const batch: Batch = new Map();
    try {
      this.fill(batch);
      await this.commitBatch(batch);
    } catch (error) {
      // nothing above is expected to throw: if it does, no caller may wait forever
      this.log.error({ err: error, writes: batch.size }, 'a batch of writes failed');
      for (const entry of batch.values()) this.refuse(entry, thrownError(error));
    } finally {
      this.committing = false;
      this.underWay = 0;
    }
    if (this.waiters.size > 0) this.schedule();
    else if (this.dirty.size > 0)
      this.scheduleLazily(this.dirty.keys().some((source) => source.isAwaited === true));
  }

  /** Takes what is new of every source into the batch, except for runs that have a write in it already. */
  private fill(batch: Batch): void {
    for (const [source, since] of this.dirty.entries()) {
      // also two callers who chose the same run id: which of them is refused shows only when they are written apart
      if (batch.has(source.runId)) continue;
      this.dirty.delete(source);
      const waiter = this.waiters.get(source);
      this.waiters.delete(source);
      try {
        const write = source.drain();
        if (write === undefined) waiter?.resolve();
        else batch.set(source.runId, { source, write, waiter, since, tried: false });
      } catch (error) {
        this.log.error(
          { err: error, runId: source.runId },
          'the pending writes of a run could not be collected',
        );
        this.refuse({ source, waiter }, thrownError(error));
      }
    }
  }

  /**
   * A short outage of the database delays the runs, it does not end them. The batch stays together, and what
   * arrives in that time joins it, so that no write also waits out the retries of those before it.
   */
  private async commitBatch(batch: Batch): Promise<void> {
    for (let failures = 0; batch.size > 0; failures += 1) {
      this.underWay = batch.size;
      const entries = portionOf(batch);
      const error = await this.tryCommit(entries);
      const left = error === undefined ? [] : await this.withoutFaulty(entries, error);
      for (const entry of entries) if (!left.includes(entry)) batch.delete(entry.write.runId);
      if (error === undefined || left.length === 0) {
        failures = -1;
        // a new write need not wait for all that is long
        if (batch.size > 0) this.fill(batch);
        continue;
      }
      // what is left was not at fault: the database went away while the fault was looked for
      this.giveUpOverdue(batch, this.isTransient(error) ? error : errors.databaseOutage('lost'));
      if (batch.size === 0) return;
      const delay = retryDelaysMs[failures] ?? retryDelaysMs.at(-1) ?? 0;
      await new Promise<void>((resolve) => {
        this.timers.after(delay, resolve);
      });
      this.fill(batch);
    }
  }

  /** Answers with the error of a commit that failed as a whole. */
  private async tryCommit(entries: readonly Entry[]): Promise<Error | undefined> {
    try {
      const refused = await this.journal.commit(entries.map(({ write }) => write));
      this.failing = false;
      this.settle(entries, await this.notOurOwn(refused, entries));
      return undefined;
    } catch (error) {
      this.failing = true;
      for (const entry of entries) entry.tried = true;
      return thrownError(error);
    }
  }

  /**
   * One write that cannot be stored must not take the others with it: halves of the batch are tried until it stands
   * alone. Answers with those that are still to be written, because the database went away.
   */
  private async withoutFaulty(entries: readonly Entry[], error: Error): Promise<readonly Entry[]> {
    if (this.isTransient(error)) return entries;
    const [entry] = entries;
    if (entry !== undefined && entries.length === 1) {
      this.log.error({ err: error, runId: entry.write.runId }, 'a run could not be stored');
      this.refuse(entry, errors.notStorable(entry.write.runId, error));
      return [];
    }
    const middle = Math.ceil(entries.length / 2);
    const left: Entry[] = [];
    for (const half of [entries.slice(0, middle), entries.slice(middle)]) {
      const failure = left.length > 0 ? undefined : await this.tryCommit(half);
      // once the database is away there is nothing to be learned from the rest
      if (left.length > 0) left.push(...half);
      else if (failure !== undefined) left.push(...(await this.withoutFaulty(half, failure)));
    }
    return left;
  }

  /** Refuses those that have waited for as long as they may. */
  private giveUpOverdue(batch: Batch, error: Error): void {
    const now = this.timers.now();
    const givenUp: string[] = [];
    for (const entry of [...batch.values()]) {
      const { source, since } = entry;
      if (now - since < (source.isAccepted ? acceptedRunPatienceMs : newRunPatienceMs)) continue;
      if (source.isAccepted) givenUp.push(source.runId);
      batch.delete(source.runId);
      this.refuse(entry, error);
    }
    if (givenUp.length === 0) return;
    const facts = { runs: givenUp.length, runIds: givenUp.slice(0, namedRuns) };
    this.log.warn(facts, 'runs are no longer executed here; they resume when the database is back');
  }

  /** A connection that broke during a commit hides that it succeeded: then the run that is stored is this one. */
  private async notOurOwn(
    refused: readonly RefusedWrite[],
    entries: readonly Entry[],
  ): Promise<readonly RefusedWrite[]> {
    const foreign: RefusedWrite[] = [];
    for (const refusal of refused) {
      const entry = entries.find(({ write }) => write.runId === refusal.runId);
      const stored = entry?.tried ? await this.journal.load(refusal.runId) : undefined;
      if (!entry || !stored || !hasLanded(refusal.reason, entry.write, stored.run)) foreign.push(refusal);
    }
    return foreign;
  }

  private settle(entries: readonly Entry[], refused: readonly RefusedWrite[]): void {
    const reasons = new Map(refused.map(({ runId, reason }) => [runId, reason]));
    for (const entry of entries) {
      const { source, write, waiter, since } = entry;
      const reason = reasons.get(write.runId);
      if (reason !== undefined) {
        this.refuse(entry, refusal(write, reason));
        continue;
      }
      try {
        source.written(write);
        this.onStored(source, since);
        waiter?.resolve();
      } catch (error) {
        this.log.error({ err: error, runId: write.runId }, 'a run failed to handle a completed write');
        this.refuse(entry, thrownError(error));
      }
    }
  }

  /** Nothing of the source is written from here on, and all that wait for it, now or later, get the error. */
  private refuse({ source, waiter }: Pick<Entry, 'source' | 'waiter'>, error: Error): void {
    const first = !this.refusals.has(source);
    this.refusals.set(source, this.refusals.get(source) ?? error);
    this.dirty.delete(source);
    waiter?.reject(error);
    this.waiters.get(source)?.reject(error);
    this.waiters.delete(source);
    if (!first) return;
    try {
      source.refused(error);
    } catch (failure) {
      this.log.error({ err: failure, runId: source.runId }, 'a run failed to handle a rejected write');
    }
  }
}

/** What one commit takes: all that is short, and of what is long the first. */
function portionOf(batch: Batch): Entry[] {
  const entries: Entry[] = [];
  let bytes = 0;
  for (const entry of batch.values()) {
    const { size = 0 } = entry.write;
    if (bytes >= commitBytes && size >= longTextLength) continue;
    entries.push(entry);
    bytes += size;
  }
  return entries;
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
  // a source learns of the failure through `refused` too; the promise need not be awaited
  return { promise: handled(promise), resolve, reject };
}
