import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { until } from '../until.js';
import { methods, sizes } from './limits.js';
import { fieldsIn, fileIn } from './read-request.js';
import { SlackFiles, type UploadedToSlack } from './slack-files.js';

export type { Fields } from './workspace.js';

import { type Fields, type Message, Refused, Workspace } from './workspace.js';

export interface Call {
  readonly method: string;
  readonly fields: Fields;
  readonly token: string;
  /** How it was answered: `ok`, or the error. */
  answer: string;
}

/** An installation of the app in a workspace. */
export interface Installed {
  readonly teamId: string;
  readonly botUserId: string;
  readonly botId: string;
  readonly enterpriseId?: string;
}

/** How the next call of a method is answered instead: an error of Slack's, or a status. */
export interface Fault {
  readonly error?: string;
  readonly status?: number;
  readonly retryAfter?: number;
  /** The call takes effect, but its answer is lost. */
  readonly after?: true;
}

/**
 * A double of Slack's Web API and of socket mode, on the loopback address. It keeps the messages that calls write, and
 * holds every call against the limits of `limits.ts`: what breaks one is refused as Slack refuses it, and is listed.
 */
export class SlackDouble {
  /** Calls that broke a limit. */
  readonly violations: string[] = [];
  readonly calls: Call[] = [];
  readonly installed = new Map<string, Installed>();
  /** Answers of `oauth.v2.access` by their code. */
  readonly grants = new Map<string, Fields>();
  readonly users = new Map<string, Fields>();
  readonly channels = new Map<string, Fields>();
  /** Acknowledged envelopes of socket mode. */
  readonly acknowledged: string[] = [];
  readonly sockets = new Set<WebSocket>();
  /** The minute of the tiers is measured with it. */
  now: () => number = Date.now;
  private readonly workspace: Workspace;
  private readonly faults = new Map<string, Fault[]>();
  private readonly held = new Map<string, Promise<void>>();
  private readonly times = new Map<string, number[]>();
  private readonly files: SlackFiles;
  private envelopes = 0;

