import { setTimeout as sleep } from 'node:timers/promises';
import type { CallSite } from './app/service-calls.js';
import { type Capability, routesOf, type ServiceParts } from './capabilities/capability.js';
import type { TakesUp } from './capabilities/runs/database-space.js';
import type { RunSpaces } from './capabilities/runs/run-spaces.js';
import type { Readiness } from './capabilities/system/readiness.js';
import type { Interface } from './interfaces/interface.js';
import { openCapabilities } from './open-capabilities.js';
import { Authenticator } from './platform/auth/authenticator.js';
import { type AccountTokens, Identities } from './platform/auth/identity.js';
import { TokenVerifier } from './platform/auth/tokens/verifier.js';
import type { CustomRoutes } from './platform/http/custom-routes.js';
import type { HttpServer } from './platform/http/handler.js';
import type { ApiInfo, PathExamples } from './platform/http/openapi/openapi.js';
import { createHttpServer } from './platform/http/server.js';
import { OwnCalls } from './platform/own-calls.js';
import { serviceIdOf } from './platform/service-id.js';

/** What a service is opened with. */
export interface OpenServiceOptions extends ServiceParts {
  readonly capabilities: readonly Capability[];
  readonly interfaces: readonly Interface[];
  readonly readiness: Readiness;
  readonly customRoutes: CustomRoutes | undefined;
  readonly info: ApiInfo;
  readonly pathExamples: PathExamples;
  readonly hintFor?: (path: string) => string | undefined;
  readonly webSocketHintFor?: (path: string) => string | undefined;
  /** Left out: everything. */
  readonly takesUp?: TakesUp;
}

/** How a service that stops ends: `drain` ends its drain, and the grace may be another one until it begins. */
export interface Ending {
  graceMs: number;
  readonly drain: AbortController;
}

/** A service that is open: it answers, executes runs, and keeps house. */
export interface OpenService {
  readonly http: HttpServer;
  readonly spaces: RunSpaces;
  /** Calls of its own routes within this process. */
  readonly ownCalls: OwnCalls;
  /** Calls of its operations by code. */
  readonly inCode: CallSite;
  /** Still does everything for so long, while each answer closes its connection: those who call find other processes. */
  drain(ms: number, signal: AbortSignal): Promise<void>;
  /** Accepts no new runs, gives running ones time, releases what is left, and ends streams cleanly. */
  close(graceMs: number): Promise<void>;
}

/** What is left to be done at the very end gets so long, when runs have used up the time to stop. */
const lastMs = 1_000;

export async function openService(options: OpenServiceOptions): Promise<OpenService> {
  const { settings, log, customRoutes, metrics } = options;
  const ownCalls = new OwnCalls(options.scheduleRights);
  const capabilities = await openCapabilities(options.capabilities, { ...options, ownCalls });
  const { services, spaces } = capabilities;
  const identities = await openIdentities(options, services.accountTokens);
  const authenticator = new Authenticator({ settings, identities });
  const site = { services, identities, settings, log };
  const interfaces = await Promise.all(options.interfaces.map(async (one) => (await one.open?.(site)) ?? {}));
  Object.assign(services, ...interfaces.map((one) => one.services));
  capabilities.infoParts.push(...interfaces);
  const paths = new Map(interfaces.flatMap((one) => [...(one.paths ?? [])]));
  const http = await createHttpServer({
    routes: routesOf([...options.capabilities, ...options.interfaces]),
    services,
    resolveCaller: (request) => authenticator.admit(request),
    settings,
    info: options.info,
    pathExamples: options.pathExamples,
    ...(options.hintFor && { hintFor: options.hintFor }),
    ...(options.webSocketHintFor && { webSocketHintFor: options.webSocketHintFor }),
    log,
    observer: metrics,
    sharedCounts: options.databases[0]?.shared?.counts,
    ...(customRoutes !== undefined && { customRoutes }),
    upgrades: { paths, close: async () => void (await Promise.all(interfaces.map((one) => one.close?.()))) },
  });
  metrics?.registry.gauge(
    { name: 'runyard_open_connections', help: 'Open event streams and WebSockets.', labels: ['type'] },
    () => [
      { labels: ['stream'], value: http.open.streams },
      { labels: ['websocket'], value: http.open.sockets },
    ],
  );
  ownCalls.open(identities, http);
  const inCode: CallSite = {
    // bodies in code have one form, whatever clients ask for
    services: { ...services, settings: { ...settings, compatibility: 'none' } },
    identities,
    resolveCaller: (request) => authenticator.admit(request),
    routes: new Map(routesOf(options.capabilities).map((route) => [route.operationId, route])),
  };
  const close = async (graceMs: number) => {
    const begun = performance.now();
    http.drain();
    await capabilities.stop(graceMs);
    await http.close();
    await capabilities.close(Math.max(graceMs - (performance.now() - begun), lastMs));
  };
  try {
    await capabilities.start(options.takesUp);
    for (const one of interfaces) await one.start?.();
  } catch (error) {
    // what has started works on databases that are closed next
    await close(0).catch(() => {});
    throw error;
  }
  options.readiness.serve(spaces.parts(), capabilities.slots);
  const drain = async (ms: number, signal: AbortSignal) => {
    if (ms === 0 || signal.aborted) return;
    http.drain();
    await sleep(ms, undefined, { signal }).catch(() => {});
  };
  return { http, spaces, ownCalls, inCode, drain, close };
}

async function openIdentities(
  { settings, log }: OpenServiceOptions,
  accounts: AccountTokens,
): Promise<Identities> {
  const verifier = new TokenVerifier(settings, { log, serviceId: serviceIdOf(settings) });
  await verifier.open();
  return new Identities({ settings, verifier, accounts });
}
