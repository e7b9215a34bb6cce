import { type ApprovalServices, approvalRoutes } from './capabilities/approvals/routes.js';
import { ApprovalsService } from './capabilities/approvals/service.js';
import { type ComponentServices, componentRoutes } from './capabilities/components/routes.js';
import {
  type Component,
  ComponentsService,
  type ReadyComponent,
  type RegisteredAgent,
} from './capabilities/components/service.js';
import type { RunServices } from './capabilities/runs/route-kit.js';
import { runRoutes } from './capabilities/runs/routes.js';
import { RunSpaces } from './capabilities/runs/run-spaces.js';
import { RunsService } from './capabilities/runs/service.js';
import { type SystemServices, systemRoutes } from './capabilities/system/routes.js';
import { SystemService } from './capabilities/system/service.js';
import { AgentRunner } from './core/agents/runner.js';
import { errors } from './core/errors.js';
import { idFrom } from './core/ids.js';
import type { Log } from './core/log.js';
import type { ModelPrices } from './core/models/prices.js';
import { RunSlots } from './core/runs/run-slots.js';
import type { Team } from './core/teams/team.js';
import type { Workflow } from './core/workflows/workflow.js';
import { anonymousCaller } from './platform/auth/caller.js';
import {
  type LoadedSettings,
  loadSettings,
  type Settings,
  type SettingsInput,
  type SettingsSources,
} from './platform/config.js';
import type { CustomRoutes } from './platform/http/custom-routes.js';
import type { HttpServer, NodeHandler } from './platform/http/handler.js';
import { type ApiInfo, describeApi } from './platform/http/openapi.js';
import type { Route } from './platform/http/route.js';
import { createHttpServer } from './platform/http/server.js';
import type { Upgrades } from './platform/http/upgrades.js';
import { waitingHandler } from './platform/http/waiting-handler.js';
import { createLog } from './platform/log.js';
import type { Database } from './platform/storage/database.js';
import {
  type MigrationResult,
  migrate,
  type SchemaStatus,
  schemaStatus,
} from './platform/storage/migrations/migrate.js';
import { openDatabase } from './platform/storage/open.js';
import { version } from './platform/version.js';

/** What an application says in code: what is registered, and settings. */
export interface RunyardOptions extends SettingsInput {
  readonly agents?: readonly RegisteredAgent[];
  readonly teams?: readonly Team[];
  readonly workflows?: readonly Workflow[];
  /** Routes of your own on the same application: a fastify plugin. */
  readonly routes?: CustomRoutes;
  /** What the tokens of models cost, over the list prices: `{ 'openai:gpt-5*': { input: 1.25, output: 10 } }`. */
  readonly prices?: ModelPrices;
  /** Where log lines go instead of standard output. */
  readonly log?: Log;
}

/** The whole route table. */
const routes: readonly Route<SystemServices & ComponentServices & RunServices & ApprovalServices>[] = [
  ...systemRoutes,
  ...componentRoutes,
  ...runRoutes,
  ...approvalRoutes,
];

/** How a command tells a service from anything else that a module exports. */
const appBrand = Symbol.for('runyard.app');

/** The id of the service's own database. */
const defaultDatabase = 'default';

interface OpenService {
  readonly http: HttpServer;
  readonly spaces: RunSpaces;
  readonly databases: readonly Database[];
}

/** A service: what is registered, behind HTTP. Nothing is opened before it is needed. */
export class Runyard {
  readonly [appBrand] = true;
  readonly components: ComponentsService;
  private readonly startedAt = new Date();
  private sources: Omit<SettingsSources, 'code' | 'otherCodeNames'> = {};
  private loaded: LoadedSettings | null = null;
  private logger: Log | null = null;
  private opening: Promise<OpenService> | null = null;
  private databases: Promise<readonly Database[]> | null = null;
  private closing: Promise<void> | null = null;

  constructor(private readonly options: RunyardOptions) {
    this.components = new ComponentsService(options);
    for (const component of this.components.ready()) component.attach(() => this.runnerOf(component));
  }

