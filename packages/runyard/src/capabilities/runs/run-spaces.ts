import { errors } from '../../core/errors/errors.js';
import type { EngineCondition } from '../../core/runs/engine-condition.js';
import type { DatabaseQuery } from '../../platform/http/request/database-query.js';
import type { PoolUse } from '../../platform/storage/database.js';
import type { DatabaseProbe } from '../../platform/storage/probe.js';
import type { SchemaGate } from '../../platform/storage/schema-gate.js';
import type { RunSpace, SpaceDatabase, Spaces } from '../capability.js';
import { DatabaseSpace, type SpaceSite, type TakesUp } from './database-space.js';

/** What the readiness check asks of a space. */
export interface SpaceParts {
  readonly databaseId: string;
  probe(): Promise<DatabaseProbe>;
  engine(): EngineCondition;
  pools(): readonly PoolUse[];
  /** Whether the Redis beside it can be used; undefined where there is none. */
  redis(): boolean | undefined;
}

/** One run space for each registered database. */
export class RunSpaces implements Spaces {
  private readonly spaces = new Map<string, DatabaseSpace>();

  constructor(
    private readonly site: SpaceSite,
    private readonly gates: readonly SchemaGate[],
  ) {}

  /**
   * Notes which databases have the schema of this version, and takes up the runs that are waiting in them, or less.
   */
  async open(takesUp: TakesUp = 'everything'): Promise<void> {
    for (const gate of this.gates)
      this.spaces.set(gate.inner.id, new DatabaseSpace(gate, this.site, takesUp));
    for (const space of this.spaces.values()) await space.open();
  }

  get(databaseId: string | undefined): RunSpace | Promise<RunSpace> {
    const [first] = this.spaces.values();
    const space = databaseId === undefined ? first : this.spaces.get(databaseId);
    if (space !== undefined) return space.ready();
    return Promise.reject(errors.invalidConfig(`No database is registered under the id '${databaseId}'.`));
  }

  async choose({ db_id: databaseId, table }: DatabaseQuery): Promise<RunSpace> {
    const known = [...this.spaces.keys()];
    if (databaseId === undefined) {
      if (table !== undefined) throw errors.tableWithoutDatabase();
      if (known.length > 1) throw errors.databaseRequired();
      return this.get(undefined);
    }
    if (!this.spaces.has(databaseId)) throw errors.databaseUnknown(databaseId);
    // all tables are in every database
    const isTable = this.site.capabilities.some(({ section }) => section?.table === table);
    if (table !== undefined && !isTable) throw errors.tableUnknown(databaseId, table);
    return this.get(databaseId);
  }

  all(): Promise<readonly RunSpace[]> {
    return Promise.all(Array.from(this.spaces.keys(), (databaseId) => this.get(databaseId)));
  }

  databases(): readonly SpaceDatabase[] {
    return [...this.spaces.values()];
  }

  /** Each database, to be asked how it and its engine are. */
  parts(): readonly SpaceParts[] {
    return Array.from(this.spaces, ([databaseId, space]) => ({
      databaseId,
      probe: () => space.probe(),
      engine: () => space.engine(),
      pools: () => space.database.pools,
      redis: () => space.database.redis?.connection.isReachable,
    }));
  }

  async stop(graceMs: number): Promise<void> {
    await Promise.all(Array.from(this.spaces.values(), (space) => space.stop(graceMs)));
  }
}
