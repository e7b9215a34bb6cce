import type { WebSocket } from 'ws';
import { errors, isReported, RunyardError } from '../../core/errors/errors.js';
import type { Log } from '../../core/log.js';
import type { RunKind } from '../../core/runs/run.js';
import type { Caller } from '../../platform/auth/caller.js';
import { isRefusedToken } from '../../platform/auth/identity.js';
import type { EventReader } from '../../platform/http/response/event-reader.js';
import type { WireFormat } from '../../platform/http/response/wire-format.js';
import {
  authErrorFrame,
  authenticatedFrames,
  authRequiredFrame,
  connectedFrame,
  tokenRequiredFrame,
} from './authenticate.js';
import { type ClientFrame, readFrame } from './client-frame.js';
import { Deliveries, type FollowedRun } from './deliveries.js';
import { goodbyeMs, type SocketLimits } from './limits.js';
import type { SendQueue } from './send-queue.js';
import { type EventFormat, errorFrame, plainEvent, streamedEvent } from './server-frame.js';
import { SocketCaller, type SocketIdentities } from './socket-caller.js';
import { AuthenticationPeriod, type UnauthenticatedConnections } from './unauthenticated-connections.js';

/** Answers an action of an admitted caller. What it throws becomes an error frame. */
export type Action = (connection: Connection, frame: ClientFrame, caller: Caller) => void | Promise<void>;

export interface ConnectionOptions {
  readonly requestId: string;
  readonly clientAddress: string;
  /** Counts an action of the caller; throws for a caller who asks too often. */
  spend(caller: Caller): void;
  /** A token that came with the request for the connection. */
  readonly token: string | undefined;
  readonly kind: RunKind;
  readonly actions: ReadonlyMap<string, Action>;
  readonly identities: SocketIdentities;
  readonly unauthenticated: UnauthenticatedConnections;
  readonly limits: SocketLimits;
  /** The client asked for events as plain JSON everywhere. */
  readonly plain: boolean;
  /** How the client receives statuses of runs. */
  readonly format: WireFormat;
  readonly log: Log;
}

/** A client that gave no sign of life over so many heartbeats is gone. */
const maxSilentBeats = 2;

/** One client. Its actions are done one after the other; the runs that it follows come as they go. */
export class Connection {
  readonly #socketCaller: SocketCaller;
  readonly #authenticationPeriod: AuthenticationPeriod;
  readonly #deliveries: Deliveries;
  #turn: Promise<void>;
  #waiting = 0;
  #silentBeats = 0;
  /** It is being closed, and its further frames are ignored. */
  #refused = false;

