import type { WebSocket } from 'ws';
import type { SlackService } from '../../capabilities/slack/service.js';
import { backOffMs } from '../../core/async/back-off.js';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import type { Log } from '../../core/log.js';
import { systemTimers } from '../../platform/engine/local/timers.js';
import { parseUntrustedJson } from '../../platform/http/request/json-text.js';
import { webSocketLibrary } from '../common/web-socket-library.js';
import { deliveryOfEvent, deliveryOfInteraction } from './deliveries.js';
import type { SlackConfig } from './options.js';
import type { SlackApi } from './parts.js';
import { objectIn, textIn } from './workspaces.js';

export interface SocketModeOptions {
  readonly config: SlackConfig;
  readonly slack: SlackService;
  /** With the app token. */
  readonly api: SlackApi;
  readonly log: Log;
}

const reconnectMs = { delayMs: 500, maximumMs: 30_000 };
/** Slack pings more often than this: a connection that is silent for longer is dead. */
const silenceMs = 90_000;
const largestFrame = 4_000_000;

/** Receives over a connection that this process opens: for a service that Slack cannot reach. */
export class SocketMode {
  readonly #sockets = new Set<WebSocket>();
  #isClosed = false;
  #failures = 0;
  #cancelRetry = () => {};

  constructor(private readonly options: SocketModeOptions) {}

  /** Rejects when Slack does not let the app connect. */
  async open(): Promise<void> {
    const { url } = await this.options.api.call('apps.connections.open', {});
    if (this.#isClosed) return;
    if (typeof url !== 'string') throw new Error('apps.connections.open has no address.');
    this.#connect(url);
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelRetry();
    for (const socket of this.#sockets) socket.terminate();
  }

  #connect(url: string): void {
    const socket = new (webSocketLibrary().WebSocket)(url, {
      maxPayload: largestFrame,
      handshakeTimeout: 30_000,
    });
    this.#sockets.add(socket);
    let isReplaced = false;
    let cancelSilence = () => {};
    const heard = () => {
      cancelSilence();
      cancelSilence = systemTimers.after(silenceMs, () => socket.terminate());
    };
    /** Another connection follows this one, once. */
    const replace = () => {
      if (isReplaced || this.#isClosed) return;
      isReplaced = true;
      this.#reconnect();
    };
    heard();
    socket.on('ping', heard);
    socket.on('message', (data) => {
      heard();
      void this.#receive(socket, String(data), replace).catch((error: unknown) => {
        // what is not acknowledged is delivered again
        this.options.log.warn({ err: error }, 'a message of socket mode could not be stored');
      });
    });
    // the end of the connection follows
    socket.on('error', (error) =>
      this.options.log.warn({ err: error }, 'socket mode: the connection failed'),
    );
    socket.on('close', () => {
      cancelSilence();
      this.#sockets.delete(socket);
      replace();
    });
  }

  async #receive(socket: WebSocket, text: string, replace: () => void): Promise<void> {
    const frame = parseUntrustedJson(text);
    if (!isJsonObject(frame)) return;
    if (frame.type === 'hello') {
      this.#failures = 0;
      return;
    }
    // the old connection stays until Slack ends it: nothing is lost in between
    if (frame.type === 'disconnect') return replace();
    const envelopeId = textIn(frame, 'envelope_id');
    if (envelopeId === undefined) return;
    if ((await this.#store(frame)) === 'full') return;
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify({ envelope_id: envelopeId }));
  }

  async #store(frame: JsonObject): Promise<string> {
    const { config, slack } = this.options;
    const payload = objectIn(frame, 'payload');
    const delivery =
      frame.type === 'events_api'
        ? deliveryOfEvent(config, payload)
        : frame.type === 'interactive'
          ? deliveryOfInteraction(config, payload)
          : undefined;
    return delivery === undefined ? 'ignored' : slack.accept(delivery);
  }

  #reconnect(): void {
    if (this.#isClosed) return;
    const waitMs = this.#failures === 0 ? 0 : backOffMs(reconnectMs, this.#failures - 1);
    this.#failures += 1;
    this.#cancelRetry = systemTimers.after(waitMs, () => {
      this.open().catch((error: unknown) => {
        this.options.log.warn({ err: error }, 'socket mode: Slack cannot be reached; trying again');
        this.#reconnect();
      });
    });
  }
}
