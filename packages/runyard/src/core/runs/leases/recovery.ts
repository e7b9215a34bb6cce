import { isReported } from '../../errors/errors.js';
import type { EngineOptions } from '../engine-options.js';
import { indexGap } from '../events/event-log.js';
import { decodeBlock } from '../events/logged-event.js';
import { type SentEvents, sentWith } from '../events/sent-events.js';
import type { Executable } from '../executable.js';
import type { RunExecutor } from '../execution/executor.js';
import { LiveRun } from '../execution/live-run.js';
import { notBegun } from '../execution/live-run-start.js';
import type { RunHandle } from '../execution/run-handle.js';
import { Setbacks } from '../execution/setbacks.js';
import { readIf } from '../journal/codec.js';
import { isOfNewerFormat } from '../journal/journal-format.js';
import { continueInput } from '../journal/records.js';
import type { WriteQueue } from '../journal/write-queue.js';
import { lastContinue } from '../resume/continuation.js';
import { endingExecutable } from '../resume/ending-executable.js';
import { askedBy, type ContinuedBy } from '../resume/resting-runs.js';
import type { Run, RunEntry, RunFailure, RunResult, StepRecord } from '../run.js';
import { cancelledEnd, failedEnd } from '../run-ends.js';
import { appliesTo } from './cancellations.js';
import { OthersRuns } from './others-runs.js';
import {
  areFull,
  awaitsOffered,
  freeSlots,
  handOver,
  type RunSlots,
  slotsOf,
  slotsOfRun,
} from './run-slots.js';

/** A run that was executed this often without finishing a step is not tried again: it may be what kills us. */
const fruitlessAttempts = 5;
const batchSize = 32;

/** Where runs are found that this process may take over, in the order in which it looks there. */
const allLists = ['expired', 'waiting'] as const;
type Lists = readonly (typeof allLists)[number][];

/** Takes over runs whose process died, and those that wait for a free slot, from their last finished step. */
export class Recovery {
  private looking: Promise<void> = Promise.resolve();
  private ended = false;
  private isLooking = false;
  /** Whether a look that has not begun follows a hint. */
  private isHinted = false;
  /** The lists that the last look did not reach the end of, because no slot was free. */
  private unfinished: Lists = [];
  /** The slots that it found taken: when one of them is free, a further look may find more. */
  private readonly taken = new Set<RunSlots>();
  /** When a look last came a step further. */
  movedAt = 0;
  private readonly setbacks = new Setbacks();
  private readonly others: OthersRuns;

  constructor(
    private readonly executor: RunExecutor,
    private readonly queue: WriteQueue,
    private readonly options: EngineOptions,
  ) {
    this.others = new OthersRuns(options);
  }

  /** Looks for runs to take over. One look at a time; the promise resolves when this one is done. */
  look(lists: Lists = allLists): Promise<void> {
    this.isLooking = true;
    const looking = this.looking
      .then(() => this.lookOnce(lists))
      .catch((error: unknown) => {
        if (!isReported(error)) this.options.log.error({ err: error }, 'looking for abandoned runs failed');
      })
      .finally(() => {
        if (this.looking === looking) this.isLooking = false;
      });
    this.looking = looking;
    return this.looking;
  }

  /** Looks now if there is room, unless a look is in progress. */
  poll(): void {
    if (this.isLooking || this.ended || areFull(this.options)) return;
    void this.look();
  }

  /** Looks for waiting runs once there is room. One in progress may have read the queue too early: one more follows. */
  lookForWaiting(): void {
    if (this.isHinted || this.ended) return;
    if (areFull(this.options)) {
      if (!this.unfinished.includes('waiting')) this.unfinished = [...this.unfinished, 'waiting'];
      return;
    }
    this.isHinted = true;
    void this.look(['waiting']);
  }

  /** A run was queued. Of the processes that have room, one looks for it, unless they cannot agree on one. */
  async wake(runId: string): Promise<void> {
    const { wakeUps } = this.options;
    const isFull = areFull(this.options);
    if (isFull || this.ended || wakeUps === undefined || (await wakeUps.isChosen(runId)))
      this.lookForWaiting();
  }

  /** Takes over nothing from now on. */
  async end(): Promise<void> {
    this.ended = true;
    await this.looking;
  }

  /**
   * A slot is free. What waits here and is offered to all processes has its turn in the order of the database: a run
   * that waits elsewhere may come first.
   */
  lookOn(): void {
    if (awaitsOffered(this.options)) {
      // an engine that was not opened does not look, and a run in memory alone is in no database
      if (this.movedAt > 0 && !this.ended && this.options.alone !== true) this.lookForWaiting();
      else handOver(this.options);
    }
    const { unfinished } = this;
    if (unfinished.length === 0 || !this.hasRoomNow()) return;
    this.unfinished = [];
    void this.look(unfinished);
  }

