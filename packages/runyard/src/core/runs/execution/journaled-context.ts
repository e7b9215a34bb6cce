import { deliver, promised, type Receiver } from '../../async/receiver.js';
import { errors } from '../../errors/errors.js';
import { handled } from '../../errors/handled.js';
import { thrownError } from '../../errors/thrown-error.js';
import type { PieceEvent, RunEvent } from '../../events/run-event.js';
import type { Json } from '../../json.js';
import type { Log } from '../../log.js';
import type { Message } from '../../models/message.js';
import { type ModelPrices, noPrices } from '../../models/prices.js';
import type { Timers } from '../../timers.js';
import {
  type BegunStep,
  type ChildRun,
  type FailedTry,
  type ReplaySite,
  type Requirement,
  type RunContext,
  RunPaused,
  type StepScope,
  type StepSpec,
  type StepWork,
} from '../context.js';
import type { EngineOptions } from '../engine-options.js';
import { maxUnstoredBytes } from '../events/event-log.js';
import type { EventOrigin } from '../events/event-origin.js';
import { childPrefix } from '../journal/child-steps.js';
import { type Codec, read } from '../journal/codec.js';
import { withDueTime } from '../journal/due-questions.js';
import { type Difference, differenceOf, type ExpectedStep } from '../journal/journal-match.js';
import type { SessionSummary } from '../journal/ports.js';
import { anyRecord } from '../journal/records.js';
import type { WriteQueue } from '../journal/write-queue.js';
import { executedBefore } from '../limits/executed-time.js';
import { GrowingAnswer } from '../limits/growing-answer.js';
import type { RunGuard } from '../limits/run-guard.js';
import { lastContinue } from '../resume/continuation.js';
import type { Run, RunEntry, RunOptions, StepKind, StepRecord } from '../run.js';
import { optionsInside, optionsOf } from '../run-options.js';
import { portsOf, type RunPorts } from '../run-ports.js';
import { isWorkOfStep } from '../run-usage.js';
import { type CallApplication, StepOwner } from './code-owner.js';
import { noteTry } from './failed-tries.js';
import { interruptedOutcome } from './interrupted-step.js';
import type { LiveRun } from './live-run.js';
import { completeStep, OpenStep } from './open-step.js';
import { RecordedSteps } from './recorded-steps.js';
import { unheard } from './reports.js';
import type { RunObserver } from './run-observer.js';
import type { SessionState } from './session-state.js';

/** What every run of an engine has around it. */
export interface RunSurroundings
  extends Pick<
    EngineOptions,
    'journal' | 'leases' | 'timers' | 'log' | 'ports' | 'prices' | 'limits' | 'observer'
  > {
  /** What to wait for before a step begins when the lease may have ended. Rejects when another process has the run. */
  readonly leaseConfirmed?: (live: LiveRun) => Promise<void> | undefined;
}

/** A step that does not begin at once. */
interface StepInTurn {
  readonly key: string;
  readonly recorded: StepRecord | undefined;
  /** The confirmation of the lease that was already asked for, if one was needed. */
  readonly confirmed: Promise<void> | undefined;
}

/** The context of a run whose steps are written down. */
export class JournaledContext extends RecordedSteps implements RunContext {
  readonly draft: RunContext['draft'] = { content: '' };
  readonly shown: RunContext['shown'] = { history: noMessages };
  readonly ports: RunPorts;
  readonly options: RunOptions;
  readonly replay: ReplaySite | null = null;
  private growing: GrowingAnswer | undefined;

  /** Made for each call: a run waits longer than it calls. */
  get callApplication(): CallApplication {
    return (what, work) => {
      const { live, log, run } = this;
      return live.ownName.call(new StepOwner(log, live.runId, run.componentId, what), work);
    };
  }

  constructor(
    live: LiveRun,
    private readonly queue: Pick<WriteQueue, 'flush'>,
    private readonly surroundings: RunSurroundings,
    readonly guard: RunGuard | undefined = undefined,
    inside: ChildRun | null = null,
  ) {
    super(live, inside);
    this.ports = portsOf(inside?.run ?? live.run, live.runId, surroundings.ports);
    this.options = inside === null ? optionsOf(live) : optionsInside(live, inside.run);
  }

  get timers(): Timers {
    return this.surroundings.timers;
  }

  get log(): Log {
    return this.surroundings.log;
  }

  get prices(): ModelPrices {
    return this.surroundings.prices ?? noPrices;
  }

  get observer(): RunObserver | undefined {
    return this.surroundings.observer;
  }

  idle<T>(work: () => Promise<T>): Promise<T> {
    return this.live.slot === null ? work() : this.live.slot.outside(work);
  }

  get entry(): RunEntry {
    return this.inside?.entry ?? this.live.entry;
  }

  get root(): Run {
    return this.live.run;
  }

  get continuedIn(): number {
    return lastContinue(this.live.steps.ofKind('', 'continue'))?.attempt ?? this.live.run.attempt;
  }

