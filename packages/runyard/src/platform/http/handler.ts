import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { errorCode } from '../../core/errors/error-code.js';
import { errors } from '../../core/errors/errors.js';
import { newId } from '../../core/ids.js';
import type { ApiDescription } from './openapi/openapi.js';
import type { EventStreams } from './response/sse.js';
import type { Router } from './router.js';
import { type NodeUpgrade, refuseUpgrade, type UpgradeGate, type Upgrades } from './upgrades.js';

/** A plain Node request handler, for another server. */
export interface NodeHandler {
  (request: IncomingMessage, response: ServerResponse): void;
  /** The same for the server's `upgrade` event: with it the WebSocket endpoints are served too. */
  readonly upgrade: NodeUpgrade;
}

/** The application, ready to be listened on or mounted. */
export interface HttpServer {
  readonly server: Server;
  readonly description: ApiDescription;
  /** How many event streams and WebSockets are open. */
  readonly open: { readonly streams: number; readonly sockets: number };
  listen(address: { readonly host: string; readonly port: number }): Promise<{ url: string; port: number }>;
  /** For another server: everything under `basePath` is ours, and the prefix is taken off before routing. */
  handler(options?: { readonly basePath?: string }): NodeHandler;
  /** From now on each answer closes its connection: clients and proxies open the next one elsewhere. */
  drain(): void;
  /**
   * Takes no new connections, gives open requests `graceMs` to end, then ends the streams cleanly, and cuts off
   * what is left.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

interface Parts {
  readonly server: Server;
  readonly router: Router;
  readonly listener: {
    receive(request: IncomingMessage, response: ServerResponse, basePath?: string): void;
    isLast: boolean;
  };
  readonly streams: EventStreams;
  readonly description: ApiDescription;
  readonly upgrades?: Upgrades;
  readonly gate?: UpgradeGate;
}

/** How long ended streams may take to reach their clients before the sockets are closed. */
const flushMs = 1_000;
const sweepMs = 20;

export function httpServer(parts: Parts): HttpServer {
  const { server, router, listener, streams, description, upgrades, gate } = parts;
  return {
    server,
    description,
    get open() {
      return { streams: streams.size, sockets: gate?.open ?? 0 };
    },
    async listen({ host, port }) {
      await router.listen({ host, port }).catch((error: unknown) => {
        throw explainListen(error, host, port, 'port');
      });
      const address = server.address();
      const actual = typeof address === 'object' && address !== null ? address.port : port;
      return { url: urlOf(host, actual), port: actual };
    },
    handler: ({ basePath = '' } = {}) => {
      const prefix = basePath.replace(/\/+$/, '');
      const handle = (request: IncomingMessage, response: ServerResponse): void => {
        request.url = withoutPrefix(request.url ?? '/', prefix);
        listener.receive(request, response, prefix);
      };
      const upgrade: NodeUpgrade = (request, socket, head) => {
        request.url = withoutPrefix(request.url ?? '/', prefix);
        if (!gate?.accept(request, socket, head)) refuseUpgrade(socket, errors.notFound(), newId());
      };
      return Object.assign(handle, { upgrade });
    },
    drain() {
      listener.isLast = true;
    },
    async close({ graceMs = 0 } = {}) {
      listener.isLast = true;
      const closed = Promise.all([router.close(), upgrades?.close()]);
      // A connection that falls idle while others are waited for would else stay open for its next request.
      const sweep = setInterval(() => server.closeIdleConnections(), sweepMs);
      try {
        if (!(await settles(closed, graceMs)) && streams.size > 0) {
          streams.endAll();
          await settles(closed, flushMs);
        }
        server.closeAllConnections();
        // A mounted application has no connections of its own whose end would end its streams.
        streams.endAll();
        await closed;
      } finally {
        clearInterval(sweep);
      }
    },
  };
}

export function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** The prefix is taken off; hosts that took it off already (as express does) are understood too. */
function withoutPrefix(url: string, prefix: string): string {
  if (prefix === '' || !url.startsWith(prefix)) return url;
  const rest = url.slice(prefix.length);
  if (rest === '' || rest.startsWith('?')) return `/${rest}`;
  return rest.startsWith('/') ? rest : url;
}

function settles(promise: Promise<unknown>, withinMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), withinMs);
    const done = () => {
      clearTimeout(timer);
      resolve(true);
    };
    promise.then(done, done);
  });
}

/** What is wrong with an address, in the words of the setting that chose the port. */
export function explainListen(
  error: unknown,
  host: string,
  port: number,
  setting: 'port' | 'probePort',
): unknown {
  const code = errorCode(error);
  if (code === 'EADDRINUSE')
    return errors.addressUnavailable(
      host,
      port,
      `the port is in use. Stop the other program or choose another port (setting ${setting})`,
    );
  if (code === 'EACCES')
    return errors.addressUnavailable(
      host,
      port,
      `this user may not listen there. Choose a port above 1023 (setting ${setting})`,
    );
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return errors.addressUnavailable(host, port, 'this machine has no such address (setting host)');
  return error;
}
