import { LazyAbort } from '../../async/abort.js';
import type { PieceEvent, RunEvent } from '../../events/run-event.js';
import type { ModelPrices } from '../../models/prices.js';
import type { Timers } from '../../timers.js';
import type { ApprovalWrite } from '../approval.js';
import { DeltaTemplates } from '../events/delta-templates.js';
import { EventLog } from '../events/event-log.js';
import { EventOpening } from '../events/event-opening.js';
import { type EventOrigin, outermostOrigin } from '../events/event-origin.js';
import { type LoggedEvent, serialiseDelta } from '../events/logged-event.js';
import type { Forgetting } from '../forgetting/forgetting.js';
import { LongTexts, type TextIds, weigh } from '../journal/long-texts.js';
import type { RestingRun, RunUsage, RunWrite, SessionSummary } from '../journal/ports.js';
import { updateOf } from '../journal/run-update.js';
import { inOrder, StepIndex } from '../journal/step-index.js';
import { textsWrite } from '../journal/texts-write.js';
import type { WriteSource } from '../journal/write-queue.js';
import { HeldLease, type Moment } from '../leases/held-lease.js';
import type { HeldSlot } from '../leases/run-slots.js';
import { RunMeter } from '../limits/run-meter.js';
import type { Run, RunEntry, RunResult, RunStatus, StepRecord } from '../run.js';
import { assertTransition } from '../transitions.js';
import { OwnName } from './code-owner.js';
import {
  knownSession,
  type LiveRunStart,
  noSteps,
  notBegun,
  type StoredRun,
  startAgain,
} from './live-run-start.js';
import { sessionNameOf } from './session-name.js';
import { SessionState } from './session-state.js';
import { Unwritten } from './unwritten.js';

/**
 * A run while this process holds its lease: the record, its journal, its events, and what of them is not stored
 * yet. All changes go through here, so `drain` can hand over exactly what is new.
 */
export class LiveRun implements WriteSource, TextIds {
  readonly log: EventLog;
  readonly abort = new LazyAbort();
  readonly ownName = new OwnName();
  readonly state: SessionState;
  /** Null until it has one: while it waits for its turn. */
  slot: HeldSlot | null = null;
  private record: Run;
  private claims: RestingRun | undefined;
  private waiting: boolean;
  private stored: boolean;
  private accepted: boolean;
  readonly lease: HeldLease;
  private drainedAt: Moment | undefined;
  private changed = true;
  private closed = false;
  private highestSeq = -1;
  private unwritten: Unwritten | undefined;
  /** Whether something of this execution is stored, or on its way to the store. */
  isDrained = false;
  /** Whether readers in other processes wait for what is stored of it. */
  isAwaited = false;
  /** `putStep` and `removeStep` change it. */
  readonly steps = new StepIndex();
  /** Counts what the steps come to, while the run is executed. */
  private counting: RunMeter | null = null;
  private longTexts: LongTexts | undefined;
  private opening: EventOpening | null = null;
  /** The origin of the events unless one is given. */
  readonly origin: EventOrigin;
  private templates: DeltaTemplates | null = null;

  constructor(
    private start: LiveRunStart & { run: Run },
    private readonly onChange: (live: LiveRun) => void,
    private readonly timers: Pick<Timers, 'now' | 'elapsed'>,
  ) {
    this.lease = new HeldLease(start.leaseMs, timers);
    this.record = start.run;
    if (start.session !== null) this.pending.session = start.session;
    this.claims = start.claims;
    this.waiting = start.run.attempt === notBegun;
    this.stored = start.session === null && start.unstoredJob !== true;
    this.accepted = this.stored && start.claims === undefined;
    if (this.accepted) this.lease.taken(this.lease.moment());
    this.origin = outermostOrigin(start.run, start.eventFields);
    // new ones are added at the end: both maps stay in order
    for (const step of inOrder([...start.steps])) {
      this.keep(step);
      this.highestSeq = Math.max(this.highestSeq, step.seq);
    }
    this.log = new EventLog(start.run.nextEventIndex);
    this.state = new SessionState(start.run.sessionId, start.sessionState, this);
  }

  get runId(): string {
    return this.record.runId;
  }

  get run(): Run {
    return this.record;
  }

  /** What this execution of the run is. */
  get entry(): RunEntry {
    return this.start.entry;
  }

  get isAccepted(): boolean {
    return this.accepted;
  }

  /** A closed run takes no more writes: it ended, or another process holds it. */
  get isClosed(): boolean {
    return this.closed;
  }

