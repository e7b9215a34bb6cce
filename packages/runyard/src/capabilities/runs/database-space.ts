import { forgetRules } from '../../core/agents/forgetting/forget-rules.js';
import { standIn } from '../../core/components/stand-in.js';
import { errors, isReported, type RunyardError } from '../../core/errors/errors.js';
import { RunEngine } from '../../core/runs/engine.js';
import type { EngineCondition } from '../../core/runs/engine-condition.js';
import { Jobs } from '../../core/runs/jobs/jobs.js';
import type { RunPorts } from '../../core/runs/run-ports.js';
import { isLeaseOwnerGone, newLeaseOwner } from '../../platform/engine/local/lease-owner.js';
import { systemTimers } from '../../platform/engine/local/timers.js';
import { serviceLimits } from '../../platform/settings/run-limit-settings.js';
import type { Database } from '../../platform/storage/database.js';
import {
  carryOut,
  plannedChange,
  type SchemaChange,
  type SchemaChangeOptions,
} from '../../platform/storage/migrations/change-schema.js';
import { type SchemaStatus, schemaStatus } from '../../platform/storage/migrations/migrate.js';
import { type DatabaseProbe, probeDatabase } from '../../platform/storage/probe.js';
import type { SchemaGate } from '../../platform/storage/schema-gate.js';
import { isTransientStorageError } from '../../platform/storage/transient.js';
import type { DatabasePart, RunSpace, ServiceSite, SpaceDatabase } from '../capability.js';
import { rebuiltEvents } from './events/rebuilt-events.js';

/**
 * What a process does of what waits in a database: all of it, the jobs alone, or nothing. What it leaves is done by a
 * service.
 */
export type TakesUp = 'everything' | 'jobs' | 'nothing';

export type SpaceSite = Omit<ServiceSite, 'spaces'>;

interface BuiltSpace {
  readonly space: RunSpace;
  /** The engine, and what each capability has here. */
  readonly parts: readonly DatabasePart[];
}

/** A fault of a statement right after a look that found the right schema is one of the code. */
const trustedMs = 1_000;

/**
 * One database of a service. What works on it works only while its schema is the one that this code knows: a process
 * that finds another one gives its runs and jobs to others, refuses writes, and starts again when the schema fits. It
 * looks at the schema now and then, when a hint says so, and when a statement names what is not there.
 */
export class DatabaseSpace implements SpaceDatabase {
  #built: BuiltSpace;
  /** How many of the parts have started. */
  #started = 0;
  #misfit: SchemaStatus | undefined;
  #migrating: 'up' | 'down' | undefined;
  #closed = false;
  /** Looks, which may start and stop the parts, and migrations: one after the other. */
  #turn: Promise<unknown> = Promise.resolve();
  /** A look that has not begun. */
  #nextLook: Promise<void> | undefined;
  #doubted = false;
  #trustedUntil = Number.NEGATIVE_INFINITY;
  #stopWatching: (() => void)[] = [];

  constructor(
    private readonly gate: SchemaGate,
    private readonly site: SpaceSite,
    private readonly takesUp: TakesUp,
  ) {
    this.#built = built(gate.database, site, takesUp);
  }

  /** The database itself, also while the parts of the service may not write to it. */
  get database(): Database {
    return this.gate.inner;
  }

  /** Begins to watch the schema, and starts the parts if it fits. */
  async open(): Promise<void> {
    const { database, site } = this;
    database.askAboutSchema(() => this.#blamesSchema());
    const look = () => void this.look().catch((error: unknown) => this.#report(error));
    this.#stopWatching = [
      systemTimers.every(site.settings.leaseMs / 2, look),
      database.notifications.subscribe(({ kind }) => kind === 'schema_changed' && look()),
    ];
    await this.look();
  }

  /** Refused while the schema is an older one. A process that is older than the schema may read. */
  ready(): RunSpace | Promise<RunSpace> {
    const { parts, space } = this.#built;
    // a misfit stops them, and so does a migration
    return this.#started === parts.length ? space : this.#readyOrRefused();
  }

  async #readyOrRefused(): Promise<RunSpace> {
    const { id } = this.database;
    if (this.#migrating !== undefined) throw errors.migrationInProgress(id);
    await this.look();
    if (this.#misfit !== undefined && isOlder(this.#misfit)) throw this.#refusalOf(this.#misfit);
    return this.#built.space;
  }

  async probe(): Promise<DatabaseProbe> {
    const probe = await probeDatabase(this.database);
    const { current, latest } = probe.schema;
    // migrated from outside: no request, which would open it, arrives before it is ready
    if (current !== latest || this.#started < this.#built.parts.length) await this.look();
    return probe;
  }

  engine(): EngineCondition {
    return this.#built.space.engine.condition;
  }

  /** Looks at the schema, and starts or stops what works here. A look in progress may have read it too early. */
  look(): Promise<void> {
    this.#nextLook ??= this.#inTurn(() => {
      this.#nextLook = undefined;
      return this.#lookNow();
    });
    return this.#nextLook;
  }

  /** Migrates. What works here is stopped first, and starts again if the schema fits afterwards. */
  change(options: SchemaChangeOptions): Promise<SchemaChange> {
    const { database } = this;
    return this.#inTurn(async () => {
      const plan = await plannedChange(database, options);
      if (options.dryRun || plan.parts.length === 0) return carryOut(database, plan, options);
      this.#migrating = plan.to > plan.from ? 'up' : 'down';
      try {
        if (this.#started === 0) return await carryOut(database, plan, options);
        await this.#stopParts();
        // what was stored until then counts, too
        return await carryOut(database, await plannedChange(database, options), options);
      } finally {
        this.#migrating = undefined;
        await this.#lookNow().catch((error: unknown) => this.#report(error));
      }
    });
  }

