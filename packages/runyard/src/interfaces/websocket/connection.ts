import type { IncomingHttpHeaders } from 'node:http';
import type { WebSocket } from 'ws';
import { errors, RunyardError } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import type { RunKind } from '../../core/runs/run.js';
import type { Caller } from '../../platform/auth/caller.js';
import type { EventReader } from '../../platform/http/sse.js';
import type { WireFormat } from '../../platform/http/wire-format.js';
import { type ClientFrame, readFrame } from './client-frame.js';
import { Delivery } from './delivery.js';
import type { Outlet } from './outlet.js';
import { type EventFormat, errorFrame, plainEvent, streamedEvent } from './server-frame.js';

/** Who speaks on a connection; asked for each action, so that a right that was taken away ends at once. */
export type ResolveSocketCaller = (credentials: {
  readonly headers: IncomingHttpHeaders;
  /** What the client sent last to authenticate itself. */
  readonly token: string | null;
}) => Caller | Promise<Caller>;

/** Answers an action. What it throws becomes an error frame. */
export type Action = (connection: Connection, frame: ClientFrame) => void | Promise<void>;

export interface ConnectionOptions {
  readonly requestId: string;
  readonly headers: IncomingHttpHeaders;
  readonly kind: RunKind;
  readonly actions: ReadonlyMap<string, Action>;
  readonly resolveCaller: ResolveSocketCaller;
  /** The client asked for events as plain JSON everywhere. */
  readonly plain: boolean;
  /** How the client wants statuses of runs. */
  readonly format: WireFormat;
  readonly log: Log;
}

/** How many runs one connection may follow at a time. */
const maxFollowed = 100;
/** A client that gave no sign of life over so many heartbeats is gone. */
const maxSilentBeats = 2;

/** One client. Its actions are done one after the other; the runs that it follows come as they go. */
export class Connection {
  token: string | null = null;
  readonly #deliveries = new Map<string, Delivery>();
  #turn: Promise<void> = Promise.resolve();
  #waiting = 0;
  #silentBeats = 0;

  constructor(
    private readonly socket: WebSocket,
    private readonly outlet: Outlet,
    readonly options: ConnectionOptions,
  ) {
    socket.on('message', (data: Buffer, isBinary) => this.#receive(data, isBinary));
    socket.on('pong', () => this.#alive());
    socket.on('ping', (data) => {
      this.#alive();
      // one who sends pings and reads nothing would fill our memory with the answers
      if (!outlet.isFull) socket.pong(data);
    });
    // a slow reader may owe an answer behind much that it has not read yet
    outlet.onDrain(() => this.#alive());
    socket.on('close', () => this.#stopAll());
    // the library closes the connection with the code that fits; there is nothing else to do
    socket.on('error', (error) => options.log.debug({ ...this.#facts, err: error }, 'websocket fault'));
  }

  /** Who speaks, with the token that the client sent before or with another one. */
  async callerWith(token = this.token): Promise<Caller> {
    return this.options.resolveCaller({ headers: this.options.headers, token });
  }

  /** How the events of a run look that was started, or goes on, through this connection. */
  get ownFormat(): EventFormat {
    return this.options.plain ? plainEvent : streamedEvent;
  }

  send(frame: object): void {
    this.outlet.send([JSON.stringify(frame)]);
  }

  /** Refuses while the connection follows as many runs as it may. A run that it follows takes no further place. */
  assertRoom(runId?: string): void {
    if (this.#deliveries.size < maxFollowed || (runId !== undefined && this.#deliveries.has(runId))) return;
    throw errors.tooManyFollowed(maxFollowed);
  }

  /** Sends the events of a run. A reader that was there before gives way; `sent` is the last index it had sent. */
  follow(runId: string, reader: EventReader, format: EventFormat, sent = -1): void {
    this.unfollow(runId);
    const delivery = new Delivery(reader, format, this.outlet, sent);
    this.#deliveries.set(runId, delivery);
    if (this.socket.readyState !== this.socket.OPEN) delivery.stop();
    const ended = () => {
      if (this.#deliveries.get(runId) === delivery) this.#deliveries.delete(runId);
    };
    delivery.run().then(ended, (error: unknown) => {
      ended();
      if (this.socket.readyState === this.socket.OPEN) this.#fail(error, followed(runId));
    });
  }

  /** Answers with the index of the last event of the run that was sent here; -1 when it was not followed. */
  unfollow(runId: string): number {
    const delivery = this.#deliveries.get(runId);
    delivery?.stop();
    this.#deliveries.delete(runId);
    return delivery?.lastIndex ?? -1;
  }

  /** A sign of life is asked for; a client that owes some is cut off. */
  beat(): void {
    // while its own frames wait for us, nothing of it is read: that is not its silence
    if (this.socket.isPaused && !this.outlet.isFull) return;
    if (this.#silentBeats >= maxSilentBeats) {
      this.socket.terminate();
      return;
    }
    this.#silentBeats++;
    if (!this.outlet.isFull) this.socket.ping();
  }

  close(code: number, reason: string): void {
    this.#stopAll();
    this.socket.close(code, reason);
  }

  terminate(): void {
    this.socket.terminate();
  }

  get #facts(): object {
    return { request_id: this.options.requestId };
  }

  #alive(): void {
    this.#silentBeats = 0;
  }

  #receive(data: Buffer, isBinary: boolean): void {
    this.#alive();
    this.#waiting++;
    // the next frames stay on the wire until this one has its turn
    if (this.#waiting > 1) this.socket.pause();
    this.#turn = this.#turn.then(async () => {
      await this.outlet.room();
      await this.#answer(data, isBinary);
      this.#waiting--;
      if (this.#waiting === 0 && this.socket.isPaused) this.socket.resume();
    });
  }

  async #answer(data: Buffer, isBinary: boolean): Promise<void> {
    let frame: ClientFrame | null = null;
    try {
      frame = readFrame(data, isBinary);
      const action = this.options.actions.get(frame.action);
      if (action === undefined) throw errors.invalidFrame(`Unknown action: ${frame.action}`);
      await action(this, frame);
    } catch (error) {
      this.#fail(error, frame);
    }
  }

  #fail(error: unknown, frame: ClientFrame | null): void {
    const { kind, log, requestId } = this.options;
    if (!(error instanceof RunyardError))
      log.error({ ...this.#facts, err: error }, 'websocket action failed');
    else if (error.status >= 500) log.warn({ ...this.#facts, err: error }, error.message);
    this.send(errorFrame(error, kind, frame, requestId));
  }

  #stopAll(): void {
    for (const runId of [...this.#deliveries.keys()]) this.unfollow(runId);
  }
}

/** What an error is about that no frame of the client's brought up. */
function followed(runId: string): ClientFrame {
  return { action: 'follow', fields: { run_id: runId } };
}
