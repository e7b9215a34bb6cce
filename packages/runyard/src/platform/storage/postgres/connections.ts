import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { isOutage, isUndoneByPostgres } from '../transient.js';
import { graceMs, type Purpose, type ServerWatch } from './server-watch.js';

const connectAgainMs = 100;
const maximumTries = 5;

/** A connection that one caller holds. */
export interface HeldClient {
  query(query: pg.QueryConfig, purpose?: Purpose): Promise<pg.QueryResult>;
  /** Back to the pool, unless it cannot be used again. */
  release(isBroken?: boolean): void;
}

export interface Connecting {
  connect(): Promise<HeldClient>;
}

/** The connections of one pool, each call on them watched. */
export class Connections implements Connecting {
  constructor(
    private readonly pool: pg.Pool,
    private readonly watch: ServerWatch,
    /** How many callers may wait for a connection: those beyond are refused at once. */
    private readonly maximumWaiting: number,
  ) {}

  /** A connection of its own, until it is released. To ask for one changes nothing, so it is asked for again. */
  async connect(): Promise<WatchedClient> {
    for (const until = performance.now() + graceMs; ; ) {
      const returning = this.watch.ready();
      if (returning !== undefined) await returning;
      if (this.pool.waitingCount >= this.maximumWaiting)
        throw this.watch.refusal('busy', new Error(`${this.maximumWaiting} calls wait for a connection`));
      const connecting = this.pool.connect();
      try {
        return new WatchedClient(await this.watch.call('connect', () => connecting), this.watch);
      } catch (error) {
        // one that comes too late is not left behind
        connecting.then(
          (client) => client.release(true),
          () => {},
        );
        if (!isOutage(error) || performance.now() > until) throw error;
        await sleep(connectAgainMs);
      }
    }
  }

  /** Runs one statement that reads, on whichever connection is free. */
  read(query: pg.QueryConfig): Promise<pg.QueryResult> {
    return this.#use((client) => client.query(query));
  }

  /** Runs one statement that writes. */
  write(query: pg.QueryConfig): Promise<pg.QueryResult> {
    return this.#use((client) => client.write(query));
  }

  async #use<T>(work: (client: WatchedClient) => Promise<T>): Promise<T> {
    const client = await this.connect();
    try {
      return await work(client);
    } finally {
      client.release();
    }
  }
}

class WatchedClient implements HeldClient {
  #isBroken = false;
  readonly #generation: number;

  constructor(
    private readonly client: pg.PoolClient,
    private readonly watch: ServerWatch,
  ) {
    this.#generation = watch.generation;
  }

  query(query: pg.QueryConfig, purpose: Purpose = 'read'): Promise<pg.QueryResult> {
    return this.#call(purpose, () => this.client.query(query));
  }

  /** Runs a statement that is a transaction of its own, again if it lost a race that PostgreSQL undid. */
  write(query: pg.QueryConfig): Promise<pg.QueryResult> {
    return this.#call('write', async () => {
      for (let tries = 1; ; tries++) {
        try {
          return await this.client.query(query);
        } catch (error) {
          if (!isUndoneByPostgres(error) || tries === maximumTries) throw error;
        }
      }
    });
  }

  async #call<T>(purpose: Purpose, make: () => Promise<T>): Promise<T> {
    try {
      return await this.watch.call(purpose, make);
    } catch (error) {
      // it may still work on what was given up, or lead to a server that is no longer the right one
      if (isOutage(error)) this.#isBroken = true;
      throw error;
    }
  }

  release(isBroken = false): void {
    this.client.release(isBroken || this.#isBroken || this.#generation !== this.watch.generation);
  }
}
