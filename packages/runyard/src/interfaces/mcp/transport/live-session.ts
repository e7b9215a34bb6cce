import type {
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
  JSONRPCResponse,
  RequestId,
  Server,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/server';
import type {
  FoundRequest,
  McpSession,
  ServedRequest,
  ServedRequests,
} from '../../../capabilities/mcp-sessions/service.js';
import { newId } from '../../../core/ids.js';
import type { Log } from '../../../core/log.js';
import type { RouteRequest } from '../../../platform/http/route.js';
import { authInfoOf, type McpCall } from '../call.js';
import { isAnswer, isRequest } from '../messages.js';
import { assertMayAnswer } from '../server/runs/answer-rights.js';
import { keptAfterMs, OpenRequest, type TakenOver } from './open-request.js';
import { OwnStream } from './own-stream.js';

/** Who asks, and over which connection. */
export type Asker = Pick<
  RouteRequest<unknown, unknown, unknown>,
  'caller' | 'headers' | 'basePath' | 'spend'
>;

export interface LiveSessionSite {
  readonly server: Server;
  readonly requests: ServedRequests;
  readonly log: Log;
}

/** Requests in progress that one session may have in one process. */
const mostOpen = 100;

/** How long an answer waits here for a client that was cut off while it was sent, and how many of a session wait. */
const answeredKeptMs = 10_000;
const mostAnswered = 20;

/** Since which version clients know events that have an id and no data. */
const bareIdsSince = '2025-11-25';

/** A session in this process: the library's server, and the requests that it serves here. */
export class LiveSession implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly sessionId: string;
  /** When the store last said that the session is there. */
  checkedAt = Date.now();
  /** When its use was last noted. */
  notedAt = Date.now();
  #version = '';
  /** By the ids that the client gave, as JSON. */
  readonly #open = new Map<string, OpenRequest>();
  /** Answered a moment ago: that the answer was written does not mean that the client has it. */
  readonly #answered = new Set<OpenRequest>();
  /** Names the requests to the client: the server of another process counts its own. */
  readonly #ownKey = newId();
  #released = false;
  #ownStream: OwnStream | undefined;

  constructor(
    readonly session: McpSession,
    private readonly site: LiveSessionSite,
  ) {
    this.sessionId = session.sessionId;
  }

  /** Whether nothing is lost when another process, or this one later, opens the session anew. */
  get isIdle(): boolean {
    return this.#open.size === 0 && this.#ownStream === undefined;
  }

  /** Whether its server is closed: nothing is answered here. */
  get isReleased(): boolean {
    return this.#released;
  }

  hasRoomFor(requests: number): boolean {
    return this.#open.size + requests <= mostOpen;
  }

  async start(): Promise<void> {}

  setProtocolVersion(version: string): void {
    this.#version = version;
  }

  /** Called by the library. */
  async close(): Promise<void> {
    for (const request of this.#open.values()) request.end();
    this.#ownStream?.end();
    this.onclose?.();
  }

  /** Connects the server, and has it see the messages that made the session what it is. */
  async connect(asker: Asker): Promise<JSONRPCResponse | undefined> {
    await this.site.server.connect(this);
    let first: JSONRPCResponse | undefined;
    for (const message of this.session.handshake) {
      // only messages of this kind are stored as the handshake
      const request = message as JSONRPCRequest;
      const answer = await this.#answerTo(request, asker);
      first ??= answer;
    }
    return first;
  }

  /** Hands a request to the server. Its answer, and what comes before, is read from the result. */
  dispatch(message: JSONRPCRequest, asker: Asker, taken?: TakenOver): OpenRequest {
    const { requests, log } = this.site;
    const request = new OpenRequest(
      message,
      {
        sessionId: this.sessionId,
        requests,
        takesBareIds: this.#version >= bareIdsSince,
        log,
        servedAs: (requestKey) => this.servedAs(requestKey),
      },
      taken,
    );
    const key = JSON.stringify(message.id);
    // a client that uses an id twice receives the answer to the later request alone
    void this.#open
      .get(key)
      ?.release()
      .catch(() => {});
    if (this.#released) {
      void request.release().catch(() => {});
      return request;
    }
    this.#open.set(key, request);
    this.onmessage?.(message, {
      authInfo: authInfoOf(callOf(request, asker)),
      closeSSEStream: () => request.leaveStreams(),
    });
    return request;
  }

  /** Dispatches a request again whose process is gone. Undefined: another process serves it. */
  async takeOver(request: FoundRequest, asker: Asker): Promise<OpenRequest | undefined> {
    const { requestKey, runId } = request;
    const { requests } = this.site;
    const position = await requests.takeOver(request, this.servedAs(requestKey));
    if (position === undefined) return undefined;
    // stored as it was dispatched
    const message: JSONRPCRequest = JSON.parse(request.message);
    const open = this.dispatch(message, asker, { requestKey, runId, position });
    // what the client sent while no process served it
    requests.takeMessages();
    return open;
  }

  /** Whether a request with this id is in progress. */
  isOpen(id: RequestId): boolean {
    return this.#open.has(JSON.stringify(id));
  }

  /** How a stored request of this session is reached. */
  servedAs(requestKey: string): ServedRequest {
    return {
      // only messages of these kinds are left for another process
      receive: (message) => void this.#deliver(message as JSONRPCResponse | JSONRPCNotification),
      lose: () => this.openRequest(requestKey)?.end(),
    };
  }

  openRequest(requestKey: string): OpenRequest | undefined {
    for (const request of this.#open.values()) if (request.requestKey === requestKey) return request;
    return undefined;
  }

  /** A request whose stream can be resumed here: in progress, or answered a moment ago. */
  resumable(requestKey: string): OpenRequest | undefined {
    for (const request of this.#answered) if (request.requestKey === requestKey) return request;
    return this.openRequest(requestKey);
  }

  /** Takes an answer or a notification of the client. What is meant for another process is left there. */
  async receive(message: JSONRPCResponse | JSONRPCNotification, asker: Asker): Promise<void> {
    const request = await this.#requestOf(message);
    if (request !== undefined) assertMayAnswer(asker.caller, request);
    if (await this.#deliver(message)) return;
    if (!isAnswer(message)) return this.#cancelElsewhere(message, asker);
    const { requestKey } = askedBy(message.id) ?? {};
    if (requestKey !== undefined) await this.site.requests.leave(this.sessionId, requestKey, message);
  }

  /** The stream for messages that belong to no request. A client has one: a new one ends the one before. */
  openOwnStream(onClosed: () => void): OwnStream {
    this.#ownStream?.end();
    const stream = new OwnStream(() => {
      onClosed();
      if (this.#ownStream === stream) this.#ownStream = undefined;
    });
    this.#ownStream = stream;
    return stream;
  }

  /** Called by the library with all that it sends. */
  async send(message: JSONRPCMessage, options: TransportSendOptions = {}): Promise<void> {
    if (isAnswer(message)) {
      const key = JSON.stringify(message.id);
      const request = this.#open.get(key);
      this.#open.delete(key);
      request?.send(message, true);
      if (request?.isResumable) this.#keepAnswered(request);
      return;
    }
    const { relatedRequestId } = options;
    if (relatedRequestId === undefined) {
      this.#sendUnrelated(message);
      return;
    }
    const request = this.#open.get(JSON.stringify(relatedRequestId));
    if (request === undefined) throw new Error('The request is answered already.');
    request.send(withOwnIds(message, `${request.requestKey}.${this.#ownKey}`), false);
  }

  /** Gives all requests back that are stored, and ends the streams. */
  async release(): Promise<void> {
    this.#released = true;
    const open = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(open.map((request) => request.release()));
    await this.site.server.close();
  }

  #keepAnswered(request: OpenRequest): void {
    this.#answered.add(request);
    const [oldest] = this.#answered;
    if (this.#answered.size > mostAnswered && oldest !== undefined) this.#answered.delete(oldest);
    setTimeout(() => this.#answered.delete(request), answeredKeptMs).unref();
  }

  #sendUnrelated(message: JSONRPCMessage): void {
    if (this.#ownStream === undefined) {
      // a notification that nobody waits for is lost; a request would wait for its answer in vain
      if (isRequest(message)) throw new Error('The client has no open stream for requests.');
      return;
    }
    this.#ownStream.send(JSON.stringify(withOwnIds(message, `${this.#ownKey}.${this.#ownKey}`)));
  }

  /** The request that an answer or a cancellation is about, as far as it is known here. */
  async #requestOf(
    message: JSONRPCResponse | JSONRPCNotification,
  ): Promise<Pick<JSONRPCRequest, 'params'> | undefined> {
    if (!isAnswer(message)) return this.#open.get(JSON.stringify(message.params?.requestId))?.message;
    const { requestKey } = askedBy(message.id) ?? {};
    if (requestKey === undefined) return undefined;
    const open = this.openRequest(requestKey);
    if (open !== undefined) return open.message;
    const found = await this.site.requests.find(requestKey, this.sessionId);
    return found && JSON.parse(found.message);
  }

  /** False: it is about a request that is not served here. */
  async #deliver(message: JSONRPCResponse | JSONRPCNotification): Promise<boolean> {
    if (isAnswer(message)) return this.#deliverAnswer(message);
    if (message.method === 'notifications/cancelled') return this.#deliverCancel(message);
    this.onmessage?.(message);
    return true;
  }

  #deliverAnswer(message: JSONRPCResponse): boolean {
    const asked = askedBy(message.id);
    if (asked === undefined) return true;
    const { requestKey, askerKey, id } = asked;
    // the answer to a question of an earlier process is not the answer to the one that was asked since
    if (askerKey !== this.#ownKey) return this.openRequest(requestKey) !== undefined;
    this.onmessage?.({ ...message, id });
    return true;
  }

  async #deliverCancel(message: JSONRPCNotification): Promise<boolean> {
    const id = message.params?.requestId;
    if (typeof id !== 'string' && typeof id !== 'number') return true;
    const request = this.#open.get(JSON.stringify(id));
    if (request === undefined) return false;
    request.cancel(message.params?.reason);
    this.onmessage?.(message);
    // the library does not answer a request that was cancelled
    await this.send({ jsonrpc: '2.0', id, error: { code: 0, message: 'Request cancelled' } });
    return true;
  }

  /** The process that serves the request may not have stored it yet. One that is gone cancels nothing. */
  async #cancelElsewhere(message: JSONRPCNotification, asker: Asker): Promise<void> {
    const { requests, log } = this.site;
    const messageId = JSON.stringify(message.params?.requestId);
    const leave = async () => {
      const requestKey = await requests.openRequest(this.sessionId, messageId);
      const found = requestKey && (await requests.find(requestKey, this.sessionId));
      if (!found) return false;
      assertMayAnswer(asker.caller, JSON.parse(found.message));
      if ((await this.takeOver(found, asker)) !== undefined) return this.#deliver(message);
      await requests.leave(this.sessionId, found.requestKey, message);
      return true;
    };
    if (await leave()) return;
    setTimeout(() => {
      leave().catch((error: unknown) => log.warn({ err: error }, 'an MCP request could not be cancelled'));
    }, 2 * keptAfterMs).unref();
  }

  async #answerTo(message: JSONRPCRequest, asker: Asker): Promise<JSONRPCResponse | undefined> {
    const reader = this.dispatch(message, asker).reader();
    const events = (await reader.next()) ?? [];
    reader.close();
    const last = events.at(-1);
    return last && JSON.parse(last.data);
  }
}

function callOf(request: OpenRequest, { caller, headers, basePath }: Asker): McpCall {
  const { runId, isRepeated, cancelled } = request;
  return { caller, runId, isRepeated, cancelled, headers, basePath };
}

/**
 * Every process has a server of the session, and each counts the requests that it sends: with the keys of the client's
 * request and of the server that asks, their ids are different, and an answer finds its process.
 */
function withOwnIds(message: JSONRPCMessage, keys: string): JSONRPCMessage {
  if (!('method' in message)) return message;
  if ('id' in message) return { ...message, id: `${keys}.${message.id}` };
  if (message.method !== 'notifications/cancelled') return message;
  const params = { ...message.params, requestId: `${keys}.${message.params?.requestId}` };
  return { ...message, params };
}

/** Which request of ours an answer is for; undefined for an id that we did not give. */
function askedBy(id: RequestId | undefined) {
  const [, requestKey, askerKey, number] =
    /^([\da-f-]{36})\.([\da-f-]{36})\.(\d{1,15})$/.exec(String(id)) ?? [];
  return requestKey === undefined ? undefined : { requestKey, askerKey, id: Number(number) };
}