  /** Whether the database holds a lease of this run for this process. */
  get isHeld(): boolean {
    return this.lease.isTaken && !this.closed && !this.waiting;
  }

  /** Whether the run waits for a free slot, of this process or of any other. */
  get isWaiting(): boolean {
    return this.waiting;
  }

  /** Whether other processes can see that it waits. */
  get isOffered(): boolean {
    return this.waiting && this.accepted && !this.closed;
  }

  /** This run without anything that is not stored: what was stored of it, or how it began. */
  withoutUnstored(stored: StoredRun | undefined): LiveRun {
    const again = startAgain(this.start, this.record, this.log.nextIndex, stored);
    return new LiveRun(again, this.onChange, this.timers);
  }

  /** Another process has the run: nothing more is done or written here. */
  lose(error: Error): void {
    this.closed = true;
    this.stop(error);
  }

  /** With its next write the run belongs to the first process that has a free slot. */
  offer(): void {
    this.waiting = true;
    this.release();
  }

  /** Begins a run that waited. Whether others could see it: then its next write claims it, or is refused. */
  begin(owner: string): boolean {
    const { attempt, status } = this.record;
    this.waiting = false;
    if (this.stored) this.claims = { attempt, status };
    this.record = { ...this.record, attempt: attempt + 1, leaseOwner: owner };
    this.changed = true;
    return this.stored;
  }

  step(key: string): StepRecord | undefined {
    return this.steps.get(key);
  }

  allSteps(): readonly StepRecord[] {
    return this.steps.all();
  }

  /** What the steps come to, from now on without looking at all of them. */
  meter(prices: ModelPrices): RunMeter {
    this.counting ??= new RunMeter(this.record, this.steps.all(), prices);
    return this.counting;
  }

  putStep(step: StepRecord): void {
    this.assertOpen();
    this.keep(step);
    const { pending } = this;
    pending.size += this.weighed(step.input) + this.weighed(step.output);
    pending.steps ??= new Set();
    pending.steps.add(step.key);
    this.touch();
  }

  /** The step no longer belongs to the run: what it did is done again. */
  removeStep(step: StepRecord): void {
    this.assertOpen();
    this.steps.delete(step);
    this.counting?.changed(step, undefined);
    const { pending } = this;
    pending.removedSteps ??= [];
    pending.removedSteps.push(step.seq);
    this.touch();
  }

  putApproval(approval: ApprovalWrite): void {
    this.assertOpen();
    const { pending } = this;
    pending.approvals ??= [];
    pending.approvals.push(approval);
    this.touch();
  }

  nextSeq(): number {
    this.highestSeq += 1;
    return this.highestSeq;
  }

  transition(status: RunStatus, result: RunResult | null = this.record.result): void {
    assertTransition(this.runId, this.record.status, status);
    this.record = { ...this.record, status, result };
    this.pending.size += this.weighed(result);
    this.changed = true;
  }

  /** A session without a name is called after this message with the run's next write. */
  nameSession(message: string): void {
    const name = this.start.isNamed === true ? null : sessionNameOf(message);
    const { pending } = this;
    if (name !== null) pending.session = { ...(pending.session ?? knownSession(this.record)), name };
    this.touch();
  }

  /** The summary of the session is stored with the run's next write. */
  putSummary(summary: SessionSummary): void {
    this.assertOpen();
    this.pending.summary = { sessionId: this.record.sessionId, ...summary };
    this.touch();
  }

  /** What the run has used is stored with its next write. */
  putUsage(usage: RunUsage): void {
    const { sessionId, kind, userId, createdAt } = this.record;
    this.pending.usage = { run: { sessionId, kind, userId, createdAt }, ...usage };
    this.changed = true;
  }

  /** What the run does not keep is removed with its last write. */
  forget(forgetting: Forgetting): void {
    this.pending.forgetting = forgetting;
    for (const step of forgetting.steps(this.allSteps())) this.putStep(step);
    const { runId, result, input } = this.record;
    const left = { result: forgetting.result(runId, result), input: forgetting.input(runId, input) };
    this.record = { ...this.record, ...left };
  }

  /** With the next write no process holds the run. */
  giveUpLease(): void {
    this.record = { ...this.record, leaseOwner: null, leaseExpiresAt: null };
  }

  /** When the run, once it is paused, continues by itself; what it is executed with. Stored with its next write. */
  set(facts: Partial<Pick<Run, 'wakeAt' | 'definition'>>): void {
    this.record = { ...this.record, ...facts };
  }

  /** Releases the run, with its next write, to the process that takes it over. */
  release(): void {
    this.giveUpLease();
    this.changed = true;
  }

