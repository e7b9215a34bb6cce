import { errors, RunyardError } from '../errors.js';
import { newId } from '../ids.js';
import type { Json, JsonObject } from '../json.js';
import type { Log } from '../log.js';
import type { MediaContents } from '../media.js';
import type { Message } from '../models/message.js';
import type { ModelPrices } from '../models/prices.js';
import type { Timers } from '../timers.js';
import { JournaledContext, RunPaused } from './context.js';
import type { EventLog } from './event-log.js';
import { EventReader } from './event-reader.js';
import { type Executable, RunCancelled, type RunEnd, RunFailed, RunReleased } from './executable.js';
import { introductionOf } from './introduction.js';
import { LiveRun } from './live-run.js';
import { decodeBlock, type LoggedEvent } from './logged-event.js';
import type { PastSessions } from './past-sessions.js';
import type { RunJournal, SessionSnapshot } from './ports.js';
import type { Run, RunFailure, RunInput, RunResult, StepRecord } from './run.js';
import { WriteQueue } from './write-queue.js';

export interface EngineOptions {
  readonly journal: RunJournal;
  readonly media: MediaContents;
  readonly pastSessions: PastSessions;
  readonly timers: Timers;
  readonly log: Log;
  /** Who holds the leases: unique to this process. */
  readonly owner: string;
  readonly leaseMs: number;
  /** Finds what executes a stored run; undefined when it is not registered in this process. */
  readonly resolve: (run: Run) => Promise<Executable | undefined> | Executable | undefined;
  /** What the tokens of a model cost, over the list prices. */
  readonly prices?: ModelPrices;
  readonly isTransient: (error: unknown) => boolean;
  /** Whether a lease owner is known to be dead, so that its runs need not wait for their leases to end. */
  readonly isGone?: (owner: string) => boolean;
}

export interface StartRun {
  readonly executable: Executable;
  readonly input: RunInput;
  readonly sessionId: string;
  readonly userId: string | null;
  /** Chosen by the client; refused when it is taken. */
  readonly runId?: string;
  /** The session as stored; undefined when this run makes it. */
  readonly session: SessionSnapshot | undefined;
  readonly sessionName: string;
  /** State that this run brings along. */
  readonly state: JsonObject;
  /** Stored before it is answered: a run that nobody waits for, or whose ids the client chose. */
  readonly durableFirst: boolean;
}

export interface EndedRun {
  readonly run: Run;
  readonly steps: readonly StepRecord[];
  /** The messages of earlier runs that the model was shown. */
  readonly history: readonly Message[];
}

export interface RunHandle {
  readonly runId: string;
  readonly run: Run;
  /** Resolves when the run has ended (or paused) and that is durable. */
  readonly ended: Promise<EndedRun>;
  events(fromIndex?: number, filter?: (event: LoggedEvent) => boolean): EventReader;
  cancel(reason: string): void;
}

/** A run that took the process down this often is not tried again. */
const maxAttempts = 5;
const recoveryBatch = 32;
/** How long the last writes of runs that are handed on may take. */
const handOnMs = 5_000;
/** Events that were sent but not stored when a process died had indices below this distance. */
const recoveryIndexGap = 10_000;

/** Starts runs, holds their leases, takes over those whose process died, and stops without losing any. */
export class RunEngine {
  private readonly live = new Map<string, { live: LiveRun; ended: Promise<EndedRun> }>();
  private readonly queue: WriteQueue;
  private stopTimers: (() => void)[] = [];
  private stopping = false;
  private recovering: Promise<void> = Promise.resolve();

  constructor(private readonly options: EngineOptions) {
    this.queue = new WriteQueue(options.journal, options.timers, options.log, options.isTransient);
  }

