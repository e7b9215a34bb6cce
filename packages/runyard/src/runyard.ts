import { InCode } from './app/in-code.js';
import type { CallSite } from './app/service-calls.js';
import { capabilities } from './capabilities/capabilities.js';
import { routesOf, type ServiceParts, type SpaceDatabase } from './capabilities/capability.js';
import { type Component, ComponentsService, type ReadyComponent } from './capabilities/components/service.js';
import type { TakesUp } from './capabilities/runs/database-space.js';
import { CodeConfigs } from './code-configs.js';
import { inNeutralContext } from './core/async/neutral-context.js';
import type { ComponentSpace } from './core/components/component-space.js';
import type { ComponentConfig } from './core/configs/component-config.js';
import { errors } from './core/errors/errors.js';
import type { Knowledge } from './core/knowledge/knowledge.js';
import type { KnowledgeContent, KnowledgeSpace } from './core/knowledge/knowledge-space.js';
import type { Log } from './core/log.js';
import { checkOptions } from './core/options/check-options.js';
import {
  checkDatabaseNames,
  closeDatabases,
  databaseUrls,
  migrateDatabases,
  migrateOwnDatabases,
  openDatabases,
  startFailure,
} from './databases.js';
import { hintsOf, interfaceAddresses, loadInterfaces } from './interfaces/interfaces.js';
import { type OpenCapabilities, openCapabilities } from './open-capabilities.js';
import { type Ending, type OpenService, openService } from './open-service.js';
import { type OperatorRequest, OperatorRequests } from './operator-requests.js';
import { checkAuthSettings } from './platform/auth/tokens/check-settings.js';
import { authMode } from './platform/auth/tokens/settings.js';
import { type FetchHandler, type FetchHandlerOptions, fetchHandler } from './platform/http/fetch-handler.js';
import type { NodeHandler } from './platform/http/handler.js';
import { type ApiInfo, describeApi, type PathExamples } from './platform/http/openapi/openapi.js';
import { waitingHandler } from './platform/http/waiting-handler.js';
import { createLog } from './platform/log.js';
import { loadSettings, type Settings, type SettingsSources } from './platform/settings/config.js';
import type { Database } from './platform/storage/database.js';
import { changeSchema } from './platform/storage/migrations/change-schema.js';
import { type SchemaStatus, schemaStatus } from './platform/storage/migrations/migrate.js';
import { guardProcess } from './platform/stray-failures.js';
import { survivingLog } from './platform/surviving-log.js';
import { version } from './platform/version.js';
import { Probes } from './probes.js';
import { allKnowledge, checkKnowledge, namedKnowledge, reembedded } from './registered-knowledge.js';
import {
  assertDatabasesExist,
  type ReplayedRun,
  replayRuns,
  replayStored,
  type WaitingRun,
  waitingRuns,
} from './replay.js';
import {
  checkedRunyardOptions,
  closeOptions,
  fetchHandlerOptions,
  handlerOptions,
  type Listening,
  listenOptions,
  type MigrateOptions,
  type MigrationReport,
  migrateOptions,
  ownOptionNames,
  type RunyardOptions,
  reembedOptions,
  replayOptions,
  sourcesOptions,
} from './runyard-options.js';

/** How a command distinguishes a service from anything else that a module exports. */
const appBrand = Symbol.for('runyard.app');

/** A service: what is registered, behind HTTP. Nothing is opened before it is needed. */
export class Runyard extends InCode {
  readonly [appBrand] = true;
  readonly components: ComponentsService;
  readonly knowledge: readonly Knowledge[];
  private readonly options: RunyardOptions;
  private readonly startedAt = new Date();
  private sources: Omit<SettingsSources, 'code' | 'otherCodeNames'> = {};
  private readonly configs: CodeConfigs;
  private loaded: ReturnType<typeof loadSettings> | null = null;
  private logger: Log | null = null;
  private opening: Promise<OpenService> | null = null;
  private readonly requests = new OperatorRequests(() => this.assemble('nothing'));
  private databases: Promise<readonly Database[]> | null = null;
  /** Ends the waiting for a database that is not there yet. */
  private stopWaiting: AbortController | null = null;
  private closing: Promise<void> | null = null;
  private ending: Ending | null = null;
  private unguard: (() => void) | null = null;
  private readonly probes = new Probes(this, this.startedAt);

