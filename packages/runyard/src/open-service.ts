import { randomBytes } from 'node:crypto';
import { ApprovalsService } from './capabilities/approvals/service.js';
import type { ComponentsService } from './capabilities/components/service.js';
import { LearningsService } from './capabilities/learnings/service.js';
import { mediaFetch } from './capabilities/media/fetch.js';
import { modelOfService } from './capabilities/memory/merging-model.js';
import { MemoriesService } from './capabilities/memory/service.js';
import { MetricsService } from './capabilities/metrics/service.js';
import { RetentionService } from './capabilities/retention/service.js';
import { OrphanCounts } from './capabilities/runs/orphan-counts.js';
import { RunSpaces } from './capabilities/runs/run-spaces.js';
import { RunsService } from './capabilities/runs/service.js';
import { SessionRunsService } from './capabilities/runs/session-runs-service.js';
import { ServiceAccountTokens } from './capabilities/service-accounts/account-tokens.js';
import { ServiceAccountsService } from './capabilities/service-accounts/service.js';
import { SessionsService } from './capabilities/sessions/service.js';
import type { Readiness } from './capabilities/system/readiness.js';
import { SystemService } from './capabilities/system/service.js';
import { TracesService } from './capabilities/traces/service.js';
import type { Log } from './core/log.js';
import type { ModelPrices } from './core/models/prices.js';
import { RunSlots } from './core/runs/run-slots.js';
import { defaultDatabase } from './databases.js';
import { Door } from './platform/auth/door.js';
import { Identities } from './platform/auth/identity.js';
import { TokenVerifier } from './platform/auth/tokens/verifier.js';
import type { Settings } from './platform/config.js';
import { systemTimers } from './platform/engine/local/timers.js';
import type { CustomRoutes } from './platform/http/custom-routes.js';
import type { HttpServer } from './platform/http/handler.js';
import type { ApiInfo, PathExamples } from './platform/http/openapi.js';
import { createHttpServer } from './platform/http/server.js';
import type { Upgrades } from './platform/http/upgrades.js';
import { serviceLimits } from './platform/run-limit-settings.js';
import { serviceIdOf } from './platform/service-id.js';
import type { Database } from './platform/storage/database.js';
import type { TraceExport } from './platform/telemetry/trace-export.js';
import { version } from './platform/version.js';
import { routes, type Services } from './routes.js';

/** What a service is opened with. */
export interface ServiceParts {
  readonly settings: Settings;
  readonly components: ComponentsService;
  /** The service's own first. Their schemas are up to date, or theirs who keep them. */
  readonly databases: readonly Database[];
  readonly prices: ModelPrices;
  readonly customRoutes: CustomRoutes | undefined;
  readonly info: ApiInfo;
  readonly pathExamples: PathExamples;
  readonly startedAt: Date;
  readonly readiness: Readiness;
  readonly log: Log;
}

/** A service that is open: it answers, executes runs, and keeps house. */
export interface OpenService {
  readonly http: HttpServer;
  readonly spaces: RunSpaces;
  /** Takes no new runs, gives running ones time, hands on what is left, and ends streams cleanly. */
  close(graceMs: number): Promise<void>;
}

/** What is left to be sent to a collector gets so long, when runs have used up the time to stop. */
const exportGraceMs = 1_000;

export async function openService(parts: ServiceParts): Promise<OpenService> {
  const { settings, databases, log } = parts;
  const slots = new RunSlots({ executing: settings.maxConcurrentRuns, waiting: settings.maxWaitingRuns });
  const traceExport = await openExport(parts);
  const spaces = newSpaces(parts, slots, traceExport);
  const accountTokens = new ServiceAccountTokens({
    database: databases[0]!,
    cacheSeconds: settings.serviceAccountCacheSeconds,
    log,
  });
  const identities = await openIdentities(parts, accountTokens);
  const door = new Door({ settings, identities });
  const services = servicesOf(parts, spaces, slots, identities, accountTokens);
  const http = await createHttpServer({
    routes,
    services,
    resolveCaller: (request) => door.admit(request),
    settings,
    info: parts.info,
    pathExamples: parts.pathExamples,
    log,
    ...(parts.customRoutes !== undefined && { customRoutes: parts.customRoutes }),
    ...(settings.websocket && { upgrades: await webSockets(parts, services.runs, identities) }),
  });
  await spaces.open();
  const retention = new RetentionService({ databases, settings, timers: systemTimers, log });
  retention.begin();
  parts.readiness.serve(spaces.parts(), slots);
  return {
    http,
    spaces,
    async close(graceMs) {
      const begun = performance.now();
      await Promise.all([spaces.stop(graceMs), retention.end()]);
      await http.close();
      const left = graceMs - (performance.now() - begun);
      await traceExport?.close(Math.max(left, exportGraceMs));
    },
  };
}

