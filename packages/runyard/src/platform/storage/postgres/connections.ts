import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { heardWithin } from '../../net/heard-within.js';
import type { Availability } from '../availability.js';
import { isOutage, isUndoneByPostgres, troubleOf } from '../transient.js';

/** What a call is made for. */
type Purpose = 'connect' | 'read' | 'write';

/** After this long without an answer a call makes us ask whether the server is there. */
const silenceMs = 1_500;
/** How long a server that is there may take to let us in and answer, in looks for its answer at this distance. */
const probeMs = 4_000;
const listenMs = 100;
/** After this long a probe that was given up ends its connection, answered or not. */
const forgottenMs = 60_000;
/** How often an unavailable server is probed. */
const lookMs = 500;
/** How long a call waits for a server that has just gone away: a restart is over by then. */
const graceMs = 2_000;
const connectAgainMs = 100;
const maximumTries = 5;

/**
 * Watches one server for all pools of a database. A call that fails, or gets no answer, says little about the server:
 * a fresh connection does. When that fails too, all calls in flight are rejected at once, and until it succeeds new
 * ones are refused without being made.
 */
export class ServerWatch {
  readonly #underWay = new Set<(error: Error) => void>();
  readonly #waiting = new Set<() => void>();
  #probing: Promise<void> | undefined;
  /** Counts what the server answered: one that answers is slow, not away. */
  #answers = 0;
  #closed = false;

  constructor(
    private readonly url: string,
    private readonly availability: Availability,
    /** Idle connections lead to a server that may never answer on them again. */
    private readonly dropIdle: () => void,
  ) {}

  /** Makes a call, or fails with what callers are to be answered with when the server is to blame. */
  async call<T>(purpose: Purpose, make: () => Promise<T>): Promise<T> {
    if (this.availability.outage === 'lost') throw this.availability.refusal('lost');
    const silence = setInterval(() => this.suspect(), silenceMs);
    let giveUp!: (error: Error) => void;
    const givenUp = new Promise<never>((_, reject) => {
      giveUp = reject;
    });
    this.#underWay.add(giveUp);
    try {
      const result = await Promise.race([make(), givenUp]);
      this.#answers += 1;
      if (purpose === 'write') this.availability.end('unwritable');
      return result;
    } catch (error) {
      throw this.#explain(purpose, error);
    } finally {
      clearInterval(silence);
      this.#underWay.delete(giveUp);
    }
  }

  /** Waits for a server that has just gone away; refuses when it has been away for longer. */
  async ready(): Promise<void> {
    if (this.availability.outage !== 'lost') return;
    const left = graceMs - this.availability.outageMs;
    if (left > 0) {
      await new Promise<void>((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          this.#waiting.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, left);
        this.#waiting.add(wake);
      });
    }
    if (this.availability.outage === 'lost') throw this.availability.refusal('lost');
  }

  /** Checks whether the server can be reached. */
  suspect(): void {
    if (this.#closed || this.availability.outage === 'lost') return;
    const answers = this.#answers;
    this.#probing ??= this.#probe()
      .catch((error: unknown) => {
        if (this.#answers === answers) this.#noteAway(error);
      })
      .finally(() => {
        this.#probing = undefined;
      });
  }

  close(): void {
    this.#closed = true;
    for (const wake of [...this.#waiting]) wake();
  }

  #explain(purpose: Purpose, error: unknown): unknown {
    if (isOutage(error)) return error;
    if (error instanceof pg.DatabaseError) this.#answers += 1;
    // whatever keeps us from getting in, the caller is not to blame for it
    const trouble = troubleOf(error) ?? (purpose === 'connect' && !this.#closed ? 'lost' : undefined);
    if (trouble === 'lost') this.suspect();
    return this.availability.failure(error, trouble);
  }

  #noteAway(cause: unknown): void {
    if (this.#closed) return;
    this.availability.begin('lost', cause);
    for (const giveUp of [...this.#underWay]) giveUp(this.availability.refusal('lost', cause));
    this.dropIdle();
    void this.#lookUntilBack();
  }

  async #lookUntilBack(): Promise<void> {
    while (!this.#closed) {
      await sleep(lookMs, undefined, { ref: false });
      const isBack = await this.#probe().then(
        () => true,
        () => false,
      );
      if (!isBack) continue;
      this.availability.end('lost');
      for (const wake of [...this.#waiting]) wake();
      return;
    }
  }

  async #probe(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.url,
      connectionTimeoutMillis: forgottenMs,
      query_timeout: forgottenMs,
    });
    client.on('error', () => {});
    try {
      await heardWithin(
        probeMs,
        listenMs,
        client.connect().then(() => client.query('SELECT 1')),
      );
    } catch (error) {
      // it is there, and has others to serve
      if (troubleOf(error) !== 'busy') throw error;
    } finally {
      void client.end().catch(() => {});
    }
  }
}

/** The connections of one pool, each call on them watched. */
export class Connections {
  constructor(
    private readonly pool: pg.Pool,
    private readonly watch: ServerWatch,
  ) {}

  /** A connection of its own, until it is released. To ask for one changes nothing, so it is asked for again. */
  async connect(): Promise<WatchedClient> {
    for (const until = performance.now() + graceMs; ; ) {
      await this.watch.ready();
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

/** A connection that one caller holds. */
export class WatchedClient {
  #isBroken = false;

  constructor(
    private readonly client: pg.PoolClient,
    private readonly watch: ServerWatch,
  ) {}

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

  /** Back to the pool, unless it cannot be used again. */
  release(isBroken = false): void {
    this.client.release(isBroken || this.#isBroken);
  }
}
