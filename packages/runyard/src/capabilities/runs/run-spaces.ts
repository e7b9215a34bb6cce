import { standIn } from '../../core/components/stand-in.js';
import { errors } from '../../core/errors/errors.js';
import { RunEngine } from '../../core/runs/engine.js';
import type { EngineCondition } from '../../core/runs/engine-condition.js';
import { Jobs } from '../../core/runs/jobs/jobs.js';
import type { RunPorts } from '../../core/runs/run-ports.js';
import { isLeaseOwnerGone, newLeaseOwner } from '../../platform/engine/local/lease-owner.js';
import { systemTimers } from '../../platform/engine/local/timers.js';
import type { DatabaseQuery } from '../../platform/http/request/database-query.js';
import { serviceLimits } from '../../platform/run-limit-settings.js';
import type { Database } from '../../platform/storage/database.js';
import { schemaStatus } from '../../platform/storage/migrations/migrate.js';
import { type DatabaseProbe, probeDatabase } from '../../platform/storage/probe.js';
import { isTransientStorageError } from '../../platform/storage/transient.js';
import type { DatabasePart, RunSpace, ServiceSite, Spaces } from '../capability.js';
import { rebuiltEvents } from './events/rebuilt-events.js';

type SpaceSite = Omit<ServiceSite, 'spaces'>;

/** What the readiness check asks of a space. */
export interface SpaceParts {
  readonly databaseId: string;
  probe(): Promise<DatabaseProbe>;
  engine(): EngineCondition;
}

interface BuiltSpace {
  readonly space: RunSpace;
  readonly database: Database;
  /** The engine, and what each capability has here. */
  readonly parts: readonly DatabasePart[];
  /** How many of them have started. */
  started: number;
  starting: Promise<void> | undefined;
}

/** One run space for each registered database. */
export class RunSpaces implements Spaces {
  private readonly spaces = new Map<string, BuiltSpace>();

  constructor(private readonly site: SpaceSite) {}

  /**
   * Notes which databases have the schema of this version, and takes up the runs that are waiting in them. `jobs`: takes
   * up the jobs alone, and leaves runs and all else that happens in the background to a service.
   */
  async open(takesUp: 'everything' | 'jobs' = 'everything'): Promise<void> {
    for (const database of this.site.databases)
      this.spaces.set(database.id, built(database, this.site, takesUp));
    for (const built of this.spaces.values()) {
      if (await startIfReady(built)) continue;
      this.site.log.warn({ database: built.database.id }, notMigrated(built).message);
    }
  }

  async get(databaseId: string | undefined): Promise<RunSpace> {
    const built = databaseId === undefined ? [...this.spaces.values()][0] : this.spaces.get(databaseId);
    if (built === undefined)
      throw errors.invalidConfig(`No database is registered under the id '${databaseId}'.`);
    if (!(await startIfReady(built))) throw notMigrated(built);
    return built.space;
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

  /** Each database, to be asked how it and its engine are. */
  parts(): readonly SpaceParts[] {
    return Array.from(this.spaces.values(), (built) => ({
      databaseId: built.database.id,
      probe: async () => {
        const probe = await probeDatabase(built.database);
        // migrated from outside: no request, which would open it, arrives before it is ready
        await startIfReady(built);
        return probe;
      },
      engine: () => built.space.engine.condition,
    }));
  }

  async stop(graceMs: number): Promise<void> {
    const parts = [...this.spaces.values()].flatMap(({ parts }) => parts);
    await Promise.all(parts.map((part) => part.stop?.(graceMs)));
  }
}

/** What the capabilities have in a database, and what executes its runs. */
function built(database: Database, site: SpaceSite, takesUp: 'everything' | 'jobs'): BuiltSpace {
  // the loop adds the parts of the capabilities one after the other: each finds those before it
  const space = { databaseId: database.id } as RunSpace;
  const parts: DatabasePart[] = [];
  for (const capability of site.opened) {
    const part = capability.inDatabase?.(database, space) ?? {};
    Object.assign(space, part.parts);
    parts.push(part);
  }
  const engine = newEngine(database, space, parts, site);
  const jobs = newJobs(database, space, parts, site);
  Object.assign(space, { engine, jobs });
  const executing: DatabasePart = { start: () => engine.open(), stop: (graceMs) => engine.stop(graceMs) };
  const working: DatabasePart = { start: () => jobs.open(), stop: () => jobs.stop() };
  const begun = takesUp === 'jobs' ? [working] : [executing, ...parts, working];
  return { space, database, parts: begun, started: 0, starting: undefined };
}

/** Whether the database has the schema of this version. What a capability does there begins only then. */
async function startIfReady(built: BuiltSpace): Promise<boolean> {
  const { database, parts } = built;
  if (built.started === parts.length) return true;
  if ((await schemaStatus(database)).pending.length > 0) return false;
  // one that fails is tried again by the next one who needs the database
  built.starting ??= startRooms(built).finally(() => {
    built.starting = undefined;
  });
  await built.starting;
  return true;
}

async function startRooms(built: BuiltSpace): Promise<void> {
  for (; built.started < built.parts.length; built.started += 1) await built.parts[built.started]?.start?.();
}

function newEngine(
  database: Database,
  { runs, orphans }: RunSpace,
  parts: readonly DatabasePart[],
  site: SpaceSite,
): RunEngine {
  const { settings, components, slots } = site;
  const listeners = parts.flatMap(({ onRest }) => onRest ?? []);
  return new RunEngine({
    ...surroundings(database, parts, site),
    journal: runs,
    leases: runs.leases,
    queue: runs.queue,
    limits: serviceLimits(settings),
    slots,
    ...(listeners.length > 0 && {
      onRest: (rested) => {
        for (const hears of listeners) hears(rested);
      },
    }),
    rebuiltEvents: async (runId) => {
      const stored = await runs.load(runId);
      return stored === undefined ? [] : rebuiltEvents(stored);
    },
    resolve: (run) =>
      components.executableOf(run, async () => (await runs.session(run.sessionId))?.state ?? {}),
    orphans: {
      components: () => components.keys(),
      endAfterMs: settings.orphanedRunsMs,
      journal: orphans,
      standIn,
    },
    ...(database.dialect === 'sqlite' && { alone: true }),
  });
}

/** What executes the jobs of a database. */
function newJobs(
  database: Database,
  { jobRows }: RunSpace,
  parts: readonly DatabasePart[],
  site: SpaceSite,
): Jobs {
  return new Jobs({
    ...surroundings(database, parts, site),
    journal: jobRows,
    leases: jobRows.leases,
    queue: jobRows.queue,
    slots: site.jobSlots,
    jobs: parts.flatMap(({ jobs }) => jobs ?? []),
    orphans: { journal: jobRows.orphans, endAfterMs: site.settings.orphanedRunsMs },
  });
}

/** What runs and jobs of a database have around them alike. */
function surroundings(
  database: Database,
  parts: readonly DatabasePart[],
  { settings, log, prices }: SpaceSite,
) {
  const ports: RunPorts = Object.assign({}, ...parts.map((part) => part.ports));
  return {
    notifications: database.notifications,
    ports,
    timers: systemTimers,
    log,
    prices,
    owner: newLeaseOwner(),
    leaseMs: settings.leaseMs,
    isTransient: isTransientStorageError,
    assertWritable: () => database.assertWritable(),
    ...(database.dialect === 'sqlite' && { isGone: isLeaseOwnerGone }),
  };
}

function notMigrated({ database }: BuiltSpace) {
  return errors.notReady(database.id, 'runyard migrate');
}
