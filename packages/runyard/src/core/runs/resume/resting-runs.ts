import { errors, isFenced, isReported, RunyardError } from '../../errors/errors.js';
import type { ApprovalWrite } from '../approval.js';
import type { EngineOptions } from '../engine-options.js';
import { sentWith } from '../events/sent-events.js';
import type { Executable, RunEnd } from '../executable.js';
import type { RunExecutor } from '../execution/executor.js';
import { LiveRun } from '../execution/live-run.js';
import type { RunHandle } from '../execution/run-handle.js';
import { Setbacks } from '../execution/setbacks.js';
import { dueAtOf, timedOut } from '../journal/due-questions.js';
import { definitionOf, fingerprintIn, isOfNewerFormat } from '../journal/journal-format.js';
import type { RestingRun, RunUsage } from '../journal/ports.js';
import { awaitedEvent } from '../journal/received-events.js';
import type { ContinueRecord } from '../journal/records.js';
import type { WriteQueue } from '../journal/write-queue.js';
import type { RunQueue } from '../leases/run-queue.js';
import { executedUntil } from '../limits/executed-time.js';
import type { Run, RunFailure, StepRecord } from '../run.js';
import { cancelledEnd, failedEnd } from '../run-ends.js';
import { usageOfRemoved } from '../run-usage.js';
import { type Continuation, continueKey } from './continuation.js';
import { endingExecutable } from './ending-executable.js';
import { assertFits, definitionChanged } from './replay.js';

/** Whether a write came after that of another process, which has the run now. */
export function hasMovedOn(error: unknown): boolean {
  return error instanceof RunyardError && (error.code === 'cannot_continue' || error.code === 'run_fenced');
}

/** Who continues a run, and with what. */
export interface ContinuedBy {
  /** As `Run.askers`; empty when left out. */
  readonly askers?: readonly string[];
  /** What executes it. Left out: what `resolve` finds. */
  readonly executable?: Executable;
}

/** Answers to some or all of what a run waits for, by the keys of the `wait` steps. */
export interface RunAnswers extends ContinuedBy {
  /** The attempt whose questions they answer; left out: the present one. */
  readonly attempt?: number;
  readonly answers: ReadonlyMap<string, unknown>;
  readonly continuation: ContinueRecord;
  /** What is written down together with the answers. */
  readonly approvals?: readonly ApprovalWrite[];
}

const wokenAtOnce = 100;
const rememberedUnfit = 10_000;

/** A run that continues because its time has come has no request. */
const withoutRequest: ContinueRecord = { turn: 0, input: null, options: {} };

/**
 * Runs that no process executes because they wait for an answer or have failed. One write resumes such a run with all
 * that it continues with: the store refuses a second one, and a crash leaves the run unchanged or resumed.
 */
export class RestingRuns {
  private waking: Promise<void> | undefined;
  private ended = false;
  private readonly setbacks = new Setbacks();
  /** Runs that could not be woken because the code no longer fits them, by their attempt. */
  private readonly unfit = new Map<string, number>();

  constructor(
    private readonly executor: RunExecutor,
    private readonly queue: WriteQueue,
    private readonly options: EngineOptions,
  ) {}

  async answer(runId: string, given: RunAnswers): Promise<RunHandle> {
    const { answers, continuation, approvals } = given;
    const { run, steps, executable } = await this.load(runId, 'paused', given.executable);
    if (run.attempt !== (given.attempt ?? run.attempt)) throw errors.cannotContinue(runId, 'running');
    const open = openQuestions(steps);
    for (const key of answers.keys()) if (!open.has(key)) throw errors.answeredBefore(runId);
    // before anything is used up: a run that does not fit stays as it is until its code is back
    await assertFits(executable, run, steps, this.options.timers);
    const received = await this.received(runId, open);
    const live = await this.revive(askedBy(run, given.askers), steps, executable);
    const [now, deadline] = [this.options.timers.now(), await this.options.leases.now()];
    const { attempt } = live.run;
    for (const [key, step] of open) {
      // an answer that comes too late does not count, and what else is due is settled with it
      const output = received.get(key) ?? (isDue(step, deadline) ? timedOut : answers.get(key));
      if (output !== undefined) live.putStep({ ...step, status: 'completed', attempt, output, endedAt: now });
    }
    for (const approval of approvals ?? []) live.putApproval(approval);
    return this.resume(live, executable, continuation);
  }

