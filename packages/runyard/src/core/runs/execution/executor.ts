import { untilAborted } from '../../async/abort.js';
import { deliver } from '../../async/receiver.js';
import { TransientMap } from '../../collections/transient-map.js';
import { errors, isFenced, isReported, isUnstorable, type RunyardError } from '../../errors/errors.js';
import { thrownError } from '../../errors/thrown-error.js';
import { noPrices } from '../../models/prices.js';
import type { RunContext } from '../context.js';
import type { EngineOptions } from '../engine-options.js';
import type { EventLog } from '../events/event-log.js';
import { EventReader } from '../events/event-reader.js';
import type { EventSources } from '../events/event-sources.js';
import type { Following } from '../events/following.js';
import type { LoggedEvent } from '../events/logged-event.js';
import { type Executable, type RunEnd, RunReleased } from '../executable.js';
import { Forgetting } from '../forgetting/forgetting.js';
import { ForgettingRuns } from '../forgetting/forgetting-runs.js';
import { definitionOf, fingerprintIn } from '../journal/journal-format.js';
import { weigh } from '../journal/long-texts.js';
import type { WriteQueue } from '../journal/write-queue.js';
import { LeaseKeeper } from '../leases/lease-keeper.js';
import { entrantOf, HeldSlot, slotsOfRun } from '../leases/run-slots.js';
import { Deadlines } from '../limits/deadlines.js';
import { executedBefore } from '../limits/executed-time.js';
import { type LimitingService, RunGuard } from '../limits/run-guard.js';
import type { RunHints } from '../notifications/run-hints.js';
import { assertFits } from '../resume/replay.js';
import type { EndedRun, RunResult } from '../run.js';
import { endAfter, failedEnd, isOpenQuestion, isUnfit, restingResult, wakeAtOf } from '../run-ends.js';
import { failureOf } from '../run-failure.js';
import { optionsOf } from '../run-options.js';
import { usageOf } from '../run-usage.js';
import { cancelChildren, isRunInside } from './child-run.js';
import { JournaledContext, type RunSurroundings } from './journaled-context.js';
import type { LiveRun } from './live-run.js';
import { Executed, LiveHandle, type RunHandle } from './run-handle.js';

/** The same for all runs, so that what is derived from it is derived once. */
const unlimited = {};

/** Executes the runs that this process holds, from their start to their durable end. */
export class RunExecutor {
  private readonly live = new TransientMap<string, Executed>();
  private lost = false;
  /** The leases of what is executed here. */
  readonly leases: LeaseKeeper;
  private readonly surroundings: RunSurroundings;
  private readonly limiting: LimitingService;
  /** Where its readers read. */
  private readonly sources: EventSources;
  private readonly slotLeft = () => this.onEnded();
  /** Called when an execution is over. */
  onEnded: () => void = () => {};

  constructor(
    private readonly queue: WriteQueue,
    private readonly options: EngineOptions,
    readonly hints: RunHints,
    following: Following,
  ) {
    this.leases = new LeaseKeeper(() => this.executed(), options);
    this.surroundings = { ...options, leaseConfirmed: (live) => this.leases.confirmed(live) };
    const { journal, timers, log, relay, rebuiltEvents: rebuilt, limits: ceiling = unlimited } = options;
    this.limiting = { ceiling, timers, log, deadlines: new Deadlines(timers) };
    this.sources = {
      journal,
      timers,
      relay,
      rebuilt,
      liveLog: (id) => this.get(id)?.log,
      follow: (id, wake) => following.follow(id, wake),
    };
  }

  get size(): number {
    return this.live.size;
  }

  /** Whether a run left this process without its lease being given up: storing it failed. */
  get hasLost(): boolean {
    return this.lost;
  }

  executed(): LiveRun[] {
    return this.live.values().map(({ live }) => live);
  }

  get(runId: string): LiveRun | undefined {
    return this.live.get(runId)?.live;
  }

  /** A run that is live in this process. */
  handle(runId: string): RunHandle | undefined {
    const entry = this.live.get(runId);
    return entry && this.handleOf(entry);
  }