  /** Begins to renew leases and to look for runs that nobody executes. Library use needs neither. */
  async open(): Promise<void> {
    const { journal, timers, leaseMs, isGone } = this.options;
    if (isGone !== undefined) {
      for (const owner of await journal.leaseOwners()) {
        if (isGone(owner)) await journal.releaseLeases(owner);
      }
    }
    this.stopTimers = [
      timers.every(leaseMs / 3, () => void this.renewLeases()),
      timers.every(leaseMs / 2, () => void this.recover()),
    ];
    void this.recover();
  }

  get liveCount(): number {
    return this.live.size;
  }

  async start(request: StartRun): Promise<RunHandle> {
    if (this.stopping) throw errors.stopping();
    const run = this.newRun(request);
    if (request.session === undefined && request.executable.introduction) await this.introduce(request, run);
    const live = new LiveRun(
      {
        run,
        steps: [],
        session: {
          sessionId: run.sessionId,
          kind: run.kind,
          componentId: run.componentId,
          userId: run.userId,
          name: request.sessionName,
          now: run.createdAt,
        },
        sessionState: request.session?.state ?? {},
        sentEvents: new Set(),
        eventFields: request.executable.eventFields,
      },
      (changed) => this.queue.touch(changed),
      this.options.timers.now,
    );
    for (const [key, value] of Object.entries(request.state)) live.state.set(key, value);
    if (request.durableFirst) await this.queue.flush(live);
    return this.launch(live, request.executable);
  }

  /** A run that is live in this process. */
  handle(runId: string): RunHandle | undefined {
    const entry = this.live.get(runId);
    return entry && this.handleOf(entry.live, entry.ended);
  }

  /** A cursor over the events of any run, live here or not. */
  events(runId: string, fromIndex = 0, filter?: (event: LoggedEvent) => boolean): EventReader {
    const { journal, timers } = this.options;
    const liveLog = (id: string): EventLog | undefined => this.live.get(id)?.live.log;
    return new EventReader({ journal, timers, liveLog }, runId, fromIndex, filter ?? null);
  }

  /** Answers what a paused run waits for and lets it go on, under a new attempt: an answer is used once. */
  async answer(runId: string, requirementKey: string, answer: Json): Promise<RunHandle> {
    if (this.stopping) throw errors.stopping();
    const stored = await this.options.journal.load(runId);
    if (stored === undefined) throw errors.runNotFound();
    const step = stored.steps.find(({ key }) => key === `wait:${requirementKey}`);
    if (stored.run.status !== 'paused' || step?.status !== 'running') {
      throw errors.illegalTransition(runId, stored.run.status, 'running');
    }
    const executable = await this.options.resolve(stored.run);
    if (executable === undefined) throw errors.componentNotFound(stored.run.kind);
    const live = await this.takeOver(stored.run, executable);
    if (live === undefined) throw errors.illegalTransition(runId, 'running', 'running');
    live.putStep({ ...step, status: 'completed', output: answer, endedAt: this.options.timers.now() });
    live.transition('running');
    await this.queue.flush(live);
    return this.launch(live, executable);
  }

  /** Takes over runs whose lease ended. One look at a time; `recovered` tells when the present one is done. */
  recover(): Promise<void> {
    this.recovering = this.recovering
      .then(() => this.recoverExpired())
      .catch((error: unknown) => {
        this.options.log.error({ err: error }, 'looking for abandoned runs failed');
      });
    return this.recovering;
  }

  /** Takes no new runs, gives running ones time, then hands back those that are left. */
  async stop(graceMs: number): Promise<void> {
    if (this.stopping) return;
    this.stopping = true;
    await this.recovering;
    await this.allEnded(graceMs);
    // leases are renewed until here: a grace that is longer than a lease must not lose the runs it is for
    for (const stop of this.stopTimers) stop();
    const handedOn = this.live.size > 0;
    for (const { live } of this.live.values()) live.abort.abort(new RunReleased());
    await this.allEnded(handOnMs);
    if (handedOn) await this.options.journal.releaseLeases(this.options.owner);
  }