  /** The events that open questions wait for, by the keys of the questions. */
  private async received(
    runId: string,
    open: ReadonlyMap<string, StepRecord>,
  ): Promise<Map<string, unknown>> {
    const events = new Map<string, unknown>();
    for (const [key, step] of open) {
      const name = awaitedEvent(step);
      const event = name && (await this.options.ports.receivedEvents.take(runId, name, key));
      if (event) events.set(key, { event_id: event.eventId, data: event.data });
    }
    return events;
  }

  /** Resumes paused runs whose time has come, or that have received what they wait for. */
  async wake(): Promise<void> {
    this.waking ??= this.wakeDue().finally(() => {
      this.waking = undefined;
    });
    return this.waking;
  }

  /** Wakes nothing from now on. */
  async end(): Promise<void> {
    this.ended = true;
    await this.waking;
  }

  private async wakeDue(): Promise<void> {
    const { queue, ports, log } = this.options;
    try {
      await this.wakeAll((...page) => queue.due(...page));
      await this.wakeAll((...page) => ports.receivedEvents.answerable(...page));
    } catch (error) {
      if (!isReported(error)) log.error({ err: error }, 'waking paused runs failed');
    }
  }

  private async wakeAll(list: RunQueue['due']): Promise<void> {
    const { timers, orphans } = this.options;
    const now = timers.now();
    // what cannot be woken here stays in the list: look past it
    for (let passed = 0; !this.ended; ) {
      const runs = await list(wokenAtOnce, passed, await orphans?.components());
      for (const run of runs) if (!(await this.wakeOne(run, now))) passed += 1;
      if (runs.length < wokenAtOnce) return;
    }
  }

  /** Whether the run no longer waits for its time. */
  private async wakeOne(run: Run, now: number): Promise<boolean> {
    if (this.ended || this.setbacks.holdsBack(run.runId, now)) return false;
    if (this.unfit.get(run.runId) === run.attempt || isOfNewerFormat(run)) return false;
    try {
      await this.answer(run.runId, { answers: new Map(), continuation: withoutRequest });
      this.setbacks.succeeded(run.runId);
      return true;
    } catch (error) {
      // a caller answered it, or another process woke it
      if (error instanceof RunyardError && error.code === 'cannot_continue') return true;
      if (isReported(error)) throw error;
      this.setbacks.failed(run.runId, now);
      if (error instanceof RunyardError && error.code === definitionChanged) this.noteUnfit(run);
      this.options.log.error({ err: error, runId: run.runId }, 'a paused run could not be woken');
      return false;
    }
  }

  /** The code of this process does not change: the log has it once, and no later look tries again. */
  private noteUnfit({ runId, attempt }: Run): void {
    if (this.unfit.size >= rememberedUnfit) this.unfit.clear();
    this.unfit.set(runId, attempt);
  }

  /** Resumes a failed run with what is kept of its journal. */
  async retry(
    runId: string,
    kept: Continuation,
    record: ContinueRecord,
    by: ContinuedBy,
  ): Promise<RunHandle> {
    const { run, steps, executable } = await this.load(runId, 'error', by.executable);
    const { unpassed = [] } = record.input === null ? kept : {};
    const unfinished = [...(kept.unfinished ?? []), ...unpassed];
    const continuesWith = [...kept.steps, ...unfinished];
    await assertFits(executable, run, continuesWith, this.options.timers);
    const keys = new Set(continuesWith.map(({ key }) => key));
    const live = await this.revive(askedBy(run, by.askers), steps, executable, continuesWith);
    const removed = steps.filter(({ key }) => !keys.has(key));
    for (const step of removed) live.removeStep(step);
    for (const step of kept.reopened ?? []) live.putStep(step);
    const spent = usageOfRemoved(run, steps, removed, this.options.prices);
    // a new message comes after a turn that is yet to be finished
    const turn = unfinished.length > 0 ? record.turn + 1 : record.turn;
    return this.resume(live, executable, { ...record, turn }, spent);
  }

  /** Ends a paused run. */
  cancel(runId: string, reason: string): Promise<void> {
    // what it showed was what it waited for
    return this.endPaused(runId, ({ result }) =>
      cancelledEnd(reason, { ...(result ?? { contentType: 'str' }), content: '' }),
    );
  }

