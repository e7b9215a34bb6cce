import { TransientMap } from '../collections/transient-map.js';
import { errors, isReported, RunyardError } from '../errors/errors.js';
import type { JsonObject } from '../json.js';
import type { ModelPrices } from '../models/prices.js';
import { conditionOf, type EngineCondition } from './engine-condition.js';
import type { EngineOptions } from './engine-options.js';
import type { EventReader } from './events/event-reader.js';
import { Following, Progress } from './events/following.js';
import type { LoggedEvent } from './events/logged-event.js';
import { nothingSent, sentWith } from './events/sent-events.js';
import { type Executable, RunCancelled } from './executable.js';
import { RunExecutor } from './execution/executor.js';
import { introductionOf } from './execution/introduction.js';
import { LiveRun } from './execution/live-run.js';
import { notBegun } from './execution/live-run-start.js';
import { newRun } from './execution/new-run.js';
import type { RunHandle } from './execution/run-handle.js';
import { waitingJob } from './jobs/waiting-job.js';
import { copiedSteps } from './journal/copied-steps.js';
import type { CancelRequest, RunWrite } from './journal/ports.js';
import type { ContinueRecord } from './journal/records.js';
import { WriteQueue } from './journal/write-queue.js';
import { appliesTo, CancellationWatch, cancellationKeptMs } from './leases/cancellations.js';
import { OrphanedRuns } from './leases/orphaned-runs.js';
import { Recovery } from './leases/recovery.js';
import { RunHints } from './notifications/run-hints.js';
import type { Continuation } from './resume/continuation.js';
import { type ContinuedBy, hasMovedOn, RestingRuns, type RunAnswers } from './resume/resting-runs.js';
import { type Run, terminalStatuses } from './run.js';
import type { RunPorts } from './run-ports.js';
import { ownSession, type RunKey, type RunRequest, type RunSession, sessionOf } from './run-request.js';

/** How often to look for paused runs whose time has come. */
const wakeMs = 1_000;
/** How often to look for runs that wait in other processes, and whether those that wait here still do. */
const offeredMs = 500;

/** The state of a new session, shared by all runs: nothing changes it. */
const noState: JsonObject = {};

/** How long a key that a client chose refers to the run that was started with it. */
export const keysKeptMs = 86_400_000;
/** How long to wait for another process to end a run, and how often to look. */
const cancelledElsewhereMs = 5_000;
const lookMs = 50;
/** How long the last writes of runs that are handed on may take. */
const handOnMs = 5_000;

/** Starts runs, holds their leases, takes over those whose process died, and stops without losing any. */
export class RunEngine {
  /** What the tokens of a model cost, over the list prices. */
  readonly prices: ModelPrices;
  readonly ports: RunPorts;
  private readonly following: Following;
  private readonly hints: RunHints;
  private readonly queue: WriteQueue;
  private readonly executor: RunExecutor;
  private readonly recovery: Recovery;
  private readonly resting: RestingRuns;
  private readonly cancellations: CancellationWatch;
  private readonly orphaned: OrphanedRuns | undefined;
  /** Runs that are about to be launched: a stop waits for them. */
  private readonly starting = new TransientMap<Promise<unknown>, true>();
  /** When the last of the runs was made that are about to be stored under an id that a client chose, by that id. */
  private readonly chosen = new TransientMap<string, number>();
  /** The same for all runs: one of its own would keep what the run was asked for. */
  private readonly touch = (changed: LiveRun) => this.queue.touch(changed);
  private stopTimers: (() => void)[] = [];
  private stopped: Promise<void> | null = null;

  constructor(private readonly options: EngineOptions) {
    const { journal, timers, log, isTransient, ports, prices = {} } = options;
    this.ports = ports;
    this.prices = prices;
    this.following = new Following(options.notifications, options.relay);
    this.hints = new RunHints(options.notifications, this.following);
    this.queue = new WriteQueue(journal, timers, log, isTransient, (source, since) => {
      this.hints.stored(source);
      options.observer?.stored(timers.now() - since);
    });
    this.executor = new RunExecutor(this.queue, options, this.hints, this.following);
    this.recovery = new Recovery(this.executor, this.queue, options);
    this.resting = new RestingRuns(this.executor, this.queue, options);
    this.cancellations = new CancellationWatch(this.executor, options);
    this.orphaned =
      options.orphans && new OrphanedRuns(this.recovery, this.resting, options, options.orphans);
    this.executor.onEnded = () => this.recovery.lookOn();
  }

