import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket, WebSocketServer } from 'ws';
import type { RunsService } from '../../capabilities/runs/service.js';
import { inNeutralContext } from '../../core/async/neutral-context.js';
import { errors } from '../../core/errors/errors.js';
import { newId } from '../../core/ids.js';
import type { Log } from '../../core/log.js';
import type { RunKind } from '../../core/runs/run.js';
import { presentedToken } from '../../platform/auth/presented-token.js';
import type { AuthSettings } from '../../platform/auth/tokens/settings.js';
import { type WireFormatSettings, wireFormatOf } from '../../platform/http/response/wire-format.js';
import {
  refuseUpgrade,
  type UpgradeEndpoint,
  type UpgradeFacts,
  type Upgrades,
} from '../../platform/http/upgrades.js';
import { webSocketLibrary } from '../common/web-socket-library.js';
import { actionsOf } from './actions.js';
import { type Action, Connection } from './connection.js';
import { goodbyeMs, type SocketLimits, usualLimits } from './limits.js';
import { webSocketPaths } from './paths.js';
import { SendQueue } from './send-queue.js';
import type { SocketIdentities } from './socket-caller.js';
import { UnauthenticatedConnections } from './unauthenticated-connections.js';

export interface WebSocketOptions {
  readonly runs: RunsService;
  readonly identities: SocketIdentities;
  readonly settings: WireFormatSettings & {
    readonly tokenSource: AuthSettings['tokenSource'];
    readonly tokenCookie: string;
    readonly maxBodyBytes: number;
    readonly heartbeatMs: number;
  };
  readonly log: Log;
  readonly limits?: Partial<SocketLimits>;
}

/** Of how many fragments a message may consist. */
const mostFragments = 1_024;

/** The WebSocket endpoints of a service. */
export function openWebSockets(options: WebSocketOptions): Upgrades {
  const sockets = new OpenSockets(options);
  return {
    paths: new Map(webSocketPaths.map(({ path, kind }) => [path, sockets.endpoint(path, kind)])),
    close: () => sockets.close(),
  };
}

interface EndpointFacts {
  readonly path: string;
  readonly kind: RunKind;
  readonly actions: ReadonlyMap<string, Action>;
}

/** All open connections, with one timer for their heartbeats and one for their tokens. */
class OpenSockets {
  readonly #open = new Set<Connection>();
  readonly #limits: SocketLimits;
  readonly #unauthenticated: UnauthenticatedConnections;
  #timers: NodeJS.Timeout[] = [];
  #closing = false;
  #onEmpty: () => void = () => {};
  #server: WebSocketServer | undefined;

  constructor(private readonly options: WebSocketOptions) {
    this.#limits = { ...usualLimits, ...options.limits };
    this.#unauthenticated = new UnauthenticatedConnections(this.#limits.unprovenConnections);
  }

  endpoint(path: string, kind: RunKind): UpgradeEndpoint {
    const actions = actionsOf(this.options.runs, kind);
    return (request, socket, head, upgrade) => {
      const requestId = newId();
      if (this.#closing) refuseUpgrade(socket, errors.stopping(), requestId);
      else
        this.#handshakes().handleUpgrade(request, socket, head, (webSocket) =>
          this.#add(webSocket, socket, request, { path, kind, actions, requestId, upgrade }),
        );
    };
  }

  #handshakes(): WebSocketServer {
    this.#server ??= new (webSocketLibrary().WebSocketServer)({
      noServer: true,
      clientTracking: false,
      // an idle connection would hold two compressors
      perMessageDeflate: false,
      maxPayload: this.options.settings.maxBodyBytes,
      // each costs far more memory than the byte that may be in it
      maxFragments: mostFragments,
      autoPong: false,
    });
    return this.#server;
  }

  async close(): Promise<void> {
    this.#closing = true;
    if (this.#open.size === 0) return;
    const gone = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    for (const connection of this.#open) connection.close(1001, 'The service is stopping');
    const overdue = setTimeout(() => {
      for (const connection of this.#open) connection.terminate();
    }, goodbyeMs);
    await gone;
    clearTimeout(overdue);
  }

  #add(
    webSocket: WebSocket,
    socket: Duplex,
    request: IncomingMessage,
    facts: EndpointFacts & { requestId: string; upgrade: UpgradeFacts },
  ): void {
    const { path, kind, actions, requestId, upgrade } = facts;
    const { identities, log, settings } = this.options;
    const { headers } = request;
    const plain = new URLSearchParams(request.url?.split('?')[1]).get('format') === 'json';
    const connection = new Connection(webSocket, new SendQueue(webSocket, socket), {
      requestId,
      clientAddress: upgrade.clientAddress,
      spend: (caller) => upgrade.spend(caller),
      token: this.#tokenOf(request),
      kind,
      actions,
      identities,
      unauthenticated: this.#unauthenticated,
      limits: this.#limits,
      plain,
      format: wireFormatOf(settings, headers),
      log,
    });
    const openedAt = performance.now();
    webSocket.on('close', (code) => {
      this.#remove(connection);
      const duration_ms = Math.round(performance.now() - openedAt);
      log.info({ request_id: requestId, path, code, duration_ms }, 'websocket closed');
    });
    this.#open.add(connection);
    if (this.#timers.length === 0) this.#startTimers();
  }

  /**
   * Clients that are programs may send their token with the request. A browser sends a cookie along for any page:
   * it counts only where the page is known, and was admitted.
   */
  #tokenOf({ headers }: IncomingMessage): string | undefined {
    const presented = presentedToken(headers, this.options.settings);
    return presented?.from === 'cookie' && headers.origin === undefined ? undefined : presented?.token;
  }

  #remove(connection: Connection): void {
    this.#open.delete(connection);
    if (this.#open.size > 0) return;
    for (const timer of this.#timers.splice(0)) clearInterval(timer);
    this.#onEmpty();
  }

  #startTimers(): void {
    const each = (ms: number, visit: (connection: Connection) => void) =>
      inNeutralContext(() => setInterval(() => this.#open.forEach(visit), ms).unref());
    this.#timers = [
      each(this.options.settings.heartbeatMs, (connection) => connection.beat()),
      each(this.#limits.recheckMs, (connection) => void connection.recheck()),
    ];
  }
}
