import type { IncomingHttpHeaders } from 'node:http';
import {
  isInitializeRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  ProtocolErrorCode,
  type RequestId,
} from '@modelcontextprotocol/server';
import type { McpSessionsService } from '../../capabilities/mcp-sessions/service.js';
import type { EventReader } from '../../platform/http/response/event-reader.js';
import { eventStream, Reply } from '../../platform/http/response/results.js';
import { type RpcErrorOptions, type RpcRefusal, refusal, rpcCodes } from './json-rpc.js';
import { isIncidental, isMessage, isRequest } from './messages.js';
import { protocolVersions } from './server/mcp-server.js';
import type { Asker, LiveSession } from './transport/live-session.js';
import type { LiveSessions } from './transport/live-sessions.js';
import { eventPlaceOf } from './transport/open-request.js';
import { ResumedStream } from './transport/resumed-stream.js';

/** Messages that one request may carry, for clients of the version that allows several. */
const mostMessages = 100;

/** How long an id of a request may be: longer ones do not fit into an index. */
const longestId = 255;

/** Every session keeps the messages of its handshake, in memory and in the database. */
const longestHandshake = 65_536;

/** The HTTP side of the protocol: streamable HTTP with sessions. Loading this file loads the library. */
export class McpService {
  constructor(
    private readonly live: LiveSessions,
    private readonly sessions: McpSessionsService,
  ) {}

  /** Messages of a client. Requests are answered with a stream. */
  async post(body: unknown, asker: Asker): Promise<unknown> {
    const { headers } = asker;
    if (!accepts(headers, 'application/json') || !accepts(headers, 'text/event-stream'))
      throw refusal(406, 'Not Acceptable: Client must accept both application/json and text/event-stream');
    const messages = messagesOf(body);
    const [first] = messages;
    if (isDiscovery(first)) throw unsupportedVersion(headers, first);
    if (messages.length > 1 && messages.some(isHandshake))
      throw refusal(400, 'Invalid Request: Only one initialization request is allowed');
    for (const _ of messages.slice(1)) asker.spend();
    if (first !== undefined && isHandshake(first)) {
      if (!isInitializeRequest(first)) throw refusal(400, 'Invalid Request: The handshake is malformed');
      checkHandshake(first);
      return this.#initialize(first, asker);
    }
    const live = await this.#session(asker);
    const requests = messages.filter(isRequest);
    for (const message of messages) if (isIncidental(message)) await live.receive(message, asker);
    const [request] = requests;
    if (request === undefined) return new Reply(202, undefined, sessionHeader(live));
    const chosen = requests.findLast(({ method }) => method === 'logging/setLevel');
    if (chosen !== undefined) checkHandshake(chosen);
    checkIds(requests, live);
    if (!live.hasRoomFor(requests.length))
      throw refusal(429, 'Too many requests of this session are in progress', { code: rpcCodes.server });
    const readers = requests.map((message) => live.dispatch(message, asker).reader());
    if (chosen !== undefined) await this.#noteLogLevel(live, chosen);
    const [reader] = readers;
    const isSingle = reader !== undefined && readers.length === 1;
    return eventStream(isSingle ? reader : joined(readers), sessionHeader(live));
  }

  /** A stream of messages that belong to no request, or the rest of the stream of one. */
  async get(asker: Asker): Promise<unknown> {
    const { headers } = asker;
    if (!accepts(headers, 'text/event-stream'))
      throw refusal(406, `Not Acceptable: Client must accept text/event-stream${hintFor(headers)}`);
    const live = await this.#session(asker);
    const lastEventId = headers['last-event-id'];
    if (typeof lastEventId !== 'string')
      return eventStream(this.live.openOwnStream(live), sessionHeader(live));
    const place = eventPlaceOf(lastEventId);
    if (place === undefined || !(await this.#isKnown(live, place.requestKey)))
      throw refusal(400, 'Bad Request: The event id is unknown. Send the request again.');
    const stream = new ResumedStream(this.sessions.requests, live, asker, place);
    return eventStream(stream, sessionHeader(live));
  }

  /** Ends a session. */
  async delete(asker: Asker): Promise<unknown> {
    await this.live.end(await this.#session(asker));
    return new Reply(200);
  }

  close(): Promise<void> {
    return this.live.close();
  }

  async #initialize(message: JSONRPCRequest, asker: Asker): Promise<unknown> {
    const { sessionId, answer } = await this.live.begin(message, asker);
    return eventStream(
      single(JSON.stringify(answer)),
      sessionId === undefined ? {} : { 'mcp-session-id': sessionId },
    );
  }

  #session(asker: Asker): Promise<LiveSession> {
    const { headers } = asker;
    const version = headers['mcp-protocol-version'];
    if (version !== undefined && !protocolVersions.includes(String(version)))
      throw unsupportedVersion(headers);
    const sessionId = headers['mcp-session-id'];
    if (typeof sessionId !== 'string' || sessionId === '')
      throw refusal(400, 'Bad Request: Missing session ID');
    return this.live.get(sessionId, asker);
  }

  /** One that is served here may not be stored yet. */
  async #isKnown(live: LiveSession, requestKey: string): Promise<boolean> {
    if (live.resumable(requestKey) !== undefined) return true;
    return (await this.sessions.requests.find(requestKey, live.sessionId)) !== undefined;
  }

