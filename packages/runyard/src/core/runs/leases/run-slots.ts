import { Semaphore } from '../../concurrency.js';
import { errors } from '../../errors/errors.js';

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

export function unlimitedSlots(): RunSlots {
  return new RunSlots({ executing: Number.POSITIVE_INFINITY, waiting: 0 });
}
