import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { InProcessNotifications } from '../../../core/runs/notifications/in-process-notifications.js';
import type { RunHint, RunNotifications } from '../../../core/runs/notifications/run-notifications.js';
import { notifyChannel } from '../notify-channel.js';

const connectTimeoutMs = 15_000;
const reconnectMs = 1_000;

/** Takes the hints as a list. */
export const notify = {
  name: 'notify_hints',
  text: `SELECT pg_notify(${notifyChannel}, hint) FROM unnest($1::text[]) AS hint`,
};

/**
 * Hints by LISTEN and NOTIFY. The first subscriber opens one connection, which is replaced when it breaks; hints are
 * lost in between.
 */
export class PostgresNotifications implements RunNotifications {
  readonly #local = new InProcessNotifications();
  readonly #closing = new AbortController();
  readonly #unsent = new Set<string>();
  #sending = false;
  #listening = false;
  #endConnection: () => void = () => {};

  constructor(
    /** Where to listen; undefined: nowhere, because a pooler in between passes nothing on. */
    private readonly url: () => string | undefined,
    private readonly send: (hints: readonly string[]) => Promise<unknown>,
  ) {}

  publish(hint: RunHint): void {
    this.#unsent.add(JSON.stringify(hint));
    if (!this.#sending) void this.#sendAll();
  }

  subscribe(listener: (hint: RunHint) => void): () => void {
    if (!this.#listening) void this.#listen();
    return this.#local.subscribe(listener);
  }

  /** Listens on a new connection: the server at the end of this one may no longer be the right one. */
  renew(): void {
    this.#endConnection();
  }

  close(): void {
    this.#closing.abort();
  }

  /** Hints that come while others are on their way share the next statement. */
  async #sendAll(): Promise<void> {
    this.#sending = true;
    while (this.#unsent.size > 0 && !this.#closing.signal.aborted) {
      // those of one turn of the event loop go together
      await Promise.resolve();
      const hints = [...this.#unsent];
      this.#unsent.clear();
      await this.send(hints).catch(() => {});
    }
    this.#sending = false;
  }

  async #listen(): Promise<void> {
    this.#listening = true;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const url = this.url();
      if (url === undefined) return;
      await this.#listenOnce(url, signal).catch(() => {});
      await sleep(reconnectMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  /** Returns when the connection has ended. */
  async #listenOnce(url: string, signal: AbortSignal): Promise<void> {
    const socket = new Socket();
    const client = new pg.Client({
      connectionString: url,
      stream: () => socket,
      connectionTimeoutMillis: connectTimeoutMs,
      keepAlive: true,
    });
    const ended = new Promise<void>((resolve) => client.once('end', resolve));
    const end = () => {
      // a server that does not answer keeps no process that is done
      socket.unref();
      void client.end().catch(() => {});
    };
    this.#endConnection = end;
    client.on('error', end);
    client.on('notification', ({ payload }) => this.#receive(payload));
    signal.addEventListener('abort', end);
    try {
      await client.connect();
      const { rows } = await client.query<{ channel: string }>(`SELECT ${notifyChannel} AS channel`);
      await client.query(`LISTEN ${rows[0]?.channel}`);
      await ended;
    } finally {
      signal.removeEventListener('abort', end);
      end();
    }
  }

  #receive(payload = ''): void {
    try {
      this.#local.publish(JSON.parse(payload));
    } catch {
      // every client of the database can send on the channel
    }
  }
}
