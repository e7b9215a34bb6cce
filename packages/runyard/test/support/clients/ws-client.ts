import { onTestFinished } from 'vitest';
import { type ClientOptions, WebSocket } from 'ws';
import type { EventPayload } from './sse-client.js';

/** One text frame, as it came over the wire. */
export interface WsFrame {
  /** It had the form of an event stream; else it was plain JSON. */
  readonly streamed: boolean;
  readonly payload: EventPayload;
}

/** A WebSocket client that keeps everything that came. */
export class WsClient {
  readonly frames: WsFrame[] = [];
  /** How many pings of the server came. */
  pings = 0;
  /** Settles with the code when the connection is closed. */
  readonly closed: Promise<{ code: number; reason: string }>;
  private isClosed = false;
  private readonly waiting: (() => void)[] = [];

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data, isBinary) => {
      if (isBinary) throw new Error('The service sent a binary frame');
      this.frames.push(frameOf(data.toString()));
      this.wake();
    });
    socket.on('ping', () => {
      this.pings++;
      this.wake();
    });
    this.closed = new Promise((resolve) => {
      socket.on('close', (code, reason) => {
        this.isClosed = true;
        this.wake();
        resolve({ code, reason: reason.toString() });
      });
    });
  }

  /** Connects, and takes the first frame for granted. The connection is closed when the test is over. */
  static async connect(serviceUrl: string, path: string, options: ClientOptions = {}): Promise<WsClient> {
    const socket = new WebSocket(serviceUrl.replace(/^http/, 'ws') + path, options);
    const client = new WsClient(socket);
    onTestFinished(() => socket.terminate());
    await new Promise<void>((resolve, reject) => {
      socket.once('open', () => resolve());
      socket.once('error', reject);
    });
    socket.on('error', () => {});
    await client.event('connected');
    return client;
  }

  /** The events of runs, in the order in which they came. */
  get events(): EventPayload[] {
    return this.frames.map(({ payload }) => payload).filter((payload) => 'event_index' in payload);
  }

  get names(): string[] {
    return this.frames.map(({ payload }) => payload.event);
  }

  eventsOf(runId: string): EventPayload[] {
    return this.events.filter(({ run_id }) => run_id === runId);
  }

  indicesOf(runId: string): number[] {
    return this.eventsOf(runId).map(({ event_index }) => event_index);
  }

  contentOf(runId: string): string {
    return this.eventsOf(runId)
      .filter(({ event }) => event === 'RunContent')
      .map(({ content }) => content as string)
      .join('');
  }

  send(frame: object | string): void {
    this.socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  /** Sends a frame and answers with the next frame that comes. */
  async ask(frame: object | string): Promise<EventPayload> {
    const before = this.frames.length;
    this.send(frame);
    return (await this.until(() => this.frames[before], 'an answer')).payload;
  }

  /** Waits for a frame of this name. */
  async event(name: string, wanted: (payload: EventPayload) => boolean = () => true): Promise<EventPayload> {
    const look = () => this.frames.find(({ payload }) => payload.event === name && wanted(payload));
    return (await this.until(look, name)).payload;
  }

  async until<T>(look: () => T | undefined | false, what = 'something'): Promise<T> {
    for (;;) {
      const seen = look();
      if (seen !== undefined && seen !== false) return seen;
      if (this.isClosed) throw new Error(`Closed before ${what}; it had ${this.names.join(', ')}`);
      await new Promise<void>((resolve) => {
        this.waiting.push(resolve);
      });
    }
  }

  private wake(): void {
    for (const resume of this.waiting.splice(0)) resume();
  }
}

/** The status of the answer to a client that is not let in. */
export function refusalOf(
  serviceUrl: string,
  path: string,
  options: ClientOptions = {},
): Promise<{ status: number | undefined; body: string }> {
  const socket = new WebSocket(serviceUrl.replace(/^http/, 'ws') + path, options);
  return new Promise((resolve, reject) => {
    socket.on('open', () => {
      socket.terminate();
      reject(new Error(`${path} let the client in`));
    });
    socket.on('error', () => {});
    socket.on('unexpected-response', (_request, response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        resolve({ status: response.statusCode, body: Buffer.concat(chunks).toString() });
        socket.terminate();
      });
    });
  });
}

/** Strict on purpose: JSON, or an event line and one data line. */
function frameOf(text: string): WsFrame {
  const streamed = /^event: (\w+)\ndata: ([^\n\r]*)\n\n$/.exec(text);
  const payload = JSON.parse(streamed?.[2] ?? text) as EventPayload;
  if (streamed && streamed[1] !== payload.event) throw new Error(`The frame names ${streamed[1]}: ${text}`);
  return { streamed: streamed !== null, payload };
}
