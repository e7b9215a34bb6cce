import type { Log } from '../log.js';
import type { ModelPrices } from '../models/prices.js';
import type { Timers } from '../timers.js';
import type { EventRelay } from './events/event-relay.js';
import type { LoggedEvent } from './events/logged-event.js';
import type { Executable } from './executable.js';
import type { RunObserver } from './execution/run-observer.js';
import type { ForgetRules } from './forgetting/forgetting.js';
import type { RunJournal } from './journal/ports.js';
import type { RunLeases } from './leases/run-leases.js';
import type { RunQueue } from './leases/run-queue.js';
import type { RunSlots } from './leases/run-slots.js';
import type { AnyLimits } from './limits/run-limits.js';
import type { RunNotifications } from './notifications/run-notifications.js';
import type { WakeUps } from './notifications/wake-ups.js';
import type { OrphanOptions } from './resume/ending-executable.js';
import type { EndedRun, Run } from './run.js';
import type { RunPorts } from './run-ports.js';

/** What an engine needs from storage, and from the other processes that use the same storage. */
interface EnginePorts {
  readonly journal: RunJournal;
  readonly leases: RunLeases;
  readonly queue: RunQueue;
  readonly notifications: RunNotifications;
  /** Left out: readers in other processes get events from the store. */
  readonly relay?: EventRelay | undefined;
  /** Left out: every process with a free slot looks for a run that was queued. */
  readonly wakeUps?: WakeUps | undefined;
}

/** What an engine and its parts are made with. */
export interface EngineOptions extends EnginePorts {
  readonly timers: Timers;
  readonly log: Log;
  readonly ports: RunPorts;
  readonly prices?: ModelPrices;
  /** What the service allows each run. */
  readonly limits?: AnyLimits;
  /** Who holds the leases: unique to this process. */
  readonly owner: string;
  readonly leaseMs: number;
  /** How many runs are executed at once, over all engines of the process. */
  readonly slots: RunSlots;
  /** Those of components that do not share them, by `componentKey`. */
  readonly ownSlots?: ReadonlyMap<string, RunSlots>;
  readonly isTransient: (error: unknown) => boolean;
  /** No other process uses the database: runs that wait for a free slot wait in memory, and need not be offered. */
  readonly alone?: boolean;
  /** The events of an ended run, rebuilt when those that were sent are no longer kept. */
  readonly rebuiltEvents?: (runId: string) => Promise<readonly LoggedEvent[]>;
  /** What is left of the records of runs that do not keep everything. Left out: all runs do. */
  readonly forgetRules?: ForgetRules;
  /** Called for each run that was stored as paused or ended here. It must neither fail nor take time. */
  readonly onRest?: (rested: EndedRun) => void;
  /** Counts what happens. Left out: nothing is counted. */
  readonly observer?: RunObserver | undefined;
  /** Finds what executes a stored run; undefined when it is not registered in this process. */
  readonly resolve: (run: Run) => Promise<Executable | undefined> | Executable | undefined;
  /** Throws or rejects while it is known that nothing can be stored, before anything is done for a new run. */
  readonly assertWritable?: () => Promise<void> | undefined;
  /** Set in a service: runs of components that are not registered here are left to other processes, or ended. */
  readonly orphans?: OrphanOptions;
  /** Whether a lease owner is known to be dead, so that its runs need not wait for their leases to end. */
  readonly isGone?: (owner: string) => boolean;
}
