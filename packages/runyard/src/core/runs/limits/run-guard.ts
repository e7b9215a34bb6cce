import { AsyncResource } from 'node:async_hooks';
import { LazyAbort } from '../../async/abort.js';
import { deliver, promised, type Receiver } from '../../async/receiver.js';
import type { Log } from '../../log.js';
import type { Timers } from '../../timers.js';
import type { OwnName } from '../execution/code-owner.js';
import type { StepKind } from '../run.js';
import type { Deadlines, Timed } from './deadlines.js';
import { LimitExceeded } from './limit-exceeded.js';
import {
  type AnyLimits,
  type Bound,
  type Bounds,
  boundsOf,
  type ExecutionGuard,
  type Limited,
  type LimitName,
} from './run-limits.js';
import type { RunMeter } from './run-meter.js';

/** The limits that are checked before a step of a kind begins, and which of them it counts for. */
interface Check {
  readonly counts?: Exclude<LimitName, 'timeMs' | 'bytes'>;
  readonly spends?: true;
}

const checks: Partial<Record<StepKind, Check>> = {
  model: { counts: 'turns', spends: true },
  auxiliary: { spends: true },
  tool: { counts: 'toolCalls', spends: true },
  member: { spends: true },
  step: { counts: 'steps', spends: true },
  work: { counts: 'steps', spends: true },
};

/** What the guards of all runs of a service share. */
export interface LimitingService {
  /** What the service allows. */
  readonly ceiling: AnyLimits;
  readonly timers: Timers;
  readonly deadlines: Deadlines;
  readonly log: Log;
}

export interface GuardedRun {
  readonly service: LimitingService;
  readonly owner: Limited;
  readonly meter: RunMeter;
  /** What the keys of its steps begin with. */
  readonly prefix: string;
  /** For how long earlier executions took. */
  readonly executedMs: number;
  readonly ownName: OwnName;
}

/**
 * Holds one execution of a run to its limits. A run that meets one is aborted, with all that runs within it: the
 * reason of its signal says which limit it was. When another request cancels the run, or its time is up, the run ends in
 * the async context in which its guard was made.
 */
export class RunGuard extends AsyncResource implements ExecutionGuard, Timed, Receiver<unknown> {
  private bounds: Bounds;
  private stopTimer: (() => void) | undefined;
  /** The duration under which its deadline was added; undefined without a deadline. */
  private leftMs: number | undefined;
  private startedAt: number | undefined;
  private reached: LimitExceeded | undefined;
  private warned = false;
  /** Gets the outcome of the work; undefined before and after it. */
  private receiver: Receiver<unknown> | undefined;

  constructor(
    private readonly run: GuardedRun,
    private readonly controller: LazyAbort,
    /** That of the run around this one; null for the outermost run. */
    private readonly outer: RunGuard | null,
    /** The signal that ends it together with something around it. */
    private readonly around?: AbortSignal,
  ) {
    super('RunGuard');
    this.bounds = boundsOf(run.owner, run.service.ceiling);
  }

