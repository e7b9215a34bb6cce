import { errors } from '../../../core/errors/errors.js';
import { componentKey } from '../../../core/runs/resume/ending-executable.js';
import type { ConfigVersion, RunKind } from '../../../core/runs/run.js';
import type { Database } from '../../../platform/storage/database.js';
import { schemaStatus } from '../../../platform/storage/migrations/migrate.js';
import type { StoredComponents, StoredConfig } from '../stored-components.js';
import { SharedReads } from './shared-reads.js';

/** The stored components of a database that may wait for its migration. */
export class ReadyComponents implements StoredComponents {
  #isReady = false;
  /** Each run reads what is current. */
  readonly #found = new SharedReads<StoredConfig | undefined>();

  constructor(
    private readonly database: Database,
    private readonly stored: StoredComponents,
  ) {}

  async find(kind: RunKind, id: string, version?: number): Promise<StoredConfig | undefined> {
    await this.#assertReady();
    const key = `${componentKey(kind, id)} ${version ?? ''}`;
    return this.#found.get(key, () => this.stored.find(kind, id, version));
  }

  async ids(kind: RunKind): Promise<readonly string[]> {
    await this.#assertReady();
    return this.stored.ids(kind);
  }

  async at(kind: RunKind, id: string, state: ConfigVersion): Promise<StoredConfig | undefined> {
    await this.#assertReady();
    return this.stored.at(kind, id, state);
  }

  async *pages(kind: RunKind): AsyncGenerator<readonly StoredConfig[], void, void> {
    await this.#assertReady();
    yield* this.stored.pages(kind);
  }

  /** Engines of other databases ask, too: for them there are none yet. */
  async keys(): Promise<readonly string[]> {
    return (await this.#ready()) ? this.stored.keys() : [];
  }

  async #assertReady(): Promise<void> {
    if (!(await this.#ready())) throw errors.notReady(this.database.id, 'runyard migrate');
  }

  async #ready(): Promise<boolean> {
    this.#isReady ||= (await schemaStatus(this.database)).pending.length === 0;
    return this.#isReady;
  }
}