  static async open(): Promise<SlackDouble> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new SlackDouble(server, (server.address() as AddressInfo).port);
  }

  private constructor(
    private readonly server: Server,
    readonly port: number,
    readonly token = 'xoxb-double-1',
    readonly appToken = 'xapp-double-1',
  ) {
    const bot = { teamId: 'T1', botUserId: 'U0BOT', botId: 'B0BOT' };
    this.workspace = new Workspace(bot.botUserId);
    this.files = new SlackFiles(port, this.workspace);
    this.installed.set(token, bot);
    this.users.set(bot.botUserId, user(bot.botUserId, 'Helper'));
    this.users.set('U1', user('U1', 'Ann'));
    this.channels.set('C1', { id: 'C1', name: 'general', is_channel: true });
    server.on('request', (request, response) => void this.serve(request, response));
    const sockets = new WebSocketServer({ server });
    sockets.on('connection', (socket) => this.connected(socket));
  }

  /** Where the Web API is. */
  get url(): string {
    return `http://127.0.0.1:${this.port}/api/`;
  }

  get uploads(): UploadedToSlack[] {
    return this.files.uploads;
  }

  get messages(): readonly Message[] {
    return this.workspace.messages;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.terminate();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Forgets what was called and written, for the next test. */
  clear(): void {
    this.calls.length = 0;
    this.uploads.length = 0;
    this.violations.length = 0;
    this.workspace.messages.length = 0;
    this.faults.clear();
    this.times.clear();
  }

  /** The messages of a thread, in order, without those for one person. */
  thread(channel: string, threadTs: string): Message[] {
    return this.messages.filter(
      (one) => one.channel === channel && one.threadTs === threadTs && one.ephemeralFor === undefined,
    );
  }

  /** All text of a thread. */
  textOf(channel: string, threadTs: string): string {
    return this.thread(channel, threadTs)
      .map(({ text }) => text)
      .join('');
  }

  ephemeral(userId: string): string[] {
    return this.messages.filter(({ ephemeralFor }) => ephemeralFor === userId).map(({ text }) => text);
  }

  called(method: string): Fields[] {
    return this.calls.filter((one) => one.method === method).map(({ fields }) => fields);
  }

  /** Waits until a method was called so many times. */
  untilCalled(method: string, count = 1): Promise<unknown> {
    return until(`${method} was called ${count} times`, () => this.called(method).length >= count);
  }

  /** The next calls of a method fail, one for each fault. */
  fail(method: string, ...faults: Fault[]): void {
    this.faults.set(method, [...(this.faults.get(method) ?? []), ...faults]);
  }

  /** Calls of a method are not answered until the returned function is called. */
  hold(method: string): () => void {
    let release = () => {};
    this.held.set(method, new Promise((resolve) => (release = resolve)));
    return () => {
      this.held.delete(method);
      release();
    };
  }

  /** Slack closes streams after some minutes, whatever the app does. */
  expireStreams(): void {
    for (const message of this.workspace.messages) message.streaming = undefined;
  }

  /** A person presses stop. */
  stopStreams(): void {
    for (const message of this.workspace.messages) message.stoppedByUser = message.streaming !== undefined;
  }

  /** A file as an event has it. */
  file(name: string, mimetype: string, bytes: Uint8Array): Fields {
    return this.files.add(name, mimetype, bytes);
  }

  /** Sends an envelope to the first socket of socket mode; answers with its id. */
  push(type: 'events_api' | 'interactive', payload: Fields, fields: Fields = {}): string {
    const id = `envelope-${++this.envelopes}`;
    const [socket] = this.sockets;
    if (socket === undefined) throw new Error('No socket is open.');
    socket.send(
      JSON.stringify({ envelope_id: id, type, payload, accepts_response_payload: false, ...fields }),
    );
    return id;
  }

  /** Slack asks an app to connect again before it closes a connection. */
  refreshSockets(): void {
    for (const socket of this.sockets)
      socket.send(JSON.stringify({ type: 'disconnect', reason: 'refresh_requested' }));
  }

  private connected(socket: WebSocket): void {
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket));
    socket.on('message', (data) => {
      const { envelope_id: id } = JSON.parse(String(data));
      if (typeof id === 'string') this.acknowledged.push(id);
    });
    socket.send(JSON.stringify({ type: 'hello', num_connections: this.sockets.size }));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const path = (request.url ?? '').split('?')[0] ?? '';
    const type = request.headers['content-type'] ?? '';
    const token = (request.headers.authorization ?? '').replace(/^Bearer /, '');
    if (path.startsWith('/files/')) {
      const fault = this.faults.get('the download of a file')?.shift();
      return this.files.serve(path, { isKnown: this.installed.has(token), status: fault?.status }, response);
    }
    if (path.startsWith('/upload/')) return this.files.take(path, await fileIn(body, type), response);
    const method = path.replace('/api/', '');
    const fields = fieldsIn(body, type);
    const call: Call = { method, fields, token: token || (fields.token ?? ''), answer: 'ok' };
    this.calls.push(call);
    await this.held.get(method);
    const fault = this.faults.get(method)?.shift();
    const answered = fault !== undefined && fault.after === undefined ? fault : this.answerTo(call);
    const { status = 200, retryAfter, error, ...result } = { ...answered, ...(fault?.after && fault) };
    call.answer = error ?? (status === 200 ? 'ok' : String(status));
    response.writeHead(status, {
      'content-type': 'application/json',
      ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    });
    response.end(
      JSON.stringify(error === undefined ? { ok: status === 200, ...result } : { ok: false, error }),
    );
  }

  private answerTo(call: Call): Fields {
    try {
      const waits = this.waitFor(call);
      if (waits !== undefined) {
        this.violations.push(`${call.method}: more calls in a minute than its tier allows`);
        return { status: 429, retryAfter: waits };
      }
      const [missing] = (methods[call.method]?.required ?? []).filter(
        (name) => call.fields[name] === undefined,
      );
      if (missing !== undefined) throw new Refused('invalid_arguments', `${missing} is missing`);
      return this.result(call);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (!expected.has(error.code))
        this.violations.push(`${call.method}: ${error.code} ${error.why}`.trim());
      return { error: error.code };
    }
  }

  /** Seconds until a call is allowed; undefined: it is. */
  private waitFor({ method, fields, token }: Call): number | undefined {
    const limits = methods[method];
    if (limits === undefined) return undefined;
    const key = `${token} ${method} ${limits.byChannel ? fields.channel : ''}`;
    const now = this.now();
    const times = (this.times.get(key) ?? []).filter((time) => time > now - 60_000);
    this.times.set(key, times);
    const [first] = times;
    if (first !== undefined && times.length >= limits.perMinute)
      return Math.ceil((first + 60_000 - now) / 1000);
    times.push(now);
    return undefined;
  }

  private result({ method, fields, token }: Call): Fields {
    if (method === 'oauth.v2.access') return this.grants.get(fields.code) ?? refuse('invalid_code');
    if (method === 'apps.connections.open') {
      if (token !== this.appToken) throw new Refused('not_allowed_token_type');
      return { url: `ws://127.0.0.1:${this.port}/link` };
    }
    const bot = this.installed.get(token);
    if (bot === undefined) throw new Refused(token === '' ? 'not_authed' : 'invalid_auth');
    switch (method) {
      case 'auth.test':
        return {
          user_id: bot.botUserId,
          bot_id: bot.botId,
          team_id: bot.teamId,
          user: 'helper',
          team: 'Team',
          ...(bot.enterpriseId && { enterprise_id: bot.enterpriseId, is_enterprise_install: true }),
        };
      case 'auth.revoke':
        return { revoked: this.installed.delete(token) };
      case 'users.info':
        return { user: this.users.get(fields.user) ?? refuse('user_not_found') };
      case 'conversations.info':
        return { channel: this.channels.get(fields.channel) ?? refuse('channel_not_found') };
      case 'conversations.replies':
        return { messages: this.workspace.replies(fields), has_more: false };
      case 'assistant.threads.setStatus':
        if ((fields.loading_messages ?? []).length > sizes.loadingMessages)
          throw new Refused('invalid_arguments', 'too many loading_messages');
        return {};
      case 'assistant.threads.setTitle':
        if (fields.title === '' || fields.title.length > sizes.title)
          throw new Refused('invalid_arguments', 'title');
        return {};
      case 'assistant.threads.setSuggestedPrompts':
        if (!Array.isArray(fields.prompts) || fields.prompts.length > sizes.prompts)
          throw new Refused('invalid_arguments', 'prompts');
        return {};
      case 'chat.postMessage':
        return written(this.workspace.post(fields));
      case 'chat.postEphemeral':
        return { message_ts: this.workspace.post(fields, fields.user).ts };
      case 'chat.update':
        return written(this.workspace.update(fields));
      case 'chat.delete':
        this.workspace.remove(fields);
        return { ts: fields.ts, channel: fields.channel };
      case 'chat.startStream':
        return written(this.workspace.startStream(fields));
      case 'chat.appendStream':
        this.workspace.appendStream(fields);
        return { ts: fields.ts, channel: fields.channel };
      case 'chat.stopStream':
        return written(this.workspace.stopStream(fields));
      case 'files.getUploadURLExternal':
        return this.files.uploadUrl(fields);
      case 'files.completeUploadExternal':
        return this.files.completed(fields);
      default:
        throw new Refused('unknown_method', method);
    }
  }
}

/** Answers that a correct app gets, too. */
const expected = new Set([
  'message_not_found',
  'message_not_in_streaming_state',
  'stopped_by_user',
  'user_not_found',
  'channel_not_found',
  'invalid_code',
]);

function refuse(code: string): never {
  throw new Refused(code);
}

function written({ channel, ts, text }: Message): Fields {
  return { channel, ts, message: { text, ts } };
}

function user(id: string, name: string): Fields {
  return {
    id,
    name: name.toLowerCase(),
    real_name: name,
    profile: { display_name: name, email: `${name.toLowerCase()}@example.com` },
  };
}