  /** The guard of a run inside this one. Its signal is aborted with that of the run around it. */
  inside(run: Pick<GuardedRun, 'owner' | 'prefix' | 'executedMs'>, around: AbortSignal): RunGuard {
    return new RunGuard({ ...this.run, ...run }, new LazyAbort(), this, around);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** The limit that ended this run itself, if one did. */
  get exceeded(): LimitExceeded | undefined {
    return this.reached;
  }

  get executedMs(): number {
    const { service, executedMs } = this.run;
    return this.startedAt === undefined
      ? executedMs
      : executedMs + Math.max(service.timers.now() - this.startedAt, 0);
  }

  /** Throws when `count` more steps of this kind would be more than this run, or one around it, may do. */
  admit(kind: StepKind, count: number): void {
    const check = checks[kind];
    if (check === undefined) return;
    // the outermost first: what ends the whole run is not the failure of a part of it
    this.outer?.admitInside(check, count);
    this.admitHere(check.counts, count, check.spends === true);
  }

  limit(limits: AnyLimits): void {
    const { owner, service } = this.run;
    this.bounds = boundsOf({ kind: owner.kind, id: owner.id, limits }, service.ceiling);
    if (this.receiver === undefined) return;
    this.disarm();
    this.arm();
  }

  /** Throws when this run, or one around it, would hold too much with so many bytes more. */
  hold(more: number): void {
    this.outer?.hold(more);
    const bound = this.bounds.bytes;
    const held = this.run.meter.of(this.run.prefix).bytes + more;
    if (bound !== undefined && held > bound.value) throw this.exceed(bound, held);
  }

  /** Whether this run and those around it have tokens and costs left. */
  affords(): boolean {
    return this.spent() === undefined && (this.outer?.affords() ?? true);
  }

  within<T>(work: () => Promise<T>): Promise<T> {
    return promised((receiver) => this.begin((outcome) => deliver(work(), outcome), receiver));
  }

  /**
   * Does the work of the run within its time. It ends with the limit that was met, and the outermost run with its abort,
   * even if the work does not notice.
   */
  begin<T>(work: (outcome: Receiver<T>) => void, receiver: Receiver<T>): void {
    this.startedAt = this.run.service.timers.now();
    this.arm();
    this.receiver = receiver;
    const { around, controller } = this;
    // before the work begins: its first lines may look at the signal, or meet a limit
    if ((around ?? controller).aborted) this.handleEvent();
    else if (around === undefined) controller.onAbort = this;
    else around.addEventListener('abort', this, { once: true });
    try {
      work(this);
    } catch (error) {
      this.failed(error);
    }
  }

  received(result: unknown): void {
    const { receiver } = this;
    this.leave();
    receiver?.received(result);
  }

  /** The work itself may call this, for example when it meets a limit: the receiver is called only after it returned. */
  failed(error: unknown): void {
    const { receiver } = this;
    this.leave();
    if (receiver !== undefined) queueMicrotask(() => this.runInAsyncScope(() => receiver.failed(error)));
  }

  /** Something around it is aborted, or the outermost run itself. */
  handleEvent(): void {
    if (this.around === undefined) this.failed(this.controller.reason);
    else this.controller.abort(this.around.reason);
  }

  private leave(): void {
    if (this.receiver === undefined) return;
    this.receiver = undefined;
    this.disarm();
    this.around?.removeEventListener('abort', this);
    if (this.outer !== null) this.run.meter.forget(this.run.prefix);
  }

  /** Turns are those of the run that takes them. */
  private admitInside(check: Check, count: number): void {
    this.outer?.admitInside(check, count);
    this.admitHere(check.counts === 'turns' ? undefined : check.counts, count, check.spends === true);
  }

  private admitHere(counts: Check['counts'], count: number, spends: boolean): void {
    if (this.reached !== undefined) throw this.reached;
    const tally = this.run.meter.of(this.run.prefix);
    if (counts !== undefined) {
      const bound = this.bounds[counts];
      const wanted = tally[counts] + count;
      if (bound !== undefined && count > 0 && wanted > bound.value)
        throw this.exceed(bound, counts === 'turns' || counts === 'steps' ? tally[counts] : wanted);
    }
    if (!spends) return;
    this.warnOfUnpriced();
    const spent = this.spent();
    if (spent !== undefined) throw this.exceed(...spent);
  }

  /** The limit on tokens or costs that was met, and what was spent. */
  private spent(): [Bound, number] | undefined {
    const { tokens, cost } = this.bounds;
    const tally = this.run.meter.of(this.run.prefix);
    if (tokens !== undefined && tally.tokens >= tokens.value) return [tokens, tally.tokens];
    return cost !== undefined && tally.cost >= cost.value ? [cost, tally.cost] : undefined;
  }

  /** A limit that cannot be met is no limit: the operator who set it has to know. */
  private warnOfUnpriced(): void {
    const { meter, service, owner } = this.run;
    if (this.bounds.cost === undefined || this.warned || meter.unpriced === undefined) return;
    this.warned = true;
    service.log.warn(
      { model: meter.unpriced, component: owner.id },
      'a limit on costs cannot count the calls of a model without a price: set prices',
    );
  }

  private arm(): void {
    const bound = this.bounds.timeMs;
    if (bound === undefined) return;
    const { service, executedMs } = this.run;
    const left = Math.max(bound.value - executedMs, 0);
    // a default was not asked for: it does not keep an otherwise idle process alive
    if (bound.source === 'own') this.stopTimer = service.timers.after(left, () => this.timeUp());
    else {
      service.deadlines.add(left, this);
      this.leftMs = left;
    }
  }

  private disarm(): void {
    this.stopTimer?.();
    this.stopTimer = undefined;
    if (this.leftMs !== undefined) this.run.service.deadlines.delete(this.leftMs, this);
    this.leftMs = undefined;
  }

  timeUp(): void {
    this.runInAsyncScope(() => this.endTime());
  }

  private endTime(): void {
    const bound = this.bounds.timeMs;
    if (bound === undefined) return;
    this.disarm();
    // timers count whole milliseconds, and may fire one early
    if (bound.value - this.executedMs === 1)
      this.stopTimer = this.run.service.timers.after(1, () => this.timeUp());
    else this.exceed(bound, this.executedMs);
  }

  private exceed(bound: Bound, used: number): LimitExceeded {
    this.reached ??= new LimitExceeded(this.run.owner, bound, used, this.outer === null);
    this.run.ownName.abort(this.controller, this.reached);
    this.failed(this.reached);
    return this.reached;
  }
}