  /** The runs of a session that are live in this process. */
  inSession(sessionId: string): RunHandle[] {
    const handles: RunHandle[] = [];
    for (const entry of this.live.values()) {
      if (entry.live.run.sessionId === sessionId) handles.push(this.handleOf(entry));
    }
    return handles;
  }

  /** The index that the next event of a live run gets, once all before it are stored; undefined for any other. */
  async storedUntil(runId: string): Promise<number | undefined> {
    const live = this.get(runId);
    if (live === undefined) return undefined;
    const index = live.log.visibleUntil;
    await this.stored(live);
    return index;
  }

  /** For a caller who waits. Whether a new run is stored is decided soon; one in progress is stored sooner or later. */
  stored(live: LiveRun): Promise<void> {
    const flushed = this.queue.flush(live);
    return live.isAccepted ? this.queue.withinPatience(flushed) : flushed;
  }

  /** A cursor over the events of any run, live here or not. `ended`: the log of a run that was live here until now. */
  events(
    runId: string,
    fromIndex: number,
    filter?: (event: LoggedEvent) => boolean,
    ended?: EventLog,
  ): EventReader {
    return new EventReader(this.sources, runId, fromIndex, filter ?? null, ended);
  }

  /** Launches a run that continues, once that is stored. One that has to wait for a slot is offered to all processes. */
  async continue(
    live: LiveRun,
    executable: Executable,
    stored: (live: LiveRun) => Promise<unknown> | undefined,
  ): Promise<RunHandle> {
    const place = slotsOfRun(this.options, live.run).keepPlace();
    try {
      if (place.waits && this.options.alone !== true) live.offer();
      await stored(live);
      return this.launch(live, executable);
    } finally {
      place.left();
    }
  }

  launch(live: LiveRun, executable: Executable): RunHandle {
    const taken = this.live.get(live.runId);
    // its lease had ended before it was stored, and it was found here as an abandoned one
    if (taken !== undefined && taken.live.run.attempt > live.run.attempt) {
      live.close();
      executable.done?.();
      return this.handleOf(taken);
    }
    // no look at the leases asks for it once another one is in its place
    if (taken !== undefined && !taken.live.isClosed) taken.live.lose(errors.fenced(live.runId));
    const { fixed } = optionsOf(live);
    if (fixed !== undefined) live.state.fix(fixed);
    const guard = this.guardOf(live, executable);
    const context = new JournaledContext(live, this.queue, this.surroundings, guard);
    const entry = new Executed(this, live, executable, context, guard);
    this.live.set(live.runId, entry);
    void this.execute(entry);
    return this.handleOf(entry);
  }

  /** Makes the end durable, and only then visible. */
  async finish(
    live: LiveRun,
    executable: Executable,
    end: RunEnd,
    context: RunContext = new JournaledContext(live, this.queue, this.surroundings),
    entry?: Executed,
  ): Promise<EndedRun> {
    live.log.hold();
    // one that no longer fits its code can be continued once it does: its questions are kept, and all that it has done
    const isOver = end.status !== 'paused' && !isUnfit(end);
    const left = isOver ? this.forgettingOf(live) : undefined;
    const forgetting = left && (await left);
    if (end.status === 'cancelled') cancelChildren(context, executable, end.reason);
    // a step that waited beside the failed one is no longer waited for
    if (end.status === 'error') cancelChildren(context, executable, 'The run around it failed.');
    let position = 0;
    for (const event of executable.endEvents(end, context)) {
      live.emit(event, `end:${live.run.attempt}:${position++}`);
    }
    live.transition(end.status, restingResult(end, context));
    if (isOver && end.status !== 'completed') executable.leave?.(context, end);
    const steps = live.allSteps();
    if (isOver && steps.some(isOpenQuestion)) {
      live.putApproval({ kind: 'cancel_pending', at: this.options.timers.now() });
    }
    if (end.status === 'paused') live.set({ wakeAt: wakeAtOf(steps) });
    live.putUsage(usageOf(live.run, steps, this.options.prices));
    const { run } = live;
    if (forgetting !== undefined) live.forget(forgetting);
    live.giveUpLease();
    live.close();
    const stored = this.queue.flush(live);
    this.queue
      .withinPatience(stored, () => errors.endNotStored(live.runId))
      .catch((error: Error) => entry?.delayed(error));
    await stored;
    live.log.release();
    const { history } = context.shown;
    this.options.onRest?.({ run: live.run, steps: live.allSteps(), history });
    this.options.observer?.runRested(live.run, end.status);
    // the caller who waits for the run gets what it has done, whether or not that is kept
    return forgetting === undefined
      ? { run: live.run, steps, history }
      : { run: { ...live.run, result: run.result, input: run.input }, steps, history };
  }

