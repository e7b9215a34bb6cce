import type { DataScope } from '../../platform/auth/caller.js';
import type { Database } from '../../platform/storage/database.js';
import { LiveEvalStore, type StoredScore } from './store.js';

export type { StoredScore } from './store.js';

/** The scores that live evals gave to the runs of one database. */
export class RunScores {
  readonly #store: LiveEvalStore;

  constructor(database: Database) {
    this.#store = new LiveEvalStore(database);
  }

  /** By the ids of the runs; those without scores are left out. */
  of(scope: DataScope, runIds: readonly string[]): Promise<ReadonlyMap<string, readonly StoredScore[]>> {
    return this.#store.ofRuns(scope, runIds);
  }
}