  /** Begins to renew leases and to look for runs that no process executes. Library use needs neither. */
  async open(): Promise<void> {
    const { leases, timers, leaseMs, isGone } = this.options;
    if (isGone !== undefined) {
      for (const owner of await leases.owners()) {
        if (isGone(owner)) await leases.release(owner);
      }
    }
    this.executor.leases.renewedAt = this.recovery.movedAt = timers.now();
    this.stopTimers = [
      timers.every(leaseMs / 3, () => void this.executor.leases.renew()),
      timers.every(leaseMs / 2, () => void this.recover()),
      this.cancellations.begin(),
      timers.every(wakeMs, () => void this.resting.wake()),
      timers.every(offeredMs, () => this.lookForOffered()),
      this.hints.begin({
        live: (runId) => this.executor.get(runId),
        allLive: () => this.executor.executed(),
        lookForWaiting: (runId) => this.options.alone !== true && void this.recovery.wake(runId),
        checkWaiting: () => void this.executor.leases.waiting.hint(),
        lookForCancellations: () => this.cancellations.hint(),
      }),
    ];
    void this.recover();
  }

  /** Whether it keeps its runs and finds those that no process executes. */
  get condition(): EngineCondition {
    if (this.stopTimers.length === 0 || this.stopped !== null) return 'closed';
    const { timers, leaseMs } = this.options;
    const [leasesRenewedAt, recoveryMovedAt] = [this.executor.leases.renewedAt, this.recovery.movedAt];
    return conditionOf({ now: timers.now(), leaseMs, leasesRenewedAt, recoveryMovedAt });
  }

  /** A process with a free slot takes what waits; one without looks after the callers of what waits here. */
  private lookForOffered(): void {
    if (this.options.alone === true) return;
    void this.executor.leases.waiting.poll();
    this.recovery.poll();
  }

  get liveCount(): number {
    return this.executor.size;
  }

  /** How many runs have changes that are not stored yet. */
  get unstoredCount(): number {
    return this.queue.size;
  }

  /** Begins a run in its session: the one way in, whichever interface asks and however the caller waits. */
  async start(executable: Executable, request: RunRequest): Promise<RunHandle> {
    const { sessionId, userId } = request;
    const stored =
      sessionId === undefined ? undefined : await ownSession(this.options.journal, sessionId, userId);
    const session = sessionOf(stored, executable, request);
    return await this.unlessStopping(() => this.startNow(executable, request, session));
  }

  /** Stores a run of no session (a job) for the first process with a free slot, and looks whether this one has one. */
  enqueue(run: Run, eventFields: JsonObject): Promise<void> {
    return this.unlessStopping(async () => {
      await this.options.assertWritable?.();
      await this.queue.flush(waitingJob(run, eventFields, this.options.timers));
      this.recovery.lookForWaiting();
    });
  }

  /** A run that is live in this process. */
  handle(runId: string): RunHandle | undefined {
    return this.executor.handle(runId);
  }

  /** The runs of a session that are live in this process. */
  inSession(sessionId: string): RunHandle[] {
    return this.executor.inSession(sessionId);
  }

  /** A cursor over the events of any run, live here or not. */
  events(runId: string, fromIndex = 0, filter?: (event: LoggedEvent) => boolean): EventReader {
    return this.executor.events(runId, fromIndex, filter);
  }

  /** All events of a live run below the answered index are stored; undefined for a run that is not live here. */
  storedUntil(runId: string): Promise<number | undefined> {
    return this.executor.storedUntil(runId);
  }

  /** Answers some or all of what a paused run waits for, and continues it: an answer is used once. */
  answer(runId: string, answers: RunAnswers): Promise<RunHandle> {
    return this.unlessStopping(() => this.resting.answer(runId, answers));
  }