  /** Ends a paused run as failed. */
  fail(runId: string, failure: RunFailure): Promise<void> {
    return this.endPaused(runId, () => failedEnd(failure));
  }

  private async endPaused(runId: string, endOf: (run: Run) => RunEnd): Promise<void> {
    const { run, steps } = await this.stored(runId, 'paused');
    const executable = await endingExecutable(run, this.options);
    const live = await this.revive(run, steps, executable);
    const end = endOf(run);
    if (end.status === 'error') live.transition('running');
    await this.claimed(runId, () => this.executor.finish(live, executable, end));
  }

  private async load(runId: string, status: RestingRun['status'], known: Executable | undefined) {
    const stored = await this.stored(runId, status);
    const executable = known ?? (await this.options.resolve(stored.run));
    if (executable === undefined) throw errors.componentNotRegistered(stored.run);
    return { ...stored, executable };
  }

  private async stored(runId: string, status: RestingRun['status']) {
    const stored = await this.options.journal.load(runId);
    if (stored === undefined) throw errors.runNotFound();
    if (stored.run.status !== status) throw errors.cannotContinue(runId, stored.run.status);
    if (isOfNewerFormat(stored.run)) throw errors.newerVersion(runId);
    return stored;
  }

  private async revive(
    run: Run,
    steps: readonly StepRecord[],
    executable: Executable,
    kept = steps,
  ): Promise<LiveRun> {
    const { journal, timers, owner, leaseMs } = this.options;
    const session = await journal.session(run.sessionId);
    return new LiveRun(
      {
        run: {
          ...run,
          attempt: run.attempt + 1,
          leaseOwner: owner,
          leaseExpiresAt: null,
          wakeAt: null,
        },
        steps,
        leaseMs,
        entry: 'continued',
        claims: { attempt: run.attempt, status: run.status },
        session: null,
        isNamed: (session?.name ?? null) !== null,
        sessionState: session?.state ?? {},
        sentEvents: sentWith(kept),
        eventFields: executable.eventFields,
      },
      (changed) => this.queue.touch(changed),
      timers,
    );
  }

  private async resume(
    live: LiveRun,
    executable: Executable,
    record: ContinueRecord,
    spent?: RunUsage,
  ): Promise<RunHandle> {
    live.putStep(continueStep(live.run, live.nextSeq(), record, this.options.timers.now(), spent));
    live.transition('running', null);
    // what is stored from here on is of this version, also if the process dies before it executes anything
    live.set({ definition: definitionOf(fingerprintIn(live.run)) });
    return this.executor.continue(live, executable, () =>
      this.claimed(live.runId, () => this.queue.flush(live)),
    );
  }

  /** Another caller was quicker: the run continues, and no process has lost it. */
  private async claimed<T>(runId: string, write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (error) {
      if (!isFenced(error)) throw error;
      const stored = await this.options.journal.progress(runId);
      throw errors.cannotContinue(
        runId,
        stored?.status === 'paused' ? 'running' : (stored?.status ?? 'gone'),
      );
    }
  }
}

/** What came with the request to continue, as a step of the journal. `spent` is what was used for steps that are gone. */
export function continueStep(
  run: Run,
  seq: number,
  record: ContinueRecord,
  now: number,
  spent?: RunUsage,
): StepRecord {
  const isSpent = spent !== undefined && spent.runs.length + spent.models.length > 0;
  return {
    runId: run.runId,
    seq,
    key: continueKey(run.attempt),
    kind: 'continue',
    name: 'continue',
    parentKey: null,
    status: 'completed',
    attempt: run.attempt,
    // earlier answers count only for steps that are kept
    input: {
      first_event: run.nextEventIndex,
      ...(isSpent && { spent }),
      ...executedUntil(run),
    },
    output: record,
    error: null,
    startedAt: now,
    endedAt: now,
  };
}

/** The run, with those who continue it among its askers. */
export function askedBy(run: Run, askers: readonly string[] = []): Run {
  return { ...run, askers: [...new Set([...run.askers, ...askers])] };
}

function isDue(step: StepRecord, now: number): boolean {
  const dueAt = dueAtOf(step);
  return dueAt !== undefined && dueAt <= now;
}

function openQuestions(steps: readonly StepRecord[]): ReadonlyMap<string, StepRecord> {
  return new Map(
    steps
      .filter(({ kind, status }) => kind === 'wait' && status === 'running')
      .map((step) => [step.key, step]),
  );
}
