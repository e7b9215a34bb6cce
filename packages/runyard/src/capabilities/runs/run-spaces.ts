import { standIn } from '../../core/components/stand-in.js';
import { errors } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import type { Log } from '../../core/log.js';
import type { ModelPrices } from '../../core/models/prices.js';
import type { OrphanOptions } from '../../core/runs/ending-executable.js';
import { type EngineOptions, RunEngine } from '../../core/runs/engine.js';
import type { EngineCondition } from '../../core/runs/engine-condition.js';
import type { Executable } from '../../core/runs/executable.js';
import type { AnyLimits } from '../../core/runs/limits/run-limits.js';
import type { Run } from '../../core/runs/run.js';
import type { RunSlots } from '../../core/runs/run-slots.js';
import { isLeaseOwnerGone, newLeaseOwner } from '../../platform/engine/local/lease-owner.js';
import { systemTimers } from '../../platform/engine/local/timers.js';
import type { DatabaseQuery } from '../../platform/http/database-query.js';
import type { Database } from '../../platform/storage/database.js';
import { schemaStatus } from '../../platform/storage/migrations/migrate.js';
import { type DatabaseProbe, probeDatabase } from '../../platform/storage/probe.js';
import type { Schema } from '../../platform/storage/schema.js';
import { isTransientStorageError } from '../../platform/storage/transient.js';
import { DatabaseApprovals } from '../approvals/service.js';
import { DatabaseLearnings } from '../learnings/service.js';
import { type MediaOptions, MediaService } from '../media/service.js';
import { DatabaseMemories } from '../memory/service.js';
import { DatabaseMetrics } from '../metrics/service.js';
import { DatabaseSessions } from '../sessions/database-service.js';
import { DatabaseTraces } from '../traces/database-service.js';
import { OrphanStore } from './orphan-store.js';
import { StoredPastSessions } from './past-sessions.js';
import { rebuiltEvents } from './rebuilt-events.js';
import { SessionRunStore } from './session-run-store.js';
import { RunStore } from './store.js';

/** A database with what executes the runs that are stored in it. */
export interface RunSpace {
  readonly databaseId: string;
  readonly runs: RunStore;
  readonly sessions: DatabaseSessions;
  readonly sessionRuns: SessionRunStore;
  readonly media: MediaService;
  readonly approvals: DatabaseApprovals;
  readonly traces: DatabaseTraces;
  readonly metrics: DatabaseMetrics;
  readonly learnings: DatabaseLearnings;
  readonly memories: DatabaseMemories;
  readonly orphans: OrphanStore;
  readonly engine: RunEngine;
}

export interface RunSpacesOptions {
  /** The service's own database first. */
  readonly databases: readonly Database[];
  readonly leaseMs: number;
  readonly log: Log;
  readonly prices: ModelPrices;
  /** What the service allows each run. Left out: what the defaults say. */
  readonly limits?: AnyLimits;
  /** Whether the traces of runs are recorded. */
  readonly traces: boolean;
  /** Hears of each run that has come to rest in this process. */
  readonly onRest?: EngineOptions['onRest'];
  /** Shared by all spaces: the bound is that of the process. */
  readonly slots: RunSlots;
  /** Fetches media that callers name by URL; left out, they are not fetched. */
  readonly fetchMedia?: MediaOptions['fetch'];
  /** What becomes of runs whose component is not registered. */
  readonly orphans: Omit<OrphanOptions, 'journal' | 'standIn'>;
  /** What executes a stored run; `state` reads the state of its session. */
  readonly resolve: (
    run: Run,
    state: () => Promise<JsonObject>,
  ) => Promise<Executable | undefined> | Executable | undefined;
}

/** What the readiness check asks of a space. */
export interface SpaceParts {
  readonly databaseId: string;
  probe(): Promise<DatabaseProbe>;
  engine(): EngineCondition;
}

/** The tables that a request may name. All of them are in every database. */
const namedTables: ReadonlySet<string> = new Set<keyof Schema>([
  'sessions',
  'memories',
  'learnings',
  'daily_metrics',
]);

/** One run space for each registered database. */
export class RunSpaces {
  private readonly spaces: ReadonlyMap<string, RunSpace & { readonly database: Database }>;
  private readonly ready = new Set<string>();
  private readonly opened = new Map<string, Promise<void>>();

  constructor(private readonly options: RunSpacesOptions) {
    this.spaces = new Map(options.databases.map((database) => [database.id, newSpace(database, options)]));
  }

  /** Notes which databases have the schema of this version, and takes up the runs that are waiting in them. */
  async open(): Promise<void> {
    for (const space of this.spaces.values()) {
      if (await this.openIfReady(space)) continue;
      this.options.log.warn({ database: space.databaseId }, notMigrated(space).message);
    }
  }