  constructor(given: RunyardOptions) {
    super();
    const options = checkedRunyardOptions(given);
    this.options = options;
    this.components = new ComponentsService(options);
    for (const component of this.components.list()) component.attach(() => this.spaceOf(component));
    this.knowledge = allKnowledge(options, this.components);
    for (const knowledge of this.knowledge) knowledge.attach(() => this.knowledgeSpaceOf(knowledge));
    const { components, knowledge } = this;
    this.configs = new CodeConfigs({ settings: options.registry, components: components.ready(), knowledge });
  }

  /** Adds settings from a file, the environment and flags. Before anything is opened. */
  configure(sources: Omit<SettingsSources, 'code' | 'otherCodeNames'>): void {
    checkOptions('configure()', sources, sourcesOptions);
    if (this.databases !== null)
      throw errors.invalidConfig('configure() must be called before the service is opened.');
    this.sources = sources;
    this.loaded = null;
  }

  /**
   * The configuration of a component of the code, from which `POST /components` makes a stored one. Rejects with every
   * place that a configuration cannot hold: a function without a name, a secret.
   */
  toConfig(component: ReadyComponent): Promise<ComponentConfig> {
    return this.configs.of(component);
  }

  get settings(): Settings {
    return this.load().settings;
  }

  get log(): Log {
    const { log } = this.options;
    this.logger ??=
      log === undefined
        ? createLog({ level: this.settings.logLevel, format: this.settings.logFormat })
        : survivingLog(log);
    return this.logger;
  }

  /**
   * Opens everything and listens. `probeUrl` is where `probePort` is served, `interfaces` where interfaces with a path of
   * their own are. `ownsProcess`: the process exists for this service, as with `runyard start`; it then survives
   * exceptions of unknown origin, up to a bound.
   */
  async listen(options: { readonly ownsProcess?: boolean } = {}): Promise<Listening> {
    checkOptions('listen()', options, listenOptions);
    const { host, port } = this.settings;
    const probe = await this.probes.open();
    // before anything is opened: runs that are taken over begin at once
    this.unguard ??= guardProcess(this.log, options.ownsProcess ?? false);
    try {
      const { http } = await this.open();
      const address = await http.listen({ host, port });
      const interfaces = interfaceAddresses(address.url, this.options.interfaces, this.settings);
      return { ...address, interfaces, ...(probe !== null && { probeUrl: probe.url }) };
    } catch (error) {
      await this.probes.close();
      this.endGuard();
      throw error;
    }
  }

  /** A handler for your own Node server; what comes before everything is open waits. Its `upgrade` serves WebSockets. */
  handler(options: { readonly basePath?: string } = {}): NodeHandler {
    checkOptions('handler()', options, handlerOptions);
    const opened = this.probes
      .open()
      .then(() => this.open())
      .then(({ http }) => http.handler(options));
    opened.catch((error: unknown) => this.log.error({ err: error }, 'the service could not be opened'));
    return waitingHandler(opened);
  }

  /** The same for web-standard requests, as Next, Hono, Bun and Deno have them. It serves no WebSockets. */
  fetchHandler<Host extends readonly unknown[] = []>(
    options: FetchHandlerOptions<Host> = {},
  ): FetchHandler<Host> {
    checkOptions('fetchHandler()', options, fetchHandlerOptions);
    const { clientAddress, ...shared } = options;
    return fetchHandler(this.handler(shared), clientAddress);
  }

  /** The API description. Nothing is opened for it. */
  async openapi(): Promise<object> {
    const parts = [...capabilities, ...(await loadInterfaces(this.options.interfaces, this.settings))];
    return structuredClone(describeApi(routesOf(parts), this.apiInfo(), this.pathExamples()).document());
  }

  async schemaStatus(): Promise<{ readonly database: string; readonly status: SchemaStatus }[]> {
    const databases = await this.openDatabases();
    return Promise.all(
      databases.map(async (database) => ({ database: database.id, status: await schemaStatus(database) })),
    );
  }

