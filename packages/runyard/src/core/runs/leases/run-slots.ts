import { Semaphore } from '../../concurrency.js';
import { errors } from '../../errors/errors.js';
import { componentKey } from '../resume/ending-executable.js';
import type { Run } from '../run.js';

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

/** Bounds how many runs a process executes at once; the others wait in the order in which they came. */
export class RunSlots extends Semaphore {
  /** Runs that are not stored yet and will take a slot, or wait for one. */
  private arriving = 0;

  constructor(readonly limits: SlotLimits) {
    super(limits.executing);
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

  private get before(): number {
    return this.executing + this.waiting + this.arriving;
  }
}

/** The slot that a run has taken, which it may leave for a while. */
export class HeldSlot {
  private held = true;

  constructor(
    private readonly slots: RunSlots,
    private readonly signal: AbortSignal,
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
      await this.slots.enter(this.signal);
      this.held = true;
    }
  }

  leave(): void {
    if (this.held) this.slots.leave();
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

/** Whether no run of any component could begin now. */
export function areFull({ slots, ownSlots }: SlotsByComponent): boolean {
  if (!slots.full) return false;
  for (const own of ownSlots?.values() ?? []) if (!own.full) return false;
  return true;
}

export function unlimitedSlots(): RunSlots {
  return new RunSlots({ executing: Number.POSITIVE_INFINITY, waiting: 0 });
}