  get origin(): EventOrigin {
    return this.inside?.origin ?? this.live.origin;
  }

  child(child: ChildRun): RunContext {
    const inside = this.placed(child);
    const guard = this.guardOf(inside);
    const limited = { ...inside, ...(guard !== undefined && { signal: guard.signal }) };
    return new JournaledContext(this.live, this.queue, this.surroundings, guard, limited);
  }

  /** A run inside this one, as a part of the whole journal. */
  protected placed(child: ChildRun): ChildRun {
    return { ...child, key: this.prefix + child.key, signal: child.signal ?? this.signal };
  }

  private guardOf({ key, signal, limited, entry }: ChildRun): RunGuard | undefined {
    if (limited === undefined) return undefined;
    const prefix = childPrefix(key);
    const executedMs = entry === 'started' ? 0 : executedBefore(this.under(prefix), this.live.run.attempt);
    return this.guard?.inside({ owner: limited, prefix, executedMs }, signal ?? this.signal);
  }

  admit(kind: StepKind, count: number): void {
    this.guard?.admit(kind, count);
  }

  affords(): boolean {
    return this.guard?.affords() ?? true;
  }

  get depth(): number {
    return (this.inside?.origin ?? this.live.origin).depth;
  }

  get signal(): AbortSignal {
    return this.inside?.signal ?? this.live.abort.signal;
  }

  get state(): SessionState {
    return this.live.state;
  }

  idempotencyKey(key: string): string {
    return `${this.live.runId}:${this.prefix}${key}`;
  }

  recorded(key: string, expected?: ExpectedStep): StepRecord | undefined {
    const place = this.prefix + key;
    const step = expected === undefined ? this.live.step(place) : this.matched(place, expected);
    return this.inside === null || step === undefined ? step : { ...step, key, runId: this.run.runId };
  }

  definitionChanged(difference: Difference): Error {
    // the whole run ends with it: nothing that catches errors on their way may carry on
    const error = errors.definitionChanged(this.root.runId, this.root, difference);
    this.live.abort.abort(error);
    return error;
  }

  /** What is recorded under this key; a record of something else ends the run. */
  protected matched(key: string, expected: ExpectedStep): StepRecord | undefined {
    const recorded = this.live.step(key);
    const difference = recorded && differenceOf(recorded, expected);
    if (difference !== undefined) throw this.definitionChanged(difference);
    return recorded;
  }

  emit(event: RunEvent, key: string): void {
    this.live.emit(event, this.prefix + key, this.inside?.origin);
  }

  report(event: () => RunEvent, key: string): Promise<void> {
    const { live, log, timers } = this;
    if (live.isClosed || this.stop.aborted) return unheard(timers);
    try {
      this.emit(event(), key);
    } catch (thrown) {
      const error = thrownError(thrown);
      log.warn({ err: error, runId: this.run.runId }, 'a custom event could not be sent');
      return handled(Promise.reject(error));
    }
    if (live.log.overflowing) live.stop(errors.tooManyEvents(maxUnstoredBytes));
    return this.congestion()?.catch(() => {}) ?? sent;
  }

  emitDelta(event: PieceEvent, text: string): void {
    // first: a piece that is too large is not stored
    this.growing ??= new GrowingAnswer(this.guard);
    this.growing.piece(event, text.length);
    this.live.emitDelta(event, text, this.inside?.origin);
  }

  congestion(): Promise<void> | undefined {
    return this.live.log.congested ? this.queue.flush(this.live) : undefined;
  }

  stored(): Promise<void> {
    return this.queue.flush(this.live);
  }

  step<T>(key: string, spec: StepSpec<T>, work: (scope: StepScope) => Promise<T>): Promise<T> {
    return promised((receiver) =>
      this.stepFor(key, spec, (scope, outcome) => deliver(work(scope), outcome), receiver),
    );
  }

  stepFor<T>(relativeKey: string, spec: StepSpec<T>, work: StepWork<T>, receiver: Receiver<T>): void {
    const key = this.prefix + relativeKey;
    try {
      const recorded = this.matched(key, spec);
      const waits = recorded !== undefined || spec.interrupted !== undefined || this.live.log.congested;
      const confirmed = waits ? undefined : this.mayBegin();
      // most steps begin at once
      if (!waits && confirmed === undefined)
        this.perform(this.admitted(key, spec, undefined), spec, work, receiver);
      else void this.stepInTurn({ key, recorded, confirmed }, spec, work, receiver);
    } catch (error) {
      receiver.failed(error);
    }
  }

