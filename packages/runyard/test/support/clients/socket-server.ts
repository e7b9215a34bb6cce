import { setImmediate } from 'node:timers/promises';
import type { RunsService } from '../../../src/capabilities/runs/service.js';
import { errors } from '../../../src/core/errors/errors.js';
import { silentLog } from '../../../src/core/log.js';
import { openWebSockets, type WebSocketOptions } from '../../../src/interfaces/websocket/endpoint.js';
import type { SocketLimits } from '../../../src/interfaces/websocket/limits.js';
import type { SocketIdentities } from '../../../src/interfaces/websocket/socket-caller.js';
import type { Caller } from '../../../src/platform/auth/caller.js';
import type { Identity } from '../../../src/platform/auth/identity.js';
import { Rights } from '../../../src/platform/auth/rights.js';
import type { HttpSettings } from '../../../src/platform/http/settings.js';
import { startServer } from './http-server.js';
import { WsClient } from './ws-client.js';

const settings = {
  compatibility: 'none' as const,
  maxBodyBytes: 1_024,
  heartbeatMs: 60_000,
  tokenSource: 'header' as const,
  tokenCookie: 'access_token',
};
/** How large a piece of the endless run is. */
export const pieceSize = 100_000;

function callerNamed(userId: string): Caller {
  return {
    userId,
    scope: { kind: 'user', userId },
    rights: Rights.unlimited,
    proven: true,
    claims: {},
    bound: {},
  };
}

/** Knows one user by the token `right`, until it is withdrawn, and others by `token of …`. */
class Tokens implements SocketIdentities {
  readonly mode = 'jwt';
  /** When each token ends. */
  expiresAt: number | null = null;
  /** How many it was asked about. */
  asked = 0;
  #withdrawn = false;
  #unavailable = false;

  withdraw(): void {
    this.#withdrawn = true;
  }

  breakDown(): void {
    this.#unavailable = true;
  }

  async of(token: string): Promise<Identity> {
    this.asked++;
    // as long as a database query takes: more may come from the client before it returns
    for (let turn = 0; turn < 20; turn++) await setImmediate();
    if (this.#unavailable) throw errors.authenticationUnavailable();
    const [, name] = /^token of (.*)$/.exec(token) ?? [];
    if (name === undefined && (token !== 'right' || this.#withdrawn))
      throw errors.invalidToken('Signature verification failed');
    return { caller: callerNamed(name ?? 'alice'), by: 'jwt', expiresAt: this.expiresAt };
  }
}

/** Only records the caller. */
class NotingRuns {
  readonly callers: Caller[] = [];

  /** How many pieces of the endless run were read. */
  pieces = 0;
  /** The last reader of the endless run is gone. */
  closed = false;
  /** A run begins no sooner. */
  ready: Promise<void> = Promise.resolve();

  async cancel(caller: Caller): Promise<void> {
    this.callers.push(caller);
  }

  async create({ userId }: Caller) {
    await this.ready;
    const reader = {
      next: async () => [
        {
          index: this.pieces,
          name: 'Piece',
          data: `{"event":"Piece","of":${this.pieces++},"x":"${'x'.repeat(pieceSize)}"}`,
        },
      ],
      close: () => {
        this.closed = true;
      },
    };
    const run = { runId: 'endless', componentId: 'a', userId };
    return { handle: { runId: 'endless', run }, events: () => reader };
  }
}

interface Wishes {
  readonly settings?: Partial<WebSocketOptions['settings']>;
  readonly limits?: Partial<SocketLimits>;
  /** Settings of the server around them. */
  readonly http?: Partial<HttpSettings>;
}

/** Sockets of a service whose tokens and runs are in the hands of the test. */
export async function startSockets({ settings: changed, limits, http = {} }: Wishes = {}) {
  const runs = new NotingRuns();
  const tokens = new Tokens();
  const upgrades = openWebSockets({
    runs: runs as unknown as RunsService,
    identities: tokens,
    settings: { ...settings, ...changed },
    log: silentLog,
    ...(limits !== undefined && { limits }),
  });
  return {
    ...(await startServer([], { upgrades, settings: { corsOrigins: ['https://app.example.com'], ...http } })),
    runs,
    tokens,
  };
}

/** Starts a run that never ends. */
export const startEndless = { action: 'start-agent', agent_id: 'a', message: 'x' };
export const cancel = { action: 'cancel-agent', agent_id: 'a', run_id: 'r' };

/** A client whose token was accepted. */
export async function authenticated(url: string, token = 'right'): Promise<WsClient> {
  const client = await WsClient.connect(url, '/agents/ws?format=json');
  client.send({ action: 'authenticate', token });
  await client.event('authenticated', ({ user_id }) => user_id !== undefined);
  return client;
}