  /** Sends an event. One with a key is sent once in the life of the run, however often it is executed. */
  emit(event: RunEvent, key: string | null, origin = this.origin): void {
    this.assertOpen();
    if (key !== null && (this.log.has(key) || this.start.sentEvents(key))) return;
    if (this.opening?.origin !== origin) this.opening = new EventOpening(origin, this.record.sessionId);
    this.append(this.opening.serialised(this.log.nextIndex, event, this.timers.now(), key, this));
  }

  /** Sends a piece of content. `event` is the same object for all pieces of one model call. */
  emitDelta(event: PieceEvent, text: string, origin = this.origin): void {
    this.assertOpen();
    this.templates ??= new DeltaTemplates();
    const template = this.templates.of(event, origin, this.record.sessionId, this.timers.now());
    this.append(serialiseDelta(this.log.nextIndex, template, text));
  }

  /** The id under which a long text of the run is stored. */
  idOf(text: string): string {
    return this.texts.idOf(text);
  }

  /** Ends the execution: its signal aborts the work in progress. */
  stop(reason: Error): void {
    this.ownName.abort(this.abort, reason);
  }

  /** Nothing may be written from here on except what is already waiting. */
  close(): void {
    this.closed = true;
  }

  drain(): RunWrite | undefined {
    const { session, summary, usage, approvals, removedSteps, forgetting } = this.pending;
    const { steps: changedKeys, size: unwritten } = this.pending;
    this.unwritten = undefined;
    this.isDrained = true;
    const events = this.log.takeUnstored(forgetting?.event);
    const state = this.state.takeChanges();
    // one that was removed after it changed is gone
    const steps = Array.from(changedKeys ?? []).flatMap((key) => this.steps.get(key) ?? []);
    if (!(this.changed || events || state || summary || approvals || removedSteps || session || steps.length))
      return undefined;
    this.changed = false;
    this.record = { ...this.record, nextEventIndex: this.log.nextIndex, updatedAt: this.timers.now() };
    const { record: run } = this;
    const { attempt, leaseOwner } = run;
    this.drainedAt = leaseOwner === null ? undefined : this.lease.moment();
    const replaces = run.status === 'completed' ? run.lineage?.replaces : undefined;
    const size = unwritten + (events?.payload.length ?? 0);
    const forgotten = forgetting?.write(run.input);
    const texts = textsWrite(this.longTexts, forgetting);
    const isFirst = !this.stored;
    this.stored = true;
    // every field, also one without a value: reading writes is fast while all have the same fields
    return {
      runId: this.runId,
      attempt,
      insert: isFirst ? run : undefined,
      idempotency: isFirst ? this.start.idempotency : undefined,
      update: isFirst ? undefined : updateOf(run),
      claims: isFirst ? undefined : this.takeClaims(),
      leaseMs: leaseOwner === null ? undefined : this.lease.ms,
      steps,
      events,
      texts,
      session,
      state,
      summary,
      usage,
      approvals,
      removedSteps,
      replaces,
      forgotten,
      size,
    };
  }

  private keep(step: StepRecord): void {
    this.counting?.changed(this.steps.get(step.key), step);
    this.steps.put(step);
  }

  private get texts(): LongTexts {
    this.longTexts ??= new LongTexts(this.record.attempt);
    return this.longTexts;
  }

  private get pending(): Unwritten {
    this.unwritten ??= new Unwritten();
    return this.unwritten;
  }

  private takeClaims(): RunWrite['claims'] {
    const { claims, record: run } = this;
    this.claims = undefined;
    return claims && { ...claims, run };
  }

  written(write: RunWrite): void {
    // from now on the run is made again from what is stored: what it began with does not stay in memory
    if (!this.accepted) this.start = { ...this.start, steps: noSteps, session: null };
    this.start.run = this.record;
    this.accepted = true;
    if (this.drainedAt !== undefined) this.lease.taken(this.drainedAt);
    this.drainedAt = undefined;
    if (write.events !== undefined) this.log.stored(write.events.firstIndex + write.events.count);
  }

  refused(error: Error): void {
    this.lose(error);
  }

  private weighed(value: unknown): number {
    return weigh(value, (text) => this.texts.keep(text));
  }

  private append(event: LoggedEvent): void {
    this.log.append(event);
    this.touch();
  }

  /** Marks the run as changed, so that it is written. */
  touch(): void {
    if (!this.closed) this.onChange(this);
  }

  private assertOpen(): void {
    if (!this.closed) return;
    throw this.abort.reason ?? new Error(`Run ${this.runId} has ended`);
  }
}