  /** Continues a run whose lease ended; undefined when another process has it, or nothing here executes it. */
  async resume(run: Run, by: ContinuedBy): Promise<RunHandle | undefined> {
    const executable = by.executable ?? (await this.options.resolve(run));
    if (executable === undefined || (await this.others.leaves(run, executable))) return undefined;
    const live = await this.takeOver(run, executable, by.askers);
    if (live === undefined) return undefined;
    return this.executor.continue(live, executable, () =>
      live.isWaiting ? this.queue.flush(live) : undefined,
    );
  }

  /** Ends a run whose lease ended. */
  cancel(run: Run, reason: string): Promise<boolean> {
    return this.endNow(run, (live, executable) =>
      this.executor.finish(live, executable, cancelledEnd(reason, emptyResult)),
    );
  }

  /** Ends a run whose lease ended as failed. */
  fail(run: Run, failure: RunFailure): Promise<boolean> {
    return this.endNow(run, (live, executable) => this.finishFailed(live, executable, failure));
  }

  private async endNow(
    run: Run,
    finish: (live: LiveRun, executable: Executable) => Promise<unknown>,
  ): Promise<boolean> {
    const executable = await endingExecutable(run, this.options);
    const live = await this.takeOver(run, executable);
    if (live === undefined) return false;
    await finish(live, executable);
    return true;
  }

  /** Makes a stored run live here under a new attempt; undefined when another process has it, or has to. */
  private async takeOver(
    run: Run,
    executable: Executable,
    askers: readonly string[] = [],
  ): Promise<LiveRun | undefined> {
    const { journal, leases, timers, owner, leaseMs } = this.options;
    if (isOfNewerFormat(run)) return undefined;
    const { runId, attempt } = run;
    const neverBegan = attempt === notBegun;
    // no reader has seen an event of one that never began
    const claim = { runId, attempt, owner, leaseMs, indexGap: neverBegan ? 0 : indexGap };
    const claimed = await leases.claim(claim);
    if (claimed !== undefined) this.executor.hints.publish('claimed', runId);
    const stored = claimed && (await journal.load(run.runId));
    // a slow process may have lost it again: it must not write in the other one's name
    if (stored === undefined || stored.run.attempt !== claimed?.attempt) return undefined;
    const [session, sentEvents] = await Promise.all([
      journal.session(run.sessionId),
      this.sentEvents(stored.run, stored.steps, neverBegan),
    ]);
    return new LiveRun(
      {
        run: askedBy(stored.run, askers),
        steps: stored.steps,
        leaseMs,
        entry: entryOf(stored, neverBegan || isUnbegun(run, stored.steps)),
        session: null,
        isNamed: (session?.name ?? null) !== null,
        sessionState: session?.state ?? {},
        sentEvents,
        eventFields: executable.eventFields,
      },
      (changed) => this.queue.touch(changed),
      timers,
    );
  }

  /** Whether what the last look left could begin now. */
  private hasRoomNow(): boolean {
    if (areFull(this.options)) return false;
    // a hint that came while all were taken has found none of them taken
    if (this.taken.size === 0) return true;
    for (const slots of this.taken) if (!slots.full) return true;
    return false;
  }

  /** The components to look for: those whose slots are all taken wait. */
  private async wanted(): Promise<readonly string[] | undefined> {
    const all = await this.options.orphans?.components();
    if (this.options.ownSlots === undefined) return all;
    return all?.filter((component) => this.isFree(slotsOf(this.options, component)));
  }

  private isFree(slots: RunSlots): boolean {
    if (slots.full) this.taken.add(slots);
    return !slots.full;
  }

  private async lookOnce(lists: Lists): Promise<void> {
    this.unfinished = [];
    this.taken.clear();
    this.isHinted = false;
    try {
      for (const [at, list] of lists.entries()) {
        if (await this.takeFrom(list)) continue;
        // what cannot be executed now is left to others, or until a slot is free, which may be so already
        const isOver = areFull(this.options);
        const left = isOver ? lists.slice(at) : [list];
        this.unfinished = [...new Set([...this.unfinished, ...left])];
        if (isOver) break;
      }
    } finally {
      // what is not stored yet, or could not be looked up, has no reason to wait for another process
      if (lists.includes('waiting')) handOver(this.options);
    }
    this.lookOn();
  }