  constructor(
    private readonly socket: WebSocket,
    private readonly sendQueue: SendQueue,
    readonly options: ConnectionOptions,
  ) {
    const { identities, clientAddress, unauthenticated, limits } = options;
    this.#socketCaller = new SocketCaller(identities, clientAddress, () => this.#askForToken());
    this.#authenticationPeriod = new AuthenticationPeriod(
      sendQueue.stream,
      unauthenticated,
      limits,
      (code, reason) => this.#refuse(code, reason),
    );
    this.#deliveries = new Deliveries(socket, sendQueue, (error, runId) =>
      this.#fail(error, followed(runId)),
    );
    this.#listen();
    if (this.#socketCaller.current === null) this.#authenticationPeriod.begin();
    this.#turn = this.#greet(options.token);
  }

  /** How the events of a run look that was started, or is continued, through this connection. */
  get ownFormat(): EventFormat {
    return this.options.plain ? plainEvent : streamedEvent;
  }

  send(frame: object): void {
    this.sendQueue.send([JSON.stringify(frame)]);
  }

  /** Refuses while the connection follows as many runs as it may. A run that it follows takes no further place. */
  assertRoom(runId?: string): void {
    this.#deliveries.assertRoom(runId);
  }

  /** Sends the events of a run. A reader that was there before gives way; `sent` is the last index it had sent. */
  follow(run: FollowedRun, reader: EventReader, format: EventFormat, sent = -1): void {
    this.#deliveries.start(run, reader, format, sent);
    // the token may have ended while the run was looked for
    this.#stopHidden();
  }

  /** Answers with the index of the last event of the run that was sent here; -1 when it was not followed. */
  unfollow(runId: string): number {
    return this.#deliveries.stop(runId);
  }

  /** A sign of life is asked for; a client that owes some is cut off. */
  beat(): void {
    // while its own frames wait for us, nothing of it is read: that is not its silence
    if (this.socket.isPaused && !this.sendQueue.isFull) return;
    if (this.#silentBeats >= maxSilentBeats) {
      this.socket.terminate();
      return;
    }
    this.#silentBeats++;
    if (!this.sendQueue.isFull) this.socket.ping();
  }

  /** One who only listens is asked for the token again too: it may have been withdrawn. */
  async recheck(): Promise<void> {
    if (this.#deliveries.isEmpty || !this.#socketCaller.hasToken) return;
    try {
      await this.#socketCaller.caller();
      // if they were stopped in between, the client has been notified
      if (!this.#deliveries.isEmpty) this.#stopHidden();
    } catch (error) {
      if (!isReported(error))
        this.options.log.warn({ ...this.#facts, err: error }, 'a token could not be checked again');
    }
  }

  close(code: number, reason: string): void {
    this.#deliveries.stopAll();
    this.socket.close(code, reason);
  }

  terminate(): void {
    this.socket.terminate();
  }

  get #facts(): object {
    return { request_id: this.options.requestId };
  }

  #listen(): void {
    const { socket, sendQueue } = this;
    socket.on('message', (data: Buffer, isBinary) => this.#receive(data, isBinary));
    socket.on('pong', () => this.#alive());
    socket.on('ping', (data) => {
      this.#alive();
      // one who sends pings and reads nothing would fill our memory with the answers
      if (!sendQueue.isFull) socket.pong(data);
    });
    // a slow reader may owe an answer behind much that it has not read yet
    sendQueue.onDrain(() => this.#alive());
    socket.on('close', () => {
      this.#deliveries.stopAll();
      this.#authenticationPeriod.pass();
      this.#socketCaller.leave();
    });
    // the library closes the connection with the code that fits; there is nothing else to do
    socket.on('error', (error) => this.options.log.debug({ ...this.#facts, err: error }, 'websocket fault'));
  }

  #alive(): void {
    this.#silentBeats = 0;
  }

  /** A token that came with the request counts when it is valid; else the client is asked for one. */
  async #greet(token: string | undefined): Promise<void> {
    if (token !== undefined) {
      try {
        await this.#socketCaller.present(token);
        this.#authenticationPeriod.pass();
      } catch (error) {
        this.options.log.debug({ ...this.#facts, err: error }, 'the token of the request is ignored');
      }
    }
    this.send(connectedFrame(this.#socketCaller.current === null));
  }

  #receive(data: Buffer, isBinary: boolean): void {
    this.#alive();
    this.#waiting++;
    // the next frames stay on the wire until this one has its turn; who is not known sends one after the other
    if (this.#waiting > 1 || this.#authenticationPeriod.isOn) this.socket.pause();
    this.#turn = this.#turn.then(async () => {
      await this.sendQueue.room();
      if (!this.#refused) await this.#answer(data, isBinary);
      this.#waiting--;
      if (this.#waiting === 0 && this.socket.isPaused) this.socket.resume();
    });
  }

  async #answer(data: Buffer, isBinary: boolean): Promise<void> {
    let frame: ClientFrame | null = null;
    try {
      frame = readFrame(data, isBinary);
      if (frame.action === 'ping') this.send({ event: 'pong' });
      else if (frame.action === 'authenticate') await this.#authenticate(frame.fields.token);
      else await this.#act(frame);
    } catch (error) {
      this.#fail(error, frame);
    }
  }

  /** An unidentified caller gets nothing else, not even a list of what exists. */
  async #act(frame: ClientFrame): Promise<void> {
    const caller = await this.#socketCaller.caller();
    if (caller === null) {
      this.#askForToken();
      return;
    }
    this.options.spend(caller);
    const action = this.options.actions.get(frame.action);
    if (action === undefined) throw errors.invalidFrame(`Unknown action: ${frame.action}`);
    await action(this, frame, caller);
  }

  async #authenticate(token: unknown): Promise<void> {
    if (typeof token !== 'string' || token === '') {
      this.send(tokenRequiredFrame);
      this.#authenticationPeriod.attemptFailed();
      return;
    }
    try {
      const identity = await this.#socketCaller.present(token);
      this.#authenticationPeriod.pass();
      for (const frame of authenticatedFrames(identity)) this.send(frame);
      this.#stopHidden();
    } catch (error) {
      if (!(error instanceof RunyardError)) throw error;
      this.options.log.info({ ...this.#facts, error_code: error.code }, 'websocket token rejected');
      this.send(authErrorFrame(error, this.options.identities.mode, token));
      if (isRefusedToken(error)) this.#authenticationPeriod.attemptFailed();
    }
  }

  /** Stops the delivery of what the present caller may not see. */
  #stopHidden(): void {
    const caller = this.#socketCaller.current;
    if (caller === null) {
      this.#askForToken();
      return;
    }
    for (const runId of this.#deliveries.hiddenFrom(caller)) {
      this.unfollow(runId);
      this.#fail(errors.runNotFound(), followed(runId));
    }
  }

  #askForToken(): void {
    const runs = this.#deliveries.stopAll();
    if (this.socket.readyState !== this.socket.OPEN) return;
    this.#authenticationPeriod.begin();
    this.send(authRequiredFrame(this.options.identities.mode, this.#socketCaller.fault, runs));
  }

  #refuse(code: number, reason: string): void {
    this.#refused = true;
    this.close(code, reason);
    setTimeout(() => this.terminate(), goodbyeMs).unref();
  }

  #fail(error: unknown, frame: ClientFrame | null): void {
    const { kind, log, requestId } = this.options;
    if (!(error instanceof RunyardError))
      log.error({ ...this.#facts, err: error }, 'websocket action failed');
    else if (error.status >= 500 && !error.isReported)
      log.warn({ ...this.#facts, err: error }, error.message);
    this.send(errorFrame(error, kind, frame, requestId));
  }
}

/** The subject of an error that no frame of the client caused. */
function followed(runId: string): ClientFrame {
  return { action: 'follow', fields: { run_id: runId } };
}
