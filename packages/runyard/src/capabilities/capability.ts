import type { z } from 'zod';
import type { LiveEval } from '../core/evals/live-eval.js';
import type { Scorer } from '../core/evals/scorer.js';
import type { Knowledge } from '../core/knowledge/knowledge.js';
import type { Log } from '../core/log.js';
import type { ModelPace } from '../core/models/pace/model-pace.js';
import type { ModelPrices } from '../core/models/prices.js';
import type { Registry } from '../core/registry/registry.js';
import type { RunEngine } from '../core/runs/engine.js';
import type { EngineOptions } from '../core/runs/engine-options.js';
import type { Job } from '../core/runs/jobs/job.js';
import type { Jobs } from '../core/runs/jobs/jobs.js';
import type { RunSlots } from '../core/runs/leases/run-slots.js';
import type { RunPorts } from '../core/runs/run-ports.js';
import type { DefinedSchedule } from '../core/schedules/schedule.js';
import type { Caller } from '../platform/auth/caller.js';
import type { RightsOfHolder } from '../platform/auth/kept-caller.js';
import type { CustomRoutes } from '../platform/http/custom-routes.js';
import type { DatabaseQuery } from '../platform/http/request/database-query.js';
import type { Route } from '../platform/http/route.js';
import type { OwnCalls } from '../platform/own-calls.js';
import type { Settings } from '../platform/settings/config.js';
import type { Database, Migration } from '../platform/storage/database.js';
import type { SchemaChange, SchemaChangeOptions } from '../platform/storage/migrations/change-schema.js';
import { sharedMigrations } from '../platform/storage/migrations/shared.js';
import type { Schema } from '../platform/storage/schema.js';
import type { ServiceMetrics } from '../platform/telemetry/metrics/service-metrics.js';
import type { ComponentsService } from './components/service.js';

/** What the API consists of, and how it is described. */
export interface Described {
  readonly name: string;
  readonly routes?: readonly Route<Services>[] | ((all: readonly Described[]) => readonly Route<Services>[]);
  /** Its section of `/config`. */
  readonly section?: { readonly name: string; readonly table?: keyof Schema };
  /** What it adds to the bodies of `/info` and `/config`. */
  readonly info?: () => z.ZodRawShape;
  readonly config?: () => z.ZodRawShape;
}

/** A group of the API as one value. All of them are in `capabilities.ts`. */
export interface Capability extends Described {
  /** Changes of its own tables. Their versions count over all capabilities. */
  readonly migrations?: readonly Migration[];
  open?(site: ServiceSite): OpenCapability | Promise<OpenCapability>;
}

/** The parts of `/info` and `/config`, as the caller may see them. */
export interface InfoParts {
  info?(caller: Caller): Fields | Promise<Fields>;
  config?(caller: Caller): Fields;
  /** Its entry among the interfaces of `/config`. */
  readonly listed?: { readonly type: string; readonly version: string; readonly route: string };
}

/** What a capability gives to a service that opens. */
export interface OpenCapability extends InfoParts {
  readonly services?: Partial<Services>;
  /** `space` is being filled in the order of the list: what a later capability has there is there when runs begin. */
  inDatabase?(database: Database, space: RunSpace): DatabasePart;
  /** Called after everything else has stopped. */
  close?(withinMs: number): Promise<void>;
}

/** What a capability has in one database. */
export interface DatabasePart {
  readonly parts?: Partial<RunSpace>;
  /** What runs may ask of it. */
  readonly ports?: Partial<RunPorts>;
  /** Long work that it does there. Each kind of job belongs to one capability. */
  readonly jobs?: readonly Job[];
  /** Called for each run that pauses or ends in this process. */
  readonly onRest?: EngineOptions['onRest'];
  /** Begins its background work. Called once the database has the schema of this version, and not before. */
  start?(): void | Promise<void>;
  stop?(graceMs: number): Promise<void>;
}

/** What routes and interfaces call. Each capability declares its own services. */
export interface Services {
  readonly settings: Settings;
}

