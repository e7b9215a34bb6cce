import type { Abortable } from '../../async/abort.js';
import { FairQueue, type InLine } from '../../collections/fair-queue.js';
import { errors } from '../../errors/errors.js';
import { componentKey } from '../resume/ending-executable.js';
import type { Run } from '../run.js';
import { levelOf, priorities } from './priority.js';

export interface SlotLimits {
  /** How many runs are executed at once. */
  readonly executing: number;
  /** How many more may wait for their turn. */
  readonly waiting: number;
}

/** What is kept for a run until it takes a slot. */
interface Place {
  /** Whether the run has to wait for a slot. */
  readonly waits: boolean;
  /** Gives the place back: the run has entered by then, or never will. */
  left(): void;
}

/** A run that takes a slot, or waits for one. */
interface Entrant extends InLine {
  readonly runId: string;
}

interface Waiter extends Entrant {
  /** Whether every process that shares the database sees it waiting: the order of the database decides. */
  readonly offered: boolean;
  enter(): void;
}

/**
 * Bounds how many runs a process executes at once. The others wait, and none of them for the many runs of another user
 * (`FairQueue`).
 */
export class RunSlots {
  /** Runs that are not stored yet and will take a slot, or wait for one. */
  private arriving = 0;
  private taken = 0;
  private readonly line = new FairQueue<Waiter>(priorities.length - 1);
  private readonly offeredRuns = new Map<string, Waiter>();

  constructor(readonly limits: SlotLimits) {}

  get executing(): number {
    return this.taken;
  }

  get waiting(): number {
    return this.line.size;
  }

  /** Whether a run that came now would have to wait. */
  get full(): boolean {
    return this.free <= 0;
  }

  get free(): number {
    return this.limits.executing - this.taken;
  }

  /** Whether runs wait here that other processes see waiting. */
  get hasOffered(): boolean {
    return this.offeredRuns.size > 0;
  }

  /** Keeps a place for a new run while it is made; refuses one that would have to wait behind too many others. */
  arrive(): Place {
    const { executing, waiting } = this.limits;
    if (this.before >= executing + waiting) throw errors.tooManyRuns(this.waiting);
    return this.keepPlace();
  }

  /** Keeps a place for a run that continues: it was accepted before. */
  keepPlace(): Place {
    const waits = this.before >= this.limits.executing;
    this.arriving += 1;
    return {
      waits,
      left: () => {
        this.arriving -= 1;
      },
    };
  }

  /**
   * Takes a slot: at once (undefined), or when the promise resolves. It rejects when the signal aborts first. A run that
   * is `offered` to all processes does not pass others that are.
   */
  enter(entrant: Entrant, signal: Abortable, offered = false): Promise<void> | undefined {
    signal.throwIfAborted();
    if (!this.full && !(offered && this.hasOffered)) {
      this.taken += 1;
      this.line.began(entrant);
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const waiter: Waiter = { ...entrant, offered, enter };
      const giveUp = (): void => {
        this.line.delete(waiter);
        this.offeredRuns.delete(waiter.runId);
        reject(signal.reason);
      };
      this.line.add(waiter);
      if (offered) this.offeredRuns.set(entrant.runId, waiter);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  /** Gives a free slot to a run that waits here and is offered to all processes. */
  admit(runId: string): boolean {
    const waiter = this.offeredRuns.get(runId);
    if (waiter === undefined || this.full) return false;
    this.line.began(waiter);
    this.line.delete(waiter);
    this.letIn(waiter);
    return true;
  }

  /** Gives a slot back. What waits in this process only has it at once; what is offered to all is looked up first. */
  leave(entrant: Entrant): void {
    this.taken -= 1;
    this.line.ended(entrant);
    this.handOver((waiter) => !waiter.offered);
  }

  /** Gives the free slots to what waits here, until the next in line does not get one. */
  handOver(gets: (next: Waiter) => boolean = () => true): void {
    while (!this.full) {
      const now = Date.now();
      const next = this.line.peek(now);
      if (next === undefined || !gets(next)) return;
      this.line.take(now);
      this.letIn(next);
    }
  }

  private letIn(waiter: Waiter): void {
    this.offeredRuns.delete(waiter.runId);
    this.taken += 1;
    waiter.enter();
  }

  private get before(): number {
    return this.executing + this.waiting + this.arriving;
  }
}

/** What a run is in line. */
export function entrantOf({ runId, userId, kind, componentId, input }: Run): Entrant {
  const level = levelOf(input.options.priority);
  const now = Date.now();
  return { runId, userId, component: componentKey(kind, componentId), level, since: now, order: now };
}

/** The slot that a run has taken, which it may leave for a while. */
export class HeldSlot {
  private held = true;

  constructor(
    private readonly slots: RunSlots,
    /** The live run, not its record: the record is replaced with each change, and the first one would stay in memory. */
    private readonly holder: { readonly run: Run; readonly abort: Abortable },
    /** Called when another run can have it. */
    private readonly onLeft: () => void,
  ) {}

  /** Does work that only waits, without a slot, and then waits for one. */
  async outside<T>(work: () => Promise<T>): Promise<T> {
    if (!this.held) return work();
    this.leave();
    this.onLeft();
    try {
      return await work();
    } finally {
      await this.slots.enter(entrantOf(this.holder.run), this.holder.abort);
      this.held = true;
    }
  }

  leave(): void {
    if (this.held) this.slots.leave(entrantOf(this.holder.run));
    this.held = false;
  }
}

/** The slots of a process, and those that only runs of some components take. */
export interface SlotsByComponent {
  readonly slots: RunSlots;
  /** By `componentKey`: runs of these components neither wait for the others nor keep them waiting. */
  readonly ownSlots?: ReadonlyMap<string, RunSlots>;
}

/** The slots that the runs of a component take, as `componentKey` names it. */
export function slotsOf({ slots, ownSlots }: SlotsByComponent, component: string): RunSlots {
  return ownSlots?.get(component) ?? slots;
}

export function slotsOfRun(options: SlotsByComponent, { kind, componentId }: Run): RunSlots {
  return options.ownSlots === undefined ? options.slots : slotsOf(options, componentKey(kind, componentId));
}

function allSlots({ slots, ownSlots }: SlotsByComponent): readonly RunSlots[] {
  return ownSlots === undefined ? [slots] : [slots, ...ownSlots.values()];
}

/** Whether a slot is free for which runs wait here that are offered to all processes. */
export function awaitsOffered(options: SlotsByComponent): boolean {
  return allSlots(options).some((slots) => slots.hasOffered && !slots.full);
}

/** Gives the free slots to the runs that wait for them in this process. */
export function handOver(options: SlotsByComponent): void {
  for (const slots of allSlots(options)) slots.handOver();
}

/** In how many slots a run of some component could begin now. */
export function freeSlots(options: SlotsByComponent): number {
  return allSlots(options).reduce((sum, { free }) => sum + Math.max(0, free), 0);
}

/** Whether no run of any component could begin now. */
export function areFull(options: SlotsByComponent): boolean {
  return freeSlots(options) === 0;
}

export function unlimitedSlots(): RunSlots {
  return new RunSlots({ executing: Number.POSITIVE_INFINITY, waiting: 0 });
}