  /** The space of the named database, or the service's own. Refused while its schema is an older one. */
  async get(databaseId: string | undefined): Promise<RunSpace> {
    const space = databaseId === undefined ? [...this.spaces.values()][0] : this.spaces.get(databaseId);
    if (space === undefined)
      throw errors.invalidConfig(`No database is registered under the id '${databaseId}'.`);
    if (!this.ready.has(space.databaseId) && !(await this.openIfReady(space))) {
      throw notMigrated(space);
    }
    return space;
  }

  /** The space that a request chooses with `db_id` and `table`. There is something to choose only if there are several. */
  async choose({ db_id: databaseId, table }: DatabaseQuery): Promise<RunSpace> {
    const known = [...this.spaces.keys()];
    if (databaseId === undefined) {
      if (table !== undefined) throw errors.tableWithoutDatabase();
      if (known.length > 1) throw errors.databaseRequired();
      return this.get(undefined);
    }
    if (!this.spaces.has(databaseId)) throw errors.databaseUnknown(databaseId);
    if (table !== undefined && !namedTables.has(table)) throw errors.tableUnknown(databaseId, table);
    return this.get(databaseId);
  }

  /** The spaces of all databases. Refused while one of them has an older schema. */
  all(): Promise<readonly RunSpace[]> {
    return Promise.all(Array.from(this.spaces.keys(), (databaseId) => this.get(databaseId)));
  }

  /** Each database, to be asked how it and its engine are. */
  parts(): readonly SpaceParts[] {
    return Array.from(this.spaces.values(), (space) => ({
      databaseId: space.databaseId,
      probe: async () => {
        const probe = await probeDatabase(space.database);
        // migrated from outside: nobody sends requests here, which would open it, before it is ready
        if (!this.ready.has(space.databaseId)) await this.openIfReady(space);
        return probe;
      },
      engine: () => space.engine.condition,
    }));
  }

  async stop(graceMs: number): Promise<void> {
    const spaces = [...this.spaces.values()];
    await Promise.all(spaces.flatMap(({ engine, metrics }) => [engine.stop(graceMs), metrics.stop()]));
  }

  private async openIfReady(space: RunSpace & { readonly database: Database }): Promise<boolean> {
    const { pending } = await schemaStatus(space.database);
    if (pending.length > 0) return false;
    const opening = this.opened.get(space.databaseId) ?? space.engine.open();
    this.opened.set(space.databaseId, opening);
    try {
      await opening;
    } catch (error) {
      // the next one who needs it tries again
      this.opened.delete(space.databaseId);
      throw error;
    }
    this.ready.add(space.databaseId);
    return true;
  }
}

function newSpace(
  database: Database,
  {
    traces,
    leaseMs,
    log,
    prices,
    limits = {},
    slots,
    resolve,
    onRest,
    fetchMedia,
    orphans,
  }: RunSpacesOptions,
) {
  const runs = new RunStore(database, { traces });
  const media = new MediaService(database, { fetch: fetchMedia });
  const sessions = new DatabaseSessions(database);
  const sessionRuns = new SessionRunStore(database);
  const approvals = new DatabaseApprovals(database);
  const tracesOfRuns = new DatabaseTraces(database, runs);
  const metrics = new DatabaseMetrics(database, { timers: systemTimers, log });
  const learnings = new DatabaseLearnings(database);
  const memories = new DatabaseMemories(database);
  const orphanStore = new OrphanStore(database);
  const owner = newLeaseOwner();
  const engine = new RunEngine({
    journal: runs,
    ports: {
      media: media.contents,
      memories,
      learnings: learnings.ofRuns,
      pastSessions: new StoredPastSessions(sessions, runs),
    },
    timers: systemTimers,
    log,
    prices,
    limits,
    owner,
    leaseMs,
    slots,
    isTransient: isTransientStorageError,
    assertWritable: () => database.assertWritable(),
    ...(onRest !== undefined && { onRest }),
    rebuiltEvents: async (runId) => {
      const stored = await runs.load(runId);
      return stored === undefined ? [] : rebuiltEvents(stored);
    },
    resolve: (run) => resolve(run, async () => (await runs.session(run.sessionId))?.state ?? {}),
    orphans: { ...orphans, journal: orphanStore, standIn },
    ...(database.dialect === 'sqlite' && { isGone: isLeaseOwnerGone, alone: true }),
  });
  return {
    database,
    databaseId: database.id,
    runs,
    sessions,
    sessionRuns,
    media,
    approvals,
    traces: tracesOfRuns,
    metrics,
    learnings,
    memories,
    orphans: orphanStore,
    engine,
  };
}

function notMigrated({ databaseId }: RunSpace) {
  return errors.notReady(databaseId, 'runyard migrate');
}