  /** Whether it reached the end of the list: no slot may be left. */
  private async takeFrom(list: Lists[number]): Promise<boolean> {
    const { leases, queue, timers, log } = this.options;
    const wanted = await this.wanted();
    // what cannot be taken over here stays in the list: look past it
    for (let passed = 0; !this.ended; ) {
      const now = timers.now();
      this.movedAt = now;
      if (areFull(this.options)) return false;
      const limit = Math.min(batchSize, freeSlots(this.options));
      const page = [limit, passed, wanted] as const;
      const runs = await (list === 'expired' ? leases.expired(...page) : queue.waiting(...page));
      this.movedAt = timers.now();
      for (const run of runs) {
        if (areFull(this.options)) return false;
        if (!this.isFree(slotsOfRun(this.options, run))) {
          passed += 1;
          continue;
        }
        try {
          if (this.setbacks.holdsBack(run.runId, now) || !(await this.recover(run))) passed += 1;
          else this.setbacks.succeeded(run.runId);
        } catch (error) {
          // the database went away: the next look finds all of them
          if (isReported(error)) throw error;
          this.setbacks.failed(run.runId, now);
          log.error({ err: error, runId: run.runId }, 'an abandoned run could not be taken over');
          passed += 1;
        }
        this.movedAt = timers.now();
      }
      if (runs.length < limit) break;
    }
    return this.taken.size === 0;
  }

  private async recover(run: Run): Promise<boolean> {
    if (this.ended) return false;
    const here = this.executor.get(run.runId);
    if (here !== undefined) return here.isOffered && slotsOfRun(this.options, run).admit(run.runId);
    const executable = await this.options.resolve(run);
    if (executable === undefined || (await this.others.leaves(run, executable))) return false;
    const live = await this.takeOver(run, executable);
    if (live === undefined) return false;
    const facts = { runId: run.runId, attempt: live.run.attempt };
    if (run.attempt === notBegun) this.options.log.debug(facts, 'a waiting run begins here');
    else this.options.log.info(facts, 'an abandoned run continues here');
    const request = await this.options.journal.cancellation(run.runId, 0);
    if (request !== undefined && appliesTo(request, run))
      await this.executor.finish(live, executable, cancelledEnd(request.reason, emptyResult));
    else if (isFruitless(live.run, live.allSteps())) await this.giveUp(live, executable);
    else this.executor.launch(live, executable);
    return true;
  }

  private async giveUp(live: LiveRun, executable: Executable): Promise<void> {
    const message = `The run was interrupted ${fruitlessAttempts} times without getting on and is not tried again.`;
    await this.finishFailed(live, executable, { type: 'interrupted_too_often', message });
  }

  private async finishFailed(live: LiveRun, executable: Executable, failure: RunFailure): Promise<void> {
    if (live.run.status !== 'running') live.transition('running');
    await this.executor.finish(live, executable, failedEnd(failure));
  }

  /** One that never began has sent none. */
  private async sentEvents(
    { runId }: Run,
    steps: readonly StepRecord[],
    neverBegan: boolean,
  ): Promise<SentEvents> {
    const last = lastContinue(steps);
    const first = firstEventOf(last) ?? 0;
    const sentBefore = sentWith(
      last === undefined ? [] : steps.filter(({ attempt }) => attempt < last.attempt),
    );
    if (neverBegan) return sentBefore;
    const keys = new Set<string>();
    for (let from = first; ; ) {
      const blocks = await this.options.journal.eventBlocks(runId, from, 50);
      if (blocks.length === 0) return (key) => keys.has(key) || sentBefore(key);
      for (const block of blocks) {
        for (const { index, key, name } of decodeBlock(block.firstIndex, block.payload))
          if (key !== null && index >= first && name !== 'CustomEvent' && name !== 'JobProgress')
            keys.add(key);
        from = block.firstIndex + block.count;
      }
    }
  }
}

/** What the execution is that a run is taken over for. */
function entryOf(
  { run, steps }: { readonly run: Run; readonly steps: readonly StepRecord[] },
  waited: boolean,
): RunEntry {
  // one that was stored and never begun begins now, a copy with what it was made from
  if (run.status === 'pending' && steps.length === 0) return 'started';
  return waited ? 'continued' : 'recovered';
}

/** Whether the run has sent no event since a request to continue it: it waited for a free slot. */
function isUnbegun({ nextEventIndex }: Run, steps: readonly StepRecord[]): boolean {
  const last = lastContinue(steps);
  return last !== undefined && (firstEventOf(last) ?? 0) === nextEventIndex;
}

function firstEventOf(continued: StepRecord | undefined): number | undefined {
  return readIf(continued, continueInput)?.first_event;
}

const emptyResult: RunResult = { content: '', contentType: 'str' };

function isFruitless({ attempt }: Run, steps: readonly StepRecord[]): boolean {
  if (attempt <= fruitlessAttempts) return false;
  return !steps.some((step) => step.status === 'completed' && step.attempt > attempt - fruitlessAttempts);
}