  /** Adds settings from a file, the environment and flags. Before anything is opened. */
  configure(sources: Omit<SettingsSources, 'code' | 'otherCodeNames'>): void {
    if (this.databases !== null)
      throw errors.invalidConfig('configure() has to be called before the service is opened.');
    this.sources = sources;
    this.loaded = null;
  }

  get settings(): Settings {
    return this.load().settings;
  }

  get log(): Log {
    this.logger ??=
      this.options.log ?? createLog({ level: this.settings.logLevel, format: this.settings.logFormat });
    return this.logger;
  }

  /** Opens everything and listens. */
  async listen(): Promise<{ url: string; port: number }> {
    const { http } = await this.open();
    return http.listen({ host: this.settings.host, port: this.settings.port });
  }

  /** A handler for your own Node server; what comes before everything is open waits. Its `upgrade` serves WebSockets. */
  handler(options: { readonly basePath?: string } = {}): NodeHandler {
    const opened = this.open().then(({ http }) => http.handler(options));
    opened.catch((error: unknown) => this.log.error({ err: error }, 'the service could not be opened'));
    return waitingHandler(opened);
  }

  /** The API description. Nothing is opened for it. */
  async openapi(): Promise<object> {
    return describeApi(routes, this.apiInfo()).document();
  }

  async schemaStatus(): Promise<{ readonly database: string; readonly status: SchemaStatus }[]> {
    const databases = await this.openDatabases();
    return Promise.all(
      databases.map(async (database) => ({ database: database.id, status: await schemaStatus(database) })),
    );
  }

  /** Migrates one or all databases. */
  async migrate(
    options: { readonly to?: number; readonly database?: string } = {},
  ): Promise<{ readonly database: string; readonly results: readonly MigrationResult[] }[]> {
    const databases = await this.openDatabases();
    const chosen =
      options.database === undefined ? databases : databases.filter(({ id }) => id === options.database);
    if (chosen.length === 0)
      throw errors.databaseNotFound(
        options.database ?? '',
        databases.map(({ id }) => id),
      );
    const reports = [];
    for (const database of chosen) {
      reports.push({
        database: database.id,
        results: await migrate(database, options.to === undefined ? {} : { to: options.to }),
      });
    }
    return reports;
  }

  /** Takes no new runs, gives running ones time, hands on what is left, ends streams cleanly, and closes. */
  close(options: { readonly graceMs?: number } = {}): Promise<void> {
    this.closing ??= this.closeNow(options.graceMs ?? this.settings.stopGraceMs).finally(() => {
      this.closing = null;
    });
    return this.closing;
  }

  private async closeNow(graceMs: number): Promise<void> {
    const { opening, databases } = this;
    const service = await opening?.catch(() => null);
    try {
      await service?.spaces.stop(graceMs);
      await service?.http.close();
      if (service) await Promise.all(this.components.ready().map((component) => component.close()));
    } finally {
      await closeAll((await databases?.catch(() => [])) ?? []);
      // only now: whoever asks while it closes must reach this service and be refused, not open a second one
      this.opening = null;
      this.databases = null;
    }
  }

  private load(): LoadedSettings {
    this.loaded ??= loadSettings({
      ...this.sources,
      code: { ...this.options },
      otherCodeNames: ['agents', 'teams', 'workflows', 'routes', 'prices', 'log'],
    });
    return this.loaded;
  }

  private apiInfo(): ApiInfo {
    const { name, description } = this.settings;
    return { title: name, version, ...(description !== undefined && { description }) };
  }

  private open(): Promise<OpenService> {
    // what could not be opened may be mended meanwhile: the next one tries again
    this.opening ??= this.assemble().catch(async (error: unknown) => {
      const { databases } = this;
      this.opening = null;
      this.databases = null;
      await closeAll((await databases?.catch(() => [])) ?? []);
      throw error;
    });
    return this.opening;
  }