  /** Waits until the step may begin, and not for its end. */
  private async stepInTurn<T>(
    { key, recorded, confirmed }: StepInTurn,
    spec: StepSpec<T>,
    work: StepWork<T>,
    receiver: Receiver<T>,
  ): Promise<void> {
    try {
      if (recorded?.status === 'completed') return receiver.received(read(recorded, spec.record));
      if (recorded?.status === 'running' && spec.interrupted !== undefined && !spec.interrupted.paused) {
        const relative = key.slice(this.prefix.length);
        const settled = await interruptedOutcome(this, relative, recorded, spec.record, spec.interrupted);
        if (settled !== undefined) {
          completeStep(this, recorded, spec.failed, settled);
          return receiver.received(settled);
        }
      }
      // whatever sends events between its steps waits here for storage
      const congestion = this.congestion();
      if (congestion !== undefined) await congestion;
      const confirming = confirmed ?? this.mayBegin();
      if (confirming !== undefined) await confirming;
      const begun = this.admitted(key, spec, recorded);
      if (spec.interrupted !== undefined) {
        await this.queue.flush(this.live);
        // the run may have been cancelled in between: what has not begun does not begin
        this.stop.throwIfAborted();
      }
      this.perform(begun, spec, work, receiver);
    } catch (error) {
      receiver.failed(error);
    }
  }

  /** Throws when the run was stopped; what to wait for when its lease may have ended. */
  private mayBegin(): Promise<void> | undefined {
    this.stop.throwIfAborted();
    return this.surroundings.leaseConfirmed?.(this.live);
  }

  private admitted(key: string, spec: BegunStep, recorded: StepRecord | undefined): StepRecord {
    const counts = recorded === undefined && !isWorkOfStep({ kind: spec.kind, input: spec.input ?? null });
    this.admit(spec.kind, counts ? 1 : 0);
    return this.begin(key, spec, recorded);
  }

  noteTry(relativeKey: string, failed: FailedTry): void {
    const around = { aroundKey: this.inside?.key ?? null, now: this.timers.now() };
    noteTry(this.live, this.prefix + relativeKey, failed, around);
  }

  async deadline(ms: number): Promise<number> {
    return ms + (await this.surroundings.leases.now().catch(() => this.timers.now()));
  }

  wait(requirement: Requirement): Promise<Json>;
  wait<Answer>(requirement: Requirement, answer: Codec<Answer>): Promise<Answer>;
  async wait(requirement: Requirement, answer: Codec<unknown> = anyRecord): Promise<unknown> {
    const key = `${this.prefix}wait:${requirement.key}`;
    const { kind, data, dueAt, approval, parentKey, identity } = requirement;
    const recorded = this.matched(key, { kind: 'wait', name: kind, ...(identity && { identity }) });
    if (recorded?.status === 'completed') return read(recorded, answer);
    if (recorded === undefined) {
      const spec = {
        kind: 'wait',
        name: kind,
        input: withDueTime(data, dueAt),
        ...(parentKey !== undefined && { parentKey }),
        ...(identity !== undefined && { identity }),
      } as const;
      this.begin(key, spec, undefined);
      if (approval !== undefined) this.live.putApproval({ kind: 'record', approval });
    }
    throw new RunPaused([requirement]);
  }

  async history(
    count: number,
    from: 'own' | 'session' = 'own',
  ): Promise<readonly { run: Run; steps: readonly StepRecord[] }[]> {
    // a nested run has no history of its own: that belongs to the run around it
    if (this.inside !== null) return [];
    const { sessionId, kind, componentId, runId, lineage } = this.run;
    const copyOf = lineage?.forkedFromRunId;
    const copied = copyOf !== undefined && { copyOf };
    return this.surroundings.journal.history({ sessionId, kind, componentId, from, count, runId, ...copied });
  }

  runs(runIds: readonly string[]): Promise<readonly { run: Run; steps: readonly StepRecord[] }[]> {
    return this.surroundings.journal.loadAll(runIds);
  }

  nameSession(message: string): void {
    if (this.inside === null) this.live.nameSession(message);
  }

  sessionSummary(): Promise<SessionSummary | undefined> {
    return this.surroundings.journal.summary(this.run.sessionId);
  }

  putSessionSummary(summary: SessionSummary): void {
    this.live.putSummary(summary);
  }

  protected begin(key: string, spec: BegunStep, earlier: StepRecord | undefined): StepRecord {
    const step: StepRecord = {
      runId: this.live.runId,
      seq: earlier?.seq ?? this.live.nextSeq(),
      key,
      kind: spec.kind,
      name: spec.name,
      parentKey: spec.parentKey === undefined ? (this.inside?.key ?? null) : this.prefix + spec.parentKey,
      status: 'running',
      attempt: this.live.run.attempt,
      input: spec.input ?? null,
      output: null,
      error: null,
      startedAt: this.timers.now(),
      endedAt: null,
    };
    this.live.putStep(step);
    return step;
  }

  protected perform<T>(begun: StepRecord, spec: StepSpec<T>, work: StepWork<T>, receiver: Receiver<T>): void {
    const step = new OpenStep(this, begun.key.slice(this.prefix.length), begun, spec.failed, receiver);
    try {
      work(step, step);
    } catch (thrown) {
      step.failed(thrown);
    }
  }

  putStep(step: StepRecord): void {
    this.live.putStep(step);
  }
}

const sent: Promise<void> = Promise.resolve();
const noMessages: readonly Message[] = [];