  /** Stores what the component says first, before the run that comes after it: that run's history shows it. */
  private async introduce({ executable, runId }: StartRun, run: Run): Promise<void> {
    // a run that will be refused must not leave a session behind
    if (runId !== undefined && (await this.options.journal.progress(runId)) !== undefined)
      throw errors.runExists(runId);
    try {
      await this.queue.flush(introductionOf(run, executable.introduction!));
    } catch (error) {
      // another first run of this session came at the same time and has introduced it
      if (!(error instanceof RunyardError && error.code === 'run_exists')) throw error;
    }
  }

  private newRun(request: StartRun): Run {
    const { executable, input } = request;
    const now = this.options.timers.now();
    return {
      runId: request.runId ?? newId(),
      kind: executable.kind,
      componentId: executable.id,
      componentName: executable.name,
      sessionId: request.sessionId,
      userId: request.userId,
      parentRunId: null,
      model: executable.model?.id ?? null,
      modelProvider: executable.model?.provider ?? null,
      input,
      createdAt: now,
      status: 'pending',
      result: null,
      attempt: 1,
      leaseOwner: this.options.owner,
      leaseExpiresAt: now + this.options.leaseMs,
      nextEventIndex: 0,
      updatedAt: now,
    };
  }

  private launch(live: LiveRun, executable: Executable): RunHandle {
    const ended = this.execute(live, executable);
    ended.catch(() => {});
    this.live.set(live.runId, { live, ended });
    return this.handleOf(live, ended);
  }

  private handleOf(live: LiveRun, ended: Promise<EndedRun>): RunHandle {
    return {
      runId: live.runId,
      get run() {
        return live.run;
      },
      ended,
      events: (fromIndex = 0, filter) => this.events(live.runId, fromIndex, filter),
      cancel: (reason) => live.abort.abort(new RunCancelled(reason)),
    };
  }

  private async execute(live: LiveRun, executable: Executable): Promise<EndedRun> {
    const context = new JournaledContext(live, this.queue, this.options);
    try {
      if (live.run.status !== 'running') live.transition('running');
      // the run has to be among the live ones before its first event, so that a reader finds it
      await Promise.resolve();
      const result = await untilAborted(executable.execute(context), live.abort.signal);
      return await this.finish(live, executable, { status: 'completed', result }, context.shown.history);
    } catch (error) {
      if (live.isClosed || error instanceof RunReleased) throw await this.abandon(live, error);
      return await this.finish(live, executable, this.endOf(live, context, error), context.shown.history);
    } finally {
      this.live.delete(live.runId);
      live.log.end();
    }
  }

  /** Makes the end durable, and only then visible. */
  private async finish(
    live: LiveRun,
    executable: Executable,
    end: RunEnd,
    history: readonly Message[] = [],
  ): Promise<EndedRun> {
    live.log.hold();
    for (const [position, event] of executable.endEvents(end).entries()) {
      live.emit(event, `end:${live.run.attempt}:${position}`);
    }
    live.transition(end.status, end.result);
    live.setLease(null, null);
    live.close();
    await this.queue.flush(live);
    live.log.release();
    return { run: live.run, steps: live.allSteps(), history };
  }

  private async abandon(live: LiveRun, error: unknown): Promise<unknown> {
    live.close();
    if (error instanceof RunReleased) {
      live.release();
      await this.queue.flush(live).catch(() => {});
    } else {
      this.options.log.warn({ err: error, runId: live.runId }, 'the run is no longer executed here');
    }
    return error;
  }

  private endOf(live: LiveRun, context: JournaledContext, error: unknown): RunEnd {
    const result: RunResult = { ...context.draft, contentType: 'str', sessionState: live.state.all() };
    if (error instanceof RunCancelled) return { status: 'cancelled', reason: error.reason, result };
    if (error instanceof RunPaused) return { status: 'paused', requirements: error.requirements, result };
    const failure = failureOf(error);
    this.options.log.warn({ err: error, runId: live.runId }, 'a run failed');
    return { status: 'error', failure, result: { ...result, content: failure.message, error: failure } };
  }