  /** Continues a failed run with what is kept of its journal. */
  retry(runId: string, kept: Continuation, record: ContinueRecord, by: ContinuedBy = {}): Promise<RunHandle> {
    return this.unlessStopping(() => this.resting.retry(runId, kept, record, by));
  }

  /** Continues a run whose process died; undefined when another process has it. */
  resume(run: Run, by: ContinuedBy = {}): Promise<RunHandle | undefined> {
    return this.unlessStopping(() => this.recovery.resume(run, by));
  }

  /**
   * Ends a run, wherever it is executed and whether or not it is. One that has ended stays as it is. The answer is the
   * run if another process executes it and has not ended it yet: the request is stored, and that process takes it up,
   * or the next one that finds the run.
   */
  async cancel(runId: string, request: CancelRequest): Promise<Run | undefined> {
    const { journal, leases, timers } = this.options;
    const until = timers.now() + cancelledElsewhereMs;
    let progress: Progress | undefined;
    try {
      for (;;) {
        // one that has just begun may be not stored yet
        const run = this.executor.handle(runId)?.run ?? (await journal.load(runId))?.run;
        if (run !== undefined && !appliesTo(request, run)) return undefined;
        if (run !== undefined && (await this.cancelHere(run, request.reason))) return undefined;
        if (progress === undefined) {
          progress = new Progress(this.following, runId, timers);
          await journal.requestCancellation({ ...request, requestedAt: await leases.now() });
          this.hints.publish('cancel_requested', runId);
          // a run that was stored in between may have looked for the request before it was there: look once more
          continue;
        }
        if (run === undefined || timers.now() > until) return run;
        await progress.within(lookMs);
      }
    } finally {
      progress?.end();
    }
  }

  /** Takes over runs whose lease ended, resumes paused ones whose time has come, and ends those without a component. */
  async recover(): Promise<void> {
    await Promise.all([this.recovery.look(), this.resting.wake(), this.orphaned?.look()]);
  }

  /** Accepts no new runs, gives running ones time, then releases those that are left. */
  stop(graceMs: number): Promise<void> {
    this.stopped ??= this.stopNow(graceMs);
    return this.stopped;
  }

  private async stopNow(graceMs: number): Promise<void> {
    await Promise.allSettled([
      this.recovery.end(),
      this.resting.end(),
      this.orphaned?.end(),
      ...this.starting.keys(),
    ]);
    this.executor.releaseWaiting();
    // those that wait are being released
    const runs = this.executor.executed().filter(({ isWaiting }) => !isWaiting).length;
    if (runs > 0 && graceMs > 0)
      this.options.log.info({ runs, graceMs }, 'waiting for running runs to end, for at most graceMs');
    await this.executor.allEnded(graceMs);
    // leases are renewed until here: a grace that is longer than a lease must not lose the runs it is for
    for (const stop of this.stopTimers) stop();
    const handsOn = this.executor.size > 0 || this.executor.hasLost;
    this.executor.releaseAll();
    await this.executor.allEnded(handOnMs);
    if (handsOn) await this.releaseLeases();
  }

  /** While the database is unavailable this cannot be done: the leases expire by themselves. */
  private async releaseLeases(): Promise<void> {
    try {
      await this.options.leases.release(this.options.owner);
    } catch (error) {
      if (!isReported(error)) throw error;
    }
  }

  private unlessStopping<T>(begin: () => Promise<T>): Promise<T> {
    if (this.stopped !== null) return Promise.reject(errors.stopping());
    const beginning = begin();
    this.starting.set(beginning, true);
    const begun = () => this.starting.delete(beginning);
    beginning.then(begun, begun);
    return beginning;
  }

  /** Whether the run has ended now. False: another process executes it, or it has just changed. */
  private async cancelHere(run: Run, reason: string): Promise<boolean> {
    const handle = this.executor.handle(run.runId);
    if (handle !== undefined) {
      // also when it is ending already: it has ended when that is stored
      handle.cancel(reason);
      // it may have been about to pause when it was cancelled
      return handle.reported.then(
        ({ run: ended }) => ended.status !== 'paused',
        (error: unknown) => {
          if (isReported(error)) throw error;
          return false;
        },
      );
    }
    if (terminalStatuses.has(run.status)) return true;
    try {
      if (run.status === 'paused') await this.resting.cancel(run.runId, reason);
      else return await this.recovery.cancel(run, reason);
      return true;
    } catch (error) {
      if (hasMovedOn(error)) return false;
      throw error;
    }
  }

