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
export class RunSlots {
  private taken = 0;
  /** Runs that are not stored yet and will take a slot, or wait for one. */
  private arriving = 0;
  private readonly queue = new Set<() => void>();

  constructor(readonly limits: SlotLimits) {}

  get executing(): number {
    return this.taken;
  }

  get waiting(): number {
    return this.queue.size;
  }

  /** Whether a run that came now would have to wait. */
  get full(): boolean {
    return this.taken >= this.limits.executing;
  }

  /** Keeps a place for a new run while it is made; refuses one that would have to wait behind too many others. */
  arrive(): Place {
    const { executing, waiting } = this.limits;
    if (this.before >= executing + waiting) throw errors.tooManyRuns(this.queue.size);
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
    return this.taken + this.queue.size + this.arriving;
  }

  /** Takes a slot: at once (undefined), or when the promise resolves. It rejects when the signal aborts first. */
  enter(signal: AbortSignal): Promise<void> | undefined {
    signal.throwIfAborted();
    if (!this.full) {
      this.taken += 1;
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        this.queue.delete(enter);
        reject(signal.reason);
      };
      this.queue.add(enter);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  /** Gives a slot back: to the one who has waited longest, if anybody waits. */
  leave(): void {
    const [next] = this.queue;
    if (next === undefined) {
      this.taken -= 1;
      return;
    }
    this.queue.delete(next);
    next();
  }
}

export function unlimitedSlots(): RunSlots {
  return new RunSlots({ executing: Number.POSITIVE_INFINITY, waiting: 0 });
}