  /**
   * Migrates one or all databases, or says what that would do (`dryRun`). A downgrade that deletes data needs `force`. In
   * a running service, what works on a database is stopped first.
   */
  async migrate(options: MigrateOptions = {}): Promise<MigrationReport[]> {
    checkOptions('migrate()', options, migrateOptions);
    return migrateDatabases(await this.schemas(), options);
  }

  /** The databases to be migrated: by the service if it is open. */
  private async schemas(): Promise<readonly SpaceDatabase[]> {
    if (this.opening !== null) return (await this.opening).spaces.databases();
    return (await this.openDatabases()).map((database) => ({
      database,
      change: (options) => changeSchema(database, options),
    }));
  }

  /** The runs of all databases that have not ended, with their journals: what `replay` takes. Nothing is written. */
  async *waitingRuns(): AsyncGenerator<WaitingRun, void, void> {
    assertDatabasesExist(databaseUrls(this.settings));
    yield* waitingRuns(await this.openDatabases());
  }

  /**
   * Takes runs that have not ended through the code at hand, without executing anything: which of them can be
   * continued with it? Left out: those of all databases.
   */
  replay(
    options: { readonly runs?: AsyncIterable<WaitingRun> } = {},
  ): AsyncGenerator<ReplayedRun, void, void> {
    checkOptions('replay()', options, replayOptions);
    const { components, configs } = this;
    if (options.runs !== undefined) return replayRuns(components, options.runs);
    // what is stored is in the same databases as the runs; a service that is open reads it already
    const databases = () => (this.opening === null ? this.openDatabases() : Promise.resolve([]));
    return replayStored({ components, registry: configs.registry, databases }, this.waitingRuns());
  }

  /**
   * Embeds contents anew that another embedder has embedded: what changing an embedder needs. Left out: those of all
   * knowledge bases.
   */
  async *reembed(
    options: { readonly knowledge?: string } = {},
  ): AsyncGenerator<{ readonly knowledge: string; readonly content: KnowledgeContent }, void, void> {
    checkOptions('reembed()', options, reembedOptions);
    const chosen = namedKnowledge(this.knowledge, options.knowledge);
    const worker = this.opening === null ? await this.openWorker() : undefined;
    try {
      const { spaces } = worker ?? (await this.open());
      yield* reembedded(spaces, chosen);
    } finally {
      await worker?.stop(0);
      await worker?.close(this.settings.stopGraceMs);
    }
  }

  /**
   * Calls a route within this process with the rights of the operator, without a token. A service that is not open yet is
   * opened for it and takes up nothing: runs, jobs and schedules are left to others. `userId`: in the name of this user.
   */
  request(path: string, request: OperatorRequest = {}): Promise<Response> {
    return this.requests.call(this.opening, path, request);
  }

  /**
   * Is not ready from now on, and still does everything for `drainMs` of the settings; then accepts no new runs, gives
   * running ones time, releases what is left, ends streams cleanly, and closes. With `graceMs` it begins with the latter,
   * also when it drains already.
   */
  close(options: { readonly graceMs?: number } = {}): Promise<void> {
    checkOptions('close()', options, closeOptions);
    const { graceMs } = options;
    this.ending ??= { graceMs: this.settings.stopGraceMs, drain: new AbortController() };
    if (graceMs !== undefined) this.ending.drain.abort();
    this.ending.graceMs = graceMs ?? this.ending.graceMs;
    this.closing ??= this.closeNow(this.ending).finally(() => {
      this.closing = this.ending = null;
    });
    return this.closing;
  }

  private async closeNow(ending: Ending): Promise<void> {
    const { opening, databases } = this;
    this.probes.stop();
    this.stopWaiting?.abort();
    const service = await opening?.catch(() => null);
    await service?.drain(this.settings.drainMs, ending.drain.signal);
    try {
      await this.requests.close();
      await service?.close(ending.graceMs);
      if (service) await Promise.all(this.components.list().map((component) => component.close()));
    } finally {
      await this.probes.flush();
      await closeDatabases((await databases?.catch(() => [])) ?? []);
      // only now: a caller who asks while it closes must reach this service and be refused, not open a second one
      this.opening = null;
      this.databases = null;
      await this.probes.close();
      this.endGuard();
    }
  }