  private async startNow(
    executable: Executable,
    request: RunRequest,
    session: RunSession,
  ): Promise<RunHandle> {
    const arrived = this.options.slots.arrive();
    const { runId } = request;
    const now = this.momentFor(runId);
    try {
      const waiting = this.options.assertWritable?.();
      if (waiting !== undefined) await waiting;
      return await this.makeRun(executable, request, session, now, arrived.waits);
    } finally {
      arrived.left();
      if (runId !== undefined && this.chosen.get(runId) === now) this.chosen.delete(runId);
    }
  }

  /** Two requests with one id never have the same moment: by it each knows whether the run that is stored is its own. */
  private momentFor(runId: string | undefined): number {
    const now = this.options.timers.now();
    if (runId === undefined) return now;
    const own = Math.max(now, (this.chosen.get(runId) ?? 0) + 1);
    this.chosen.set(runId, own);
    return own;
  }

  private async makeRun(
    executable: Executable,
    request: RunRequest,
    { sessionId, stored, name, state }: RunSession,
    now: number,
    waits: boolean,
  ): Promise<RunHandle> {
    const { copy } = request;
    const run = newRun(executable, request, sessionId, now, this.options);
    const isFirst = stored === undefined || stored.unused === true;
    if (isFirst && executable.introduction) await this.introduce(executable.introduction, request, run);
    const steps = copiedSteps(run, copy);
    const offered = waits && this.options.alone !== true;
    const idempotency = request.idempotency && (await this.idempotencyOf(run, request.idempotency));
    const live = new LiveRun(
      {
        run: offered ? { ...run, attempt: notBegun, leaseOwner: null } : run,
        leaseMs: this.options.leaseMs,
        steps,
        entry: copy === undefined ? 'started' : 'continued',
        idempotency,
        session: {
          sessionId,
          kind: run.kind,
          componentId: run.componentId,
          userId: run.userId,
          name,
          metadata: executable.sessionMetadata ?? null,
          existing: stored !== undefined,
          now: run.createdAt,
        },
        isNamed: (stored?.name ?? null) !== null,
        sessionState: stored?.state ?? noState,
        sentEvents: copy === undefined ? nothingSent : sentWith(steps),
        eventFields: executable.eventFields,
      },
      this.touch,
      this.options.timers,
    );
    for (const [key, value] of Object.entries(state)) live.state.set(key, value);
    for (const step of live.allSteps()) live.putStep(step);
    // ids that clients choose can clash with another caller's: that has to be known before anything is done
    const choseIds = request.runId !== undefined || (request.sessionId !== undefined && stored === undefined);
    if (choseIds || request.background || request.idempotency !== undefined) await this.queue.flush(live);
    if (request.runId !== undefined && (await this.isCancelled(run)))
      live.stop(new RunCancelled('The run was cancelled before it began'));
    return this.executor.launch(live, executable);
  }

  private async idempotencyOf({ runId }: Run, key: RunKey): Promise<RunWrite['idempotency']> {
    const now = await this.options.leases.now();
    return { ...key, runId, now, since: now - keysKeptMs };
  }

  /** Whether a run of this id was cancelled before it was stored. */
  private async isCancelled(run: Run): Promise<boolean> {
    const { journal, leases } = this.options;
    const since = (await leases.now()) - cancellationKeptMs;
    const request = await journal.cancellation(run.runId, since);
    return request !== undefined && appliesTo(request, run);
  }

  /** Stores what the component says first, before the run that comes after it: that run's history shows it. */
  private async introduce(text: string, { runId }: RunRequest, run: Run): Promise<void> {
    // a run that will be refused must not leave a session behind
    if (runId !== undefined && (await this.options.journal.progress(runId)) !== undefined)
      throw errors.runExists(runId);
    try {
      await this.queue.flush(introductionOf(run, text));
    } catch (error) {
      // another first run of this session came at the same time and has introduced it
      if (!(error instanceof RunyardError && error.code === 'run_exists')) throw error;
    }
  }
}