  /** What a run that ends does not keep, with what is stored of it; undefined when it keeps everything. */
  private forgettingOf(live: LiveRun): Promise<Forgetting> | undefined {
    const { forgetRules: rules, journal } = this.options;
    const steps = live.allSteps();
    // most runs keep everything, and have no other within them
    if (rules === undefined || !(live.run.input.options.forgets || steps.some(isRunInside))) return undefined;
    const runs = new ForgettingRuns(live.run, steps);
    if (!runs.areSome) return undefined;
    // what is on its way is stored first: the last write changes it
    const stored = live.isDrained ? this.queue.flush(live) : Promise.resolve();
    return stored.then(() => Forgetting.of(live.runId, runs, rules, journal));
  }

  /** Leaves the runs that have not begun to other processes. */
  releaseWaiting(): void {
    for (const { live } of this.live.values()) if (live.isWaiting) live.stop(new RunReleased());
  }

  /** Ends the executions without ending the runs: another process continues them. */
  releaseAll(): void {
    for (const { live } of this.live.values()) live.stop(new RunReleased());
  }

  async allEnded(withinMs: number): Promise<void> {
    if (this.live.size === 0) return;
    const ended = Promise.allSettled(this.live.values().map((entry) => entry.ended));
    let cancel = () => {};
    const timeUp = new Promise<void>((resolve) => {
      cancel = this.options.timers.after(withinMs, resolve);
    });
    await Promise.race([ended, timeUp]);
    cancel();
  }

  private handleOf(entry: Executed): RunHandle {
    return new LiveHandle(this, entry);
  }

  /** Begins the work of the run: waits for its slot and its claim, and not for the work. */
  private async execute(entry: Executed): Promise<void> {
    const { live, executable, context, guard } = entry;
    const slots = slotsOfRun(this.options, live.run);
    try {
      const turn = slots.enter(entrantOf(live.run), live.abort, live.isWaiting);
      if (turn !== undefined) {
        // it may take a while: a caller who asks for the run in that time must find it
        this.queue.touch(live);
        await turn;
      }
      live.slot = new HeldSlot(slots, live, this.slotLeft);
      if (live.isWaiting) await this.beginWaiting(live);
      entry.hasBegun = true;
      if (live.run.status !== 'running') live.transition('running');
      this.options.observer?.runBegan(live.run, live.entry);
      // the code that started the run continues before the first event
      await Promise.resolve();
      // a run that begins here has recorded nothing that could be in the way
      if (live.entry !== 'started') await this.take(live, executable);
    } catch (error) {
      entry.failed(error);
      return;
    }
    guard.begin<RunResult>((outcome) => {
      if (executable.executeFor === undefined) deliver(executable.execute(context), outcome);
      else executable.executeFor(context, outcome);
    }, entry);
  }

  /** The work of the run has ended. */
  async completed(entry: Executed, result: RunResult): Promise<EndedRun> {
    const { live, executable, context, guard } = entry;
    let ended: EndedRun;
    try {
      guard.hold(weigh(live.state.all()));
      ended = await this.finish(live, executable, { status: 'completed', result }, context, entry);
    } catch (error) {
      return this.brokenOff(entry, error);
    }
    this.left(entry);
    return ended;
  }

