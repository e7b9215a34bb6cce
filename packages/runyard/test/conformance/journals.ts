import { describe } from 'vitest';
import { RunStore } from '../../src/capabilities/runs/storage/store.js';
import { MemoryJournal } from '../../src/core/runs/journal/memory-journal.js';
import type { RunJournal } from '../../src/core/runs/journal/ports.js';
import type { RunLeases } from '../../src/core/runs/leases/run-leases.js';
import type { RunQueue } from '../../src/core/runs/leases/run-queue.js';
import { forEachDatabase } from '../support/databases.js';

/** The ports of one storage. */
export interface JournalWithLeases extends RunJournal {
  readonly leases: RunLeases;
  readonly queue: RunQueue;
}

/** Defines the same tests for every journal there is: one per kind of database, and the one in memory. */
export function forEachJournal(define: (aJournal: () => Promise<JournalWithLeases>) => void): void {
  describe('in memory', () =>
    define(async () => {
      const journal = new MemoryJournal();
      return Object.assign(journal, { leases: journal, queue: journal });
    }));
  forEachDatabase((_dialect, freshPlace) => {
    define(async () => new RunStore(await (await freshPlace()).open()));
  });
}
