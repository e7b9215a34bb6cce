import { errors } from '../../core/errors/errors.js';
import type { EvalCase } from '../../core/evals/eval-case.js';
import type { Caller } from '../../platform/auth/caller.js';
import type { Database } from '../../platform/storage/database.js';
import { CaseStore } from './case-store.js';
import { DatasetStore } from './store.js';
import type { StoredDataset } from './stored-dataset.js';

/** How an eval names a dataset. A name means the caller's own one. */
export type DatasetReference = { readonly id: string } | { readonly name: string };

/** A dataset with all its cases, as they were at one revision. */
export interface DatasetCases {
  readonly id: string;
  readonly name: string;
  readonly revision: number;
  readonly cases: readonly EvalCase[];
}

const mostAttempts = 5;

/** The datasets of one database. */
export class DatabaseDatasets {
  readonly store: DatasetStore;
  readonly cases: CaseStore;

  constructor(database: Database) {
    this.store = new DatasetStore(database);
    this.cases = new CaseStore(database);
  }

  /** The cases of a dataset that the caller may see, in their order; `datasetBounds` bounds them. */
  async casesOf(caller: Caller, reference: DatasetReference): Promise<DatasetCases> {
    let dataset = await this.find(caller, reference);
    for (let attempt = 0; attempt < mostAttempts; attempt++) {
      const cases: EvalCase[] = [];
      for await (const stored of this.cases.all(dataset.id)) cases.push(stored.case);
      const now = await this.find(caller, { id: dataset.id });
      // a dataset that changed while it was read is read again: half of a change was never there
      if (now.revision === dataset.revision)
        return { id: now.id, name: now.name, revision: now.revision, cases };
      dataset = now;
    }
    throw errors.datasetChanging(dataset.name);
  }

  private async find({ scope, userId }: Caller, reference: DatasetReference): Promise<StoredDataset> {
    if ('id' in reference) {
      const found = await this.store.find(scope, reference.id);
      if (found === undefined) throw errors.datasetNotFound(reference.id);
      return found;
    }
    const owner = scope.kind === 'unowned' ? null : userId;
    const found = await this.store.named(owner, reference.name);
    if (found === undefined) throw errors.datasetNameNotFound(reference.name);
    return found;
  }
}