  async stop(graceMs: number): Promise<void> {
    this.#closed = true;
    for (const stop of this.#stopWatching) stop();
    await this.#turn;
    await Promise.all(this.#built.parts.map((part) => part.stop?.(graceMs)));
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => {});
    return done;
  }

  async #lookNow(): Promise<void> {
    if (this.#closed) return;
    const { database, gate, site } = this;
    const schema = await schemaStatus(database);
    const { current, latest } = schema;
    if (current === latest) {
      if (this.#misfit !== undefined) site.log.info({ database: database.id }, 'the schema fits');
      this.#misfit = undefined;
      if (this.#doubted) this.#trustedUntil = performance.now() + trustedMs;
      this.#doubted = false;
      gate.open();
      return this.#startParts();
    }
    const refusal = this.#refusalOf(schema);
    if (this.#misfit === undefined) site.log.warn({ database: database.id }, refusal.message);
    this.#misfit = schema;
    if (this.#started > 0) await this.#stopParts();
    gate.close(refusal);
  }

  /** A part that fails is tried again by the next look. */
  async #startParts(): Promise<void> {
    const { parts } = this.#built;
    for (; this.#started < parts.length; this.#started += 1) await parts[this.#started]?.start?.();
  }

  /** Hands the runs and jobs to other processes, or to a later look: those that start then are new parts. */
  async #stopParts(): Promise<void> {
    const { parts } = this.#built;
    this.#started = 0;
    const stopped = await Promise.allSettled(parts.map((part) => part.stop?.(0)));
    for (const result of stopped) if (result.status === 'rejected') this.#report(result.reason);
    this.#built = built(this.gate.database, this.site, this.takesUp);
  }

  /** Whether another schema is to blame for a statement that names what is not there. */
  #blamesSchema(): RunyardError | boolean {
    // on the way up nothing else is executed: a statement that fails is that of the migration
    if (this.#migrating === 'up') return false;
    if (this.#migrating === 'down') return true;
    if (this.#misfit !== undefined) return this.#refusalOf(this.#misfit);
    if (performance.now() < this.#trustedUntil) return false;
    this.#doubted = true;
    void this.look().catch((error: unknown) => this.#report(error));
    return true;
  }

  /** What callers are answered with while the schema does not fit. */
  #refusalOf(schema: SchemaStatus): RunyardError {
    const { id } = this.database;
    return isOlder(schema)
      ? errors.notReady(id, 'runyard migrate')
      : errors.schemaNewer(id, schema.current, schema.latest);
  }

  #report(error: unknown): void {
    if (isReported(error)) return;
    this.site.log.warn(
      { database: this.database.id, err: error },
      'a database could not be taken up or left',
    );
  }
}

function isOlder({ current, latest }: SchemaStatus): boolean {
  return current < latest;
}

/** What the capabilities have in a database, and what executes its runs. */
function built(database: Database, site: SpaceSite, takesUp: TakesUp): BuiltSpace {
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
  const executing = { start: () => engine.open(), stop: (graceMs: number) => engine.stop(graceMs) };
  const working = { start: () => jobs.open(), stop: () => jobs.stop() };
  const begun: Readonly<Record<TakesUp, readonly DatabasePart[]>> = {
    everything: [executing, ...parts, working],
    jobs: [working],
    // what a request has started is given to others at the end
    nothing: [{ stop: executing.stop }, { stop: working.stop }],
  };
  return { space, parts: begun[takesUp] };
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
    relay: database.relay,
    limits: serviceLimits(settings),
    slots,
    forgetRules,
    ...(listeners.length > 0 && {
      onRest: (rested) => {
        for (const listener of listeners) listener(rested);
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
  { settings, log, prices, pace, metrics }: SpaceSite,
) {
  const ports: RunPorts = Object.assign({ pace }, ...parts.map((part) => part.ports));
  return {
    notifications: database.notifications,
    wakeUps: database.shared?.wakeUps,
    ports,
    timers: systemTimers,
    log,
    prices,
    observer: metrics,
    owner: newLeaseOwner(),
    leaseMs: settings.leaseMs,
    isTransient: isTransientStorageError,
    assertWritable: () => database.assertWritable(),
    ...(database.dialect === 'sqlite' && { isGone: isLeaseOwnerGone }),
  };
}