  private async renewLeases(): Promise<void> {
    if (this.live.size === 0) return;
    const expiresAt = this.options.timers.now() + this.options.leaseMs;
    for (const { live } of this.live.values()) live.setLease(this.options.owner, expiresAt);
    try {
      await this.options.journal.renewLeases(this.options.owner, expiresAt);
    } catch (error) {
      this.options.log.warn({ err: error }, 'leases could not be renewed');
    }
  }

  private async recoverExpired(): Promise<void> {
    if (this.stopping) return;
    const { journal, timers, resolve, log } = this.options;
    for (const run of await journal.expired(timers.now(), recoveryBatch)) {
      if (this.stopping || this.live.has(run.runId)) continue;
      const executable = await resolve(run);
      if (executable === undefined) continue;
      const live = await this.takeOver(run, executable);
      if (live === undefined) continue;
      log.info({ runId: run.runId, attempt: live.run.attempt }, 'an abandoned run goes on here');
      if (live.run.attempt > maxAttempts) await this.giveUp(live, executable);
      else this.launch(live, executable);
    }
  }

  private async giveUp(live: LiveRun, executable: Executable): Promise<void> {
    const message = `The run was interrupted ${maxAttempts} times and is not tried again.`;
    const failure: RunFailure = { type: 'interrupted_too_often', message };
    const result: RunResult = { content: message, contentType: 'str', error: failure };
    await this.finish(live, executable, { status: 'error', failure, result });
  }

  private async takeOver(run: Run, executable: Executable): Promise<LiveRun | undefined> {
    const { journal, timers, owner, leaseMs } = this.options;
    const now = timers.now();
    const claim = { runId: run.runId, attempt: run.attempt, owner, now, expiresAt: now + leaseMs };
    const claimed = await journal.claim(claim);
    const stored = claimed && (await journal.load(run.runId));
    if (stored === undefined) return undefined;
    const [session, sentEvents] = await Promise.all([
      journal.session(run.sessionId),
      this.sentEvents(run.runId),
    ]);
    const interrupted = stored.run.status === 'running';
    const nextEventIndex = stored.run.nextEventIndex + (interrupted ? recoveryIndexGap : 0);
    return new LiveRun(
      {
        run: { ...stored.run, nextEventIndex },
        steps: stored.steps,
        session: null,
        sessionState: session?.state ?? {},
        sentEvents,
        eventFields: executable.eventFields,
      },
      (changed) => this.queue.touch(changed),
      timers.now,
    );
  }

  private async sentEvents(runId: string): Promise<ReadonlySet<string>> {
    const keys = new Set<string>();
    let from = 0;
    for (;;) {
      const blocks = await this.options.journal.eventBlocks(runId, from, 50);
      if (blocks.length === 0) return keys;
      for (const block of blocks) {
        for (const { key } of decodeBlock(block.firstIndex, block.payload)) if (key !== null) keys.add(key);
        from = block.firstIndex + block.count;
      }
    }
  }

  private async allEnded(withinMs: number): Promise<void> {
    if (this.live.size === 0) return;
    const ended = Promise.allSettled([...this.live.values()].map((entry) => entry.ended));
    let cancel = () => {};
    const timeUp = new Promise<void>((resolve) => {
      cancel = this.options.timers.after(withinMs, resolve);
    });
    await Promise.race([ended, timeUp]);
    cancel();
  }
}

/** Follows the work until the signal aborts; what the work does after that is nobody's concern. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

function failureOf(error: unknown): RunFailure {
  if (error instanceof RunFailed) return error.failure;
  if (error instanceof RunyardError) return { type: error.code, message: error.message };
  if (error instanceof Error) return { type: error.name, message: error.message };
  return { type: 'Error', message: String(error) };
}