/** A database with what executes the runs that are stored in it. Each capability declares its own part. */
export interface RunSpace {
  readonly databaseId: string;
  readonly engine: RunEngine;
  /** Starts and follows the long work of the service in this database. */
  readonly jobs: Jobs;
}

/** A database as such, to be migrated. */
export interface SpaceDatabase {
  /** Also to be asked while its schema is another one. */
  readonly database: Database;
  /** Migrates. What works there is stopped first, and starts again if the schema fits afterwards. */
  change(options: SchemaChangeOptions): Promise<SchemaChange>;
}

export interface Spaces {
  /** The space of the named database, or the service's own. Refused while its schema is an older one. */
  get(databaseId: string | undefined): RunSpace | Promise<RunSpace>;
  /** The space that a request chooses with `db_id` and `table`. A choice is needed only if there are several. */
  choose(query: DatabaseQuery): Promise<RunSpace>;
  /** The spaces of all databases. Refused while one of them has an older schema. */
  all(): Promise<readonly RunSpace[]>;
  /** The databases themselves, the service's own first. */
  databases(): readonly SpaceDatabase[];
}

/** What capabilities are opened with. */
export interface ServiceParts {
  readonly settings: Settings;
  readonly components: ComponentsService;
  /** What is registered, and what registered agents and teams use. Left out: none. */
  readonly knowledge?: readonly Knowledge[];
  /** What stored configurations refer to. Collected when it is first asked for. */
  readonly registry?: () => Registry;
  /** Evals of finished runs. Left out: none. */
  readonly liveEvals?: readonly LiveEval[];
  /** Scorers of the application, which evals choose by name. Left out: none. */
  readonly scorers?: readonly Scorer[];
  /** The service's own first. Their schemas are up to date, or theirs who keep them. */
  readonly databases: readonly Database[];
  readonly prices: ModelPrices;
  /** What the holders of tokens may do now, for calls in their name. */
  readonly scheduleRights?: RightsOfHolder;
  /** Left out where no routes are served. */
  readonly ownCalls?: OwnCalls;
  /** The schedules of the code. Left out: none. */
  readonly schedules?: readonly DefinedSchedule[];
  /** The application's own routes. */
  readonly customRoutes?: CustomRoutes | undefined;
  readonly startedAt: Date;
  /** Counts what the service does; a gauge of its own is one call. Left out: nothing reads metrics. */
  readonly metrics?: ServiceMetrics | undefined;
  readonly readiness: { report(): Promise<{ readonly status: 'ready' | 'not_ready' }> };
  readonly log: Log;
}

export interface ServiceSite extends ServiceParts {
  readonly capabilities: readonly Capability[];
  readonly slots: RunSlots;
  /** Jobs have slots of their own: they never take that of a run. */
  readonly jobSlots: RunSlots;
  /** Paces the model calls of all runs. */
  readonly pace: ModelPace;
  readonly spaces: Spaces;
  /** Filled as the capabilities open, in the order of the list. */
  readonly services: Services;
  readonly opened: readonly OpenCapability[];
  /** The same, and the interfaces. */
  readonly infoParts: readonly InfoParts[];
}

export type Fields = Record<string, unknown>;

/** The migrations of these capabilities, in the order of their versions. */
export function migrationsOf(capabilities: readonly Capability[]): readonly Migration[] {
  const own = capabilities.flatMap(({ migrations = [] }) => migrations);
  return [...sharedMigrations, ...own].sort((one, other) => one.version - other.version);
}

interface RouteTable {
  routes?: readonly Route<Services>[];
  /** The tables of these parts and one more. */
  readonly longer: WeakMap<Described, RouteTable>;
}

const tables: RouteTable = { longer: new WeakMap() };

/** The routes of these parts: one table for all services with the same ones, because to describe a table takes long. */
export function routesOf(all: readonly Described[]): readonly Route<Services>[] {
  let table = tables;
  for (const part of all) {
    const longer: RouteTable = table.longer.get(part) ?? { longer: new WeakMap() };
    table.longer.set(part, longer);
    table = longer;
  }
  table.routes ??= all.flatMap(({ routes = [] }) => (typeof routes === 'function' ? routes(all) : routes));
  return table.routes;
}