function newSpaces(parts: ServiceParts, slots: RunSlots, traceExport: TraceExport | undefined): RunSpaces {
  const { settings, components, databases, prices, log } = parts;
  return new RunSpaces({
    databases,
    slots,
    leaseMs: settings.leaseMs,
    log,
    prices,
    limits: serviceLimits(settings),
    traces: settings.traces,
    ...(traceExport !== undefined && { onRest: (rested) => traceExport.rested(rested) }),
    fetchMedia: mediaFetch(settings),
    orphans: { components: () => components.keys(), endAfterMs: settings.orphanedRunsMs },
    resolve: (run, state) => components.executableOf(run, state),
  });
}

async function openIdentities(
  { settings, log }: ServiceParts,
  accounts: ServiceAccountTokens,
): Promise<Identities> {
  const verifier = new TokenVerifier(settings, {
    log,
    serviceId: serviceIdOf(settings),
  });
  await verifier.open();
  return new Identities({
    settings,
    verifier,
    accounts,
    internalToken: randomBytes(32).toString('base64url'),
  });
}

function servicesOf(
  parts: ServiceParts,
  spaces: RunSpaces,
  slots: RunSlots,
  identities: Identities,
  accountTokens: ServiceAccountTokens,
): Services {
  const { settings, components, prices, databases, startedAt, readiness } = parts;
  const sessionRuns = new SessionRunsService(spaces);
  const serviceAccounts = new ServiceAccountsService({
    database: databases[0]!,
    tokens: accountTokens,
    adminScope: settings.adminScope,
  });
  const { name, description } = settings;
  const id = serviceIdOf(settings);
  const databaseIds = databases.map((database) => database.id);
  const authMode = identities.mode;
  const service = { id, name, description, version, startedAt };
  const orphans = new OrphanCounts(spaces, components, { timers: systemTimers, log: parts.log });
  const facts = { ...service, slots, readiness, databases: databaseIds, authMode, orphans };
  return {
    settings,
    defaultDatabase,
    components,
    system: new SystemService(facts, components),
    runs: new RunsService({
      components,
      spaces,
      onDisconnect: settings.onDisconnect,
      log: parts.log,
      limits: serviceLimits(settings),
    }),
    sessionRuns,
    sessions: new SessionsService({ runs: sessionRuns, components }),
    memories: new MemoriesService({
      spaces,
      defaultModel: () => modelOfService(components, settings.defaultModel),
    }),
    learnings: new LearningsService(spaces),
    traces: new TracesService({ spaces, components, settings, prices }),
    metrics: new MetricsService(spaces),
    serviceAccounts,
    approvals: new ApprovalsService({
      spaces,
      fourEyes: settings.approvalsFourEyes,
      accounts: serviceAccounts,
    }),
  };
}

/** Loaded only where there is a collector to send to. */
async function openExport({
  settings,
  components,
  prices,
  log,
}: ServiceParts): Promise<TraceExport | undefined> {
  if (settings.otlpEndpoint === undefined) return undefined;
  const { openTraceExport } = await import('./platform/telemetry/open-trace-export.js');
  return openTraceExport({ settings, prices, workflow: (id) => components.find('workflow', id), log });
}

/** Loaded only where it is opted into: others do not wait for it at start. */
async function webSockets(
  { settings, log }: ServiceParts,
  runs: RunsService,
  identities: Identities,
): Promise<Upgrades> {
  const { openWebSockets } = await import('./interfaces/websocket/endpoint.js');
  return openWebSockets({ runs, identities, settings, log });
}