  private async assemble(): Promise<OpenService> {
    for (const warning of this.load().warnings) this.log.warn({}, warning);
    const { settings, components, log } = this;
    const databases = await this.openDatabases();
    this.checkDatabaseNames(databases);
    for (const database of databases) if (this.migratesItself(database.id)) await migrateOrFail(database);
    const slots = new RunSlots({ executing: settings.maxConcurrentRuns, waiting: settings.maxWaitingRuns });
    const spaces = new RunSpaces({
      databases,
      slots,
      leaseMs: settings.leaseMs,
      log,
      prices: this.options.prices ?? {},
      resolve: (run, state) => components.executableOf(run, state),
    });
    const runs = new RunsService({ components, spaces, onDisconnect: settings.onDisconnect });
    const approvals = new ApprovalsService({ spaces, fourEyes: settings.approvalsFourEyes });
    const id = settings.id ?? identifierOf(settings.name);
    const { name, description } = settings;
    const databaseIds = databases.map((database) => database.id);
    const { startedAt } = this;
    const facts = { id, name, description, version, startedAt, slots, databases: databaseIds };
    const system = new SystemService(facts, components);
    const http = await createHttpServer({
      routes,
      services: { runs, approvals, components, system, settings, defaultDatabase },
      resolveCaller: () => anonymousCaller,
      settings,
      info: this.apiInfo(),
      log,
      ...(this.options.routes !== undefined && { customRoutes: this.options.routes }),
      ...(settings.websocket && { upgrades: await this.webSockets(runs) }),
    });
    await spaces.open();
    return { http, spaces, databases };
  }

  /** Loaded only where it is opted into: others do not wait for it at start. */
  private async webSockets(runs: RunsService): Promise<Upgrades> {
    const { openWebSockets } = await import('./interfaces/websocket/endpoint.js');
    const { settings, log } = this;
    return openWebSockets({ runs, resolveCaller: () => anonymousCaller, settings, log });
  }

  private openDatabases(): Promise<readonly Database[]> {
    this.databases ??= this.openAll();
    return this.databases;
  }

  private async openAll(): Promise<readonly Database[]> {
    const { settings, log } = this;
    const wanted = [
      { id: defaultDatabase, url: settings.database, durability: settings.durability },
      ...Object.entries(settings.databases).map(([id, given]) =>
        typeof given === 'string'
          ? { id, url: given, durability: settings.durability }
          : { id, ...given, durability: given.durability ?? settings.durability },
      ),
    ];
    const opened = await Promise.allSettled(wanted.map((database) => openDatabase({ ...database, log })));
    const databases = opened.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    const failed = opened.find((result) => result.status === 'rejected');
    if (failed === undefined) return databases;
    await closeAll(databases);
    this.databases = null;
    throw failed.reason;
  }

  private migratesItself(databaseId: string): boolean {
    const given = this.settings.databases[databaseId];
    if (databaseId === defaultDatabase || given === undefined) return this.settings.autoMigrate;
    return typeof given === 'object' && given.autoMigrate !== undefined
      ? given.autoMigrate
      : (typeof given === 'string' ? given : given.url).startsWith('sqlite:');
  }

  private checkDatabaseNames(databases: readonly Database[]): void {
    const known = new Set(databases.map(({ id }) => id));
    for (const component of this.components.list()) {
      const { database } = component.settings;
      if (database !== undefined && !known.has(database)) {
        throw errors.invalidConfig(
          `${kindInWords(component)} '${component.id}' names the database '${database}', which is not registered. Registered: ${[...known].join(', ')}.`,
        );
      }
    }
  }

  private runnerOf({ settings }: ReadyComponent): AgentRunner {
    return new AgentRunner(async () => {
      const { spaces } = await this.open();
      const { engine, runs } = await spaces.get(settings.database);
      return { engine, journal: runs };
    });
  }
}

function kindInWords(component: Component): string {
  const kind = 'kind' in component ? component.kind : 'agent';
  return kind.charAt(0).toUpperCase() + kind.slice(1);
}

async function closeAll(databases: readonly Database[]): Promise<void> {
  await Promise.all(databases.map((database) => database.close()));
}

async function migrateOrFail(database: Database): Promise<void> {
  const failed = (await migrate(database)).find(({ status }) => status === 'failed');
  if (failed !== undefined) {
    throw errors.migrationFailed(
      database.id,
      failed.name,
      failed.error instanceof Error ? failed.error.message : String(failed.error),
    );
  }
}

/** The same name gives the same id, so that clients recognise a service that was restarted. */
function identifierOf(name: string): string {
  return idFrom(`runyard:${name}`);
}