  async brokenOff(entry: Executed, thrown: unknown): Promise<EndedRun> {
    const { live, executable, context } = entry;
    try {
      const error = thrownError(thrown);
      // what a run in progress could not read from an unavailable database is read when it is resumed
      const isUnread = !live.isClosed && live.isAccepted && isReported(error);
      if (isUnread) entry.delayed(errors.runInterrupted(live.runId, error));
      if (live.isClosed && !entry.hasBegun && isFenced(error)) throw this.letGo(live, error);
      if (live.isClosed && isUnstorable(error)) return await this.endUnstorable(live, executable, error);
      if (live.isClosed || isUnread || error instanceof RunReleased) throw await this.abandon(live, error);
      const end = endAfter(error, executable, context);
      return await this.finish(live, executable, end, context, entry).catch(async (failed: unknown) => {
        if (isUnstorable(failed)) return this.endUnstorable(live, executable, failed);
        throw await this.abandon(live, failed);
      });
    } finally {
      this.left(entry);
    }
  }

  /** The run is no longer executed here. */
  private left({ live, executable }: Executed): void {
    if (this.live.get(live.runId)?.live === live) this.live.delete(live.runId);
    live.log.end();
    live.slot?.leave();
    executable.done?.();
    this.onEnded();
  }

  private guardOf(live: LiveRun, owner: Executable): RunGuard {
    const meter = live.meter(this.options.prices ?? noPrices);
    const executedMs = executedBefore(live.allSteps(), live.run.attempt);
    const { ownName } = live;
    const run = { service: this.limiting, owner, meter, prefix: '', executedMs, ownName };
    return new RunGuard(run, live.abort, null);
  }

  /** Continues a run with the code at hand, unless that is no longer the code of the run. */
  private async take(live: LiveRun, executable: Executable): Promise<void> {
    const fits = assertFits(executable, live.run, live.allSteps(), this.options.timers);
    await untilAborted(fits, live.abort);
    // what a factory builds is compared when it is built: the definition stays that of the last execution
    live.set({ definition: definitionOf(executable.fingerprint ?? fingerprintIn(live.run)) });
  }

  /** A run that waited where others see it is begun by the process that claims it first. */
  private beginWaiting(live: LiveRun): Promise<void> | undefined {
    return live.begin(this.options.owner) ? this.queue.flush(live) : undefined;
  }

  /** A run that waited here begins in another process: that is what the others are for. */
  private letGo(live: LiveRun, error: Error): Error {
    this.lost = true;
    this.options.log.debug({ runId: live.runId }, 'a waiting run begins in another process');
    live.log.moveAway();
    return error;
  }

  /** The run is no longer executed here, and has not ended. */
  private async abandon(live: LiveRun, error: unknown): Promise<unknown> {
    if (isFenced(error)) this.options.observer?.leaseEnded('lost');
    else if (error instanceof RunReleased) this.options.observer?.leaseEnded('handed_on');
    if (live.isClosed) {
      this.lost = true;
      if (!isReported(error))
        this.options.log.warn({ err: error, runId: live.runId }, 'the run is no longer executed here');
    } else {
      live.close();
      live.stop(thrownError(error));
      live.release();
      const released = error instanceof RunReleased;
      await this.queue.flush(live).then(
        () => released && this.hints.publish('queued', live.runId),
        () => {
          this.lost = true;
        },
      );
    }
    if (!(error instanceof RunReleased)) live.log.moveAway();
    return error;
  }

  /** Executed again, the run would come to the same: it ends, with what is stored of it. */
  private async endUnstorable(live: LiveRun, executable: Executable, error: RunyardError): Promise<EndedRun> {
    try {
      const stored = await this.options.journal.load(live.runId);
      const isOurs =
        stored === undefined
          ? !live.isAccepted
          : stored.run.attempt === live.run.attempt && stored.run.leaseOwner === this.options.owner;
      if (!isOurs) throw error;
      const rest = live.withoutUnstored(stored);
      if (rest.run.status !== 'running') rest.transition('running');
      const ended = await this.finish(rest, executable, failedEnd(failureOf(error)));
      // its last event is in the store
      live.log.moveAway();
      return ended;
    } catch (failed) {
      throw await this.abandon(live, failed);
    }
  }
}