  /** The level that a client chose counts in every process. */
  async #noteLogLevel(live: LiveSession, chosen: JSONRPCRequest): Promise<void> {
    const [initialize] = live.session.handshake;
    await this.sessions.changeHandshake(live.sessionId, [initialize, chosen]);
  }
}

function sessionHeader({ sessionId }: LiveSession): Record<string, string> {
  return { 'mcp-session-id': sessionId };
}

/** An answer finds its request by the id: each is used once at a time. */
function checkIds(requests: readonly JSONRPCRequest[], live: LiveSession): void {
  const given = new Set<RequestId>();
  for (const { id } of requests) {
    if (String(id).length > longestId)
      throw refusal(400, `Invalid Request: The id of a request has more than ${longestId} characters`);
    if (given.has(id) || live.isOpen(id))
      throw refusal(400, `Invalid Request: The request id ${id} is in use`);
    given.add(id);
  }
}

function checkHandshake(message: JSONRPCMessage): void {
  if (JSON.stringify(message).length > longestHandshake)
    throw refusal(
      400,
      `Invalid Request: A message of the handshake has more than ${longestHandshake} characters`,
    );
}

function accepts({ accept }: IncomingHttpHeaders, type: string): boolean {
  return accept?.split(',').some((one) => one.split(';', 1)[0]?.trim().toLowerCase() === type) ?? false;
}

/** For a person who opens the address in a browser. */
function hintFor(headers: IncomingHttpHeaders): string {
  return accepts(headers, 'text/html') ? '. This address is for MCP clients: enter it there.' : '';
}

function messagesOf(body: unknown): readonly JSONRPCMessage[] {
  if (body === undefined) throw refusal(400, 'Parse error: The body is empty', { code: rpcCodes.parse });
  const list: readonly unknown[] = Array.isArray(body) ? body : [body];
  if (list.length === 0 || list.length > mostMessages)
    throw refusal(400, `Invalid Request: A batch has 1 to ${mostMessages} messages`);
  if (!list.every(isMessage)) throw refusal(400, 'Invalid Request: The body is no JSON-RPC message');
  return list;
}

function isHandshake(message: JSONRPCMessage): message is JSONRPCRequest {
  return isRequest(message) && message.method === 'initialize';
}

/** How clients of a later version begin. They continue with `initialize` when it is refused. */
function isDiscovery(message: JSONRPCMessage | undefined): message is JSONRPCRequest {
  return message !== undefined && isRequest(message) && message.method === 'server/discover';
}

function unsupportedVersion(headers: IncomingHttpHeaders, message?: JSONRPCRequest): RpcRefusal {
  const requested = String(headers['mcp-protocol-version'] ?? '2026-07-28').slice(0, 40);
  const options: RpcErrorOptions = {
    code: ProtocolErrorCode.UnsupportedProtocolVersion,
    data: { supported: protocolVersions, requested },
    ...(message !== undefined && { id: message.id }),
  };
  return refusal(400, `Bad Request: Unsupported protocol version: ${requested}`, options);
}

/** A stream of one message. */
function single(data: string): EventReader {
  let isSent = false;
  return {
    async next() {
      if (isSent) return null;
      isSent = true;
      return [{ index: null, name: 'message', data }];
    },
    close() {},
  };
}

/** The streams of several requests as one. Nobody resumes it: its events have no ids. */
function joined(readers: readonly EventReader[]): EventReader {
  const pending = new Map(readers.map((reader) => [reader, nextOf(reader)]));
  return {
    async next() {
      while (pending.size > 0) {
        const { reader, events } = await Promise.race(pending.values());
        if (events === null) pending.delete(reader);
        else {
          pending.set(reader, nextOf(reader));
          const sent = events.filter(({ data }) => data !== '');
          if (sent.length > 0) return sent.map(({ name, data }) => ({ index: null, name, data }));
        }
      }
      return null;
    },
    close() {
      for (const reader of readers) reader.close();
    },
  };
}

async function nextOf(reader: EventReader) {
  return { reader, events: await reader.next() };
}
