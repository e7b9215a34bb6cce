import type { RunKind } from '../../../core/runs/run.js';
import { type Database, statement } from '../../../platform/storage/database.js';
import type { ComponentsTable } from '../tables.js';
import { ComponentChange, type Run } from './component-change-store.js';
import { componentFromRow } from './rows-store.js';
import type { Editing, StoredComponent } from './stored-component.js';

/** A component to create. */
export interface NewComponent {
  readonly id: string;
  readonly kind: RunKind;
  readonly name: string;
  readonly description: string | null;
  readonly metadata: StoredComponent['metadata'];
}

/** What a change led to. */
export interface Changed<Result> {
  readonly component: StoredComponent;
  readonly result: Result;
}

/**
 * Until the transaction ends, nobody else changes a component. Locks of rows would let two wait for each other whose
 * components pin one another. SQLite has one writer at a time.
 */
const takeTurn = `SELECT pg_advisory_xact_lock(hashtextextended('runyard_components:' || current_schema(), 0))`;

/**
 * Changes stored components. Each change is one transaction, and one after the other: what a change was checked against,
 * other components included, is still true when it is stored.
 */
export class ComponentChangeStore {
  constructor(private readonly database: Database) {}

  /**
   * Makes a component, or takes up the one that has the id: `work` decides whether that is possible. Its first version
   * is a part of the work.
   */
  create<Result>(
    { id, kind, name, description, metadata }: NewComponent,
    { by, at }: Editing,
    work: (change: ComponentChange, isNew: boolean) => Promise<Result>,
  ): Promise<Changed<Result>> {
    return this.#transaction(async (run) => {
      const inserted = await run<ComponentsTable>(
        `INSERT INTO components (component_id, component_type, name, description, metadata, current_version,
            last_version, revision, changes, created_by, updated_by, created_at, updated_at, deleted_at)
          VALUES (?, ?, ?, ?, ?, NULL, 0, 0, 1, ?, ?, ?, NULL, NULL)
          ON CONFLICT (component_id) DO NOTHING RETURNING *`,
        [id, kind, name, description, metadata && JSON.stringify(metadata), by, by, at],
      );
      // what made the insertion a conflict is there: rows of components stay
      const row = inserted[0] ?? (await begun(run, id))!;
      const change = new ComponentChange(run, componentFromRow(row), { by, at });
      return finished(change, await work(change, inserted.length > 0));
    });
  }

  /** Changes a component, which may be a deleted one. */
  change<Result>(
    id: string,
    editing: Editing,
    missing: () => Error,
    work: (change: ComponentChange) => Promise<Result>,
  ): Promise<Changed<Result>> {
    return this.#transaction(async (run) => {
      const row = await begun(run, id);
      if (row === undefined) throw missing();
      const change = new ComponentChange(run, componentFromRow(row), editing);
      return finished(change, await work(change));
    });
  }

  #transaction<Result>(work: (run: Run) => Promise<Result>): Promise<Result> {
    const { dialect } = this.database;
    return this.database.transaction(async (run) => {
      if (dialect === 'postgres') await run(takeTurn);
      return work((sql, parameters) => run(statement('component_change', sql)[dialect], parameters));
    });
  }
}

async function finished<Result>(change: ComponentChange, result: Result): Promise<Changed<Result>> {
  await change.finish();
  return { component: change.component, result };
}

/** The row of a component, with one more change. */
async function begun(run: Run, id: string): Promise<ComponentsTable | undefined> {
  const [row] = await run<ComponentsTable>(
    'UPDATE components SET changes = changes + 1 WHERE component_id = ? RETURNING *',
    [id],
  );
  return row;
}
