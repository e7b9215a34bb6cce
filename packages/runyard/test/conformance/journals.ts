import { describe } from 'vitest';
import { RunStore } from '../../src/capabilities/runs/storage/store.js';
import { MemoryJournal } from '../../src/core/runs/journal/memory-journal.js';
import type { RunJournal } from '../../src/core/runs/journal/ports.js';
import { forEachDatabase } from '../support/databases.js';

/** Defines the same tests for every journal there is: one per kind of database, and the one in memory. */
export function forEachJournal(define: (aJournal: () => Promise<RunJournal>) => void): void {
  describe('in memory', () => define(async () => new MemoryJournal()));
  forEachDatabase((_dialect, freshPlace) => {
    define(async () => new RunStore(await (await freshPlace()).open()));
  });
}
