import type { JSONRPCRequest, JSONRPCResponse, Server } from '@modelcontextprotocol/server';
import {
  type McpSession,
  type McpSessionsService,
  newMcpSession,
} from '../../../capabilities/mcp-sessions/service.js';
import type { Log } from '../../../core/log.js';
import { refusal } from '../json-rpc.js';
import { type Asker, LiveSession } from './live-session.js';
import type { OwnStream } from './own-stream.js';

/** Sessions without work that a process keeps ready; others are built again from the store. */
const mostIdle = 1_000;

/** How long a process trusts that a session was not ended in another one. */
const trustedMs = 2_000;

/** How often a process notes that a session is in use. */
const notedMs = 3_600_000;

export interface LiveSessionsOptions {
  readonly sessions: McpSessionsService;
  /** Makes the server of a session. */
  readonly server: () => Server;
  readonly log: Log;
}

/** The sessions that this process knows. Each can be built again in any process. */
export class LiveSessions {
  /** The least recently used first. */
  readonly #live = new Map<string, LiveSession>();
  readonly #opening = new Map<string, Promise<LiveSession>>();

  constructor(private readonly options: LiveSessionsOptions) {}

  /** Begins a session, unless the server refuses the handshake. Answers with its response. */
  async begin(
    message: JSONRPCRequest,
    asker: Asker,
  ): Promise<{ sessionId: string | undefined; answer: JSONRPCResponse | undefined }> {
    const session = newMcpSession(asker.caller, [message]);
    const live = this.#newLive(session);
    const answer = await live.connect(asker);
    if (answer === undefined || !('result' in answer)) {
      await live.release();
      return { sessionId: undefined, answer };
    }
    await this.options.sessions.begin(session);
    this.#keep(live);
    return { sessionId: session.sessionId, answer };
  }

  /** A session of the caller's. Refused when there is none. */
  async get(sessionId: string, asker: Asker): Promise<LiveSession> {
    const { sessions, log } = this.options;
    const known = this.#live.get(sessionId);
    const isTrusted = !sessions.isShared || (known?.checkedAt ?? 0) + trustedMs > Date.now();
    let live = known;
    if (known === undefined || known.session.userId !== asker.caller.userId || !isTrusted) {
      const found = await sessions.find(asker.caller, sessionId);
      if (found === undefined || found === 'ended') await this.#drop(sessionId, found, known, asker);
      else {
        // another request may have opened it meanwhile
        live = known ?? this.#live.get(sessionId) ?? (await this.#open(found, asker));
        live.checkedAt = Date.now();
      }
    }
    // a released one was ended while this request looked for it
    if (live === undefined || live.isReleased) throw refusal(404, 'Session not found');
    this.#keep(live);
    if (live.notedAt + notedMs < Date.now()) {
      live.notedAt = Date.now();
      sessions
        .noteUse(sessionId)
        .catch((err: unknown) => log.warn({ err }, 'the use of an MCP session could not be noted'));
    }
    return live;
  }

  /** The stream for messages that belong to no request. It ends with the session, also when another process ends that. */
  openOwnStream(live: LiveSession): OwnStream {
    const { sessions, log } = this.options;
    return live.openOwnStream(
      sessions.whenEnded(live.sessionId, () => {
        if (this.#live.get(live.sessionId) === live) this.#live.delete(live.sessionId);
        live
          .release()
          .catch((err: unknown) => log.warn({ err }, 'an MCP session that was ended could not be closed'));
      }),
    );
  }

  /** Ends a session for good. */
  async end(live: LiveSession): Promise<void> {
    await this.options.sessions.end(live.sessionId);
    this.#live.delete(live.sessionId);
    await live.release();
  }

  /** Gives back what is in progress. */
  async close(): Promise<void> {
    const all = [...this.#live.values()];
    this.#live.clear();
    await Promise.all(all.map((live) => live.release()));
    await this.options.sessions.requests.close();
  }

  async #drop(
    sessionId: string,
    found: 'ended' | undefined,
    known: LiveSession | undefined,
    { caller }: Asker,
  ): Promise<never> {
    // of another user's session nothing changes
    if (known !== undefined && known.session.userId === caller.userId) {
      this.#live.delete(sessionId);
      await known.release();
    }
    throw refusal(404, found === 'ended' ? 'Not Found: Session has been terminated' : 'Session not found');
  }

  /** Requests that come at the same time share one server. */
  #open(session: McpSession, asker: Asker): Promise<LiveSession> {
    const { sessionId } = session;
    const opening =
      this.#opening.get(sessionId) ??
      this.#openNow(session, asker).finally(() => this.#opening.delete(sessionId));
    this.#opening.set(sessionId, opening);
    return opening;
  }

  async #openNow(session: McpSession, asker: Asker): Promise<LiveSession> {
    const live = this.#newLive(session);
    live.notedAt = 0;
    await live.connect(asker);
    live.onmessage?.({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return live;
  }

  #newLive(session: McpSession): LiveSession {
    const { sessions, server, log } = this.options;
    return new LiveSession(session, { server: server(), requests: sessions.requests, log });
  }

  #keep(live: LiveSession): void {
    this.#live.delete(live.sessionId);
    this.#live.set(live.sessionId, live);
    if (this.#live.size <= mostIdle) return;
    for (const old of this.#live.values()) {
      if (!old.isIdle) continue;
      this.#live.delete(old.sessionId);
      void old.release();
      return;
    }
  }
}
