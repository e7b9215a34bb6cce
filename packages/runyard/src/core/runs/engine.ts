import { errors, RunyardError } from '../errors.js';
import { newId } from '../ids.js';
import type { Json, JsonObject } from '../json.js';
import type { RunSurroundings } from './context.js';
import type { EventReader } from './event-reader.js';
import type { Executable } from './executable.js';
import { RunExecutor, type RunHandle } from './executor.js';
import { introductionOf } from './introduction.js';
import { LiveRun } from './live-run.js';
import type { LoggedEvent } from './logged-event.js';
import type { SessionSnapshot } from './ports.js';
import { Recovery } from './recovery.js';
import type { Run, RunInput } from './run.js';
import { WriteQueue } from './write-queue.js';

export interface EngineOptions extends RunSurroundings {
  /** Who holds the leases: unique to this process. */
  readonly owner: string;
  readonly leaseMs: number;
  /** Finds what executes a stored run; undefined when it is not registered in this process. */
  readonly resolve: (run: Run) => Promise<Executable | undefined> | Executable | undefined;
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

/** How long the last writes of runs that are handed on may take. */
const handOnMs = 5_000;

/** Starts runs, holds their leases, takes over those whose process died, and stops without losing any. */
export class RunEngine {
  private readonly queue: WriteQueue;
  private readonly executor: RunExecutor;
  private readonly recovery: Recovery;
  /** Runs that are about to be launched: a stop waits for them. */
  private readonly starting = new Set<Promise<unknown>>();
  private stopTimers: (() => void)[] = [];
  private stopped: Promise<void> | null = null;

  constructor(private readonly options: EngineOptions) {
    this.queue = new WriteQueue(options.journal, options.timers, options.log, options.isTransient);
    this.executor = new RunExecutor(this.queue, options);
    this.recovery = new Recovery(this.executor, this.queue, options);
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
      timers.every(leaseMs / 3, () => void this.executor.renewLeases()),
      timers.every(leaseMs / 2, () => void this.recovery.look()),
    ];
    void this.recovery.look();
  }

  get liveCount(): number {
    return this.executor.size;
  }

  start(request: StartRun): Promise<RunHandle> {
    return this.unlessStopping(() => this.startNow(request));
  }

  /** A run that is live in this process. */
  handle(runId: string): RunHandle | undefined {
    return this.executor.handle(runId);
  }

  /** A cursor over the events of any run, live here or not. */
  events(runId: string, fromIndex = 0, filter?: (event: LoggedEvent) => boolean): EventReader {
    return this.executor.events(runId, fromIndex, filter);
  }

  /** Answers what a paused run waits for and lets it go on, under a new attempt: an answer is used once. */
  answer(runId: string, requirementKey: string, answer: Json): Promise<RunHandle> {
    return this.unlessStopping(() => this.answerNow(runId, requirementKey, answer));
  }

  /** Takes over runs whose lease ended. */
  recover(): Promise<void> {
    return this.recovery.look();
  }

  /** Takes no new runs, gives running ones time, then hands on those that are left. */
  stop(graceMs: number): Promise<void> {
    this.stopped ??= this.stopNow(graceMs);
    return this.stopped;
  }

  private async stopNow(graceMs: number): Promise<void> {
    await Promise.allSettled([this.recovery.end(), ...this.starting]);
    await this.executor.allEnded(graceMs);
    // leases are renewed until here: a grace that is longer than a lease must not lose the runs it is for
    for (const stop of this.stopTimers) stop();
    const handsOn = this.executor.size > 0 || this.executor.hasLost;
    this.executor.releaseAll();
    await this.executor.allEnded(handOnMs);
    if (handsOn) await this.options.journal.releaseLeases(this.options.owner);
  }

  private async unlessStopping(begin: () => Promise<RunHandle>): Promise<RunHandle> {
    if (this.stopped !== null) throw errors.stopping();
    const beginning = begin();
    this.starting.add(beginning);
    try {
      return await beginning;
    } finally {
      this.starting.delete(beginning);
    }
  }

  private async startNow(request: StartRun): Promise<RunHandle> {
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
    return this.executor.launch(live, request.executable);
  }

  private async answerNow(runId: string, requirementKey: string, answer: Json): Promise<RunHandle> {
    const stored = await this.options.journal.load(runId);
    if (stored === undefined) throw errors.runNotFound();
    const step = stored.steps.find(({ key }) => key === `wait:${requirementKey}`);
    if (stored.run.status !== 'paused' || step?.status !== 'running') {
      throw errors.illegalTransition(runId, stored.run.status, 'running');
    }
    const executable = await this.options.resolve(stored.run);
    if (executable === undefined) throw errors.componentNotFound(stored.run.kind);
    const live = await this.recovery.takeOver(stored.run, executable);
    if (live === undefined) throw errors.illegalTransition(runId, 'running', 'running');
    const { attempt } = live.run;
    live.putStep({
      ...step,
      status: 'completed',
      attempt,
      output: answer,
      endedAt: this.options.timers.now(),
    });
    live.transition('running');
    await this.queue.flush(live);
    return this.executor.launch(live, executable);
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
}
