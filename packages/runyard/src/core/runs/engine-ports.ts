import type { RunJournal } from './journal/ports.js';
import type { RunLeases } from './leases/run-leases.js';
import type { RunQueue } from './leases/run-queue.js';
import type { RunNotifications } from './notifications/run-notifications.js';

/** What an engine needs from storage, and from the other processes that use the same storage. */
export interface EnginePorts {
  readonly journal: RunJournal;
  readonly leases: RunLeases;
  readonly queue: RunQueue;
  readonly notifications: RunNotifications;
}