  private endGuard(): void {
    this.unguard?.();
    this.unguard = null;
  }

  private load() {
    const code = { ...this.options };
    this.loaded ??= loadSettings({ ...this.sources, code, otherCodeNames: ownOptionNames });
    return this.loaded;
  }

  private apiInfo(): ApiInfo {
    const { name, description } = this.settings;
    return { title: name, version, ...(description !== undefined && { description }) };
  }

  /** Ids that exist, for the API browser. Where a token is needed they are left out: the description is open. */
  private pathExamples(): PathExamples {
    return authMode(this.settings) === 'none' ? this.components.exampleIds() : {};
  }

  protected async openInCode(): Promise<CallSite> {
    return (await this.open()).inCode;
  }

  private open(): Promise<OpenService> {
    // for all later callers, too; what could not be opened may be repaired by then: the next one tries again
    this.opening ??= inNeutralContext(() => this.assemble('everything')).catch(async (error: unknown) => {
      const { databases } = this;
      this.opening = null;
      this.databases = null;
      await closeDatabases((await databases?.catch(() => [])) ?? []);
      throw error;
    });
    return this.opening;
  }

  private assemble(takesUp: TakesUp): Promise<OpenService> {
    return this.assembled(async (parts) =>
      openService({
        ...parts,
        capabilities,
        interfaces: await loadInterfaces(this.options.interfaces, this.settings),
        readiness: this.probes.readiness,
        metrics: takesUp === 'everything' ? await this.probes.metrics() : undefined,
        customRoutes: this.options.routes,
        info: this.apiInfo(),
        pathExamples: this.pathExamples(),
        ...hintsOf(this.options.interfaces, this.settings),
        takesUp,
      }),
    );
  }

  /** What executes jobs and nothing else. The runs that wait are left to a service. */
  private openWorker(): Promise<OpenCapabilities> {
    return this.assembled(async (parts) => {
      const worker = await openCapabilities(capabilities, parts);
      await worker.start('jobs');
      return worker;
    });
  }

  private async assembled<Opened>(opened: (parts: ServiceParts) => Promise<Opened>): Promise<Opened> {
    for (const warning of this.load().warnings) this.log.warn({}, warning);
    const { settings, components, knowledge, log, startedAt } = this;
    checkAuthSettings(settings);
    const databases = await this.openDatabases();
    checkDatabaseNames(components.list(), databases);
    checkKnowledge(knowledge, databases);
    try {
      await migrateOwnDatabases(databases, settings);
      const { prices = {}, scheduleRights, liveEvals = [], scorers = [], schedules = [] } = this.options;
      const { registry } = this.configs;
      const registered = { components, knowledge, registry, liveEvals, scorers, schedules, prices };
      const rights = scheduleRights === undefined ? {} : { scheduleRights };
      const parts = { settings, ...registered, ...rights, databases, startedAt, log };
      return await opened({ ...parts, readiness: this.probes.readiness });
    } catch (error) {
      throw startFailure(error, databases);
    }
  }

  private openDatabases(): Promise<readonly Database[]> {
    if (this.databases !== null) return this.databases;
    this.stopWaiting = new AbortController();
    const { signal } = this.stopWaiting;
    this.databases = openDatabases(this.settings, this.log, signal).catch((error: unknown) => {
      this.databases = null;
      throw error;
    });
    return this.databases;
  }

  private async spaceOf({ settings }: Component): Promise<ComponentSpace> {
    const { spaces } = await this.open();
    return (await spaces.get(settings.database)).forCode;
  }

  /** Where the contents of a registered knowledge base are. */
  async knowledgeSpaceOf(knowledge: Knowledge): Promise<KnowledgeSpace> {
    const { spaces } = await this.open();
    return (await spaces.get(knowledge.settings.database)).knowledge.filled(knowledge);
  }
}
