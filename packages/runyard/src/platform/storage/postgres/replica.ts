import type pg from 'pg';
import type { Log } from '../../../core/log.js';
import { heardWithin } from '../../net/heard-within.js';
import { isSchemaFault, troubleOf } from '../transient.js';
import type { Connecting, HeldClient } from './connections.js';

export interface ReplicaOptions {
  readonly database: string;
  readonly pool: pg.Pool;
  /** Of one connection, so that no long list keeps the comparison waiting. */
  readonly lookPool: pg.Pool;
  /** Reads what the replica cannot answer. */
  readonly primary: Connecting;
  /** Up to where the primary has written its log. */
  readonly position: () => Promise<string>;
  readonly log: Log;
}

/** How old what is read may be. */
const maximumLagMs = 5_000;
/** How often the replica is compared with the primary, and how long it may take to answer that. */
const lookMs = 1_000;
const patienceMs = 2_000;

/** Its own position, also when it was promoted. */
const positionText = `SELECT (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()
  ELSE pg_current_wal_lsn() END)::text AS position`;

/**
 * Connections for reads that may be some seconds old. They lead to the replica while it answers and has what the primary
 * had written a few seconds ago, and to the primary otherwise. No read fails because of the replica.
 */
export class Replica implements Connecting {
  readonly #underWay = new Set<(error: Error) => void>();
  /** What the primary had written, and when: the oldest first. */
  #written: { readonly at: number; readonly position: bigint }[] = [];
  #isUsed = false;
  #isReported = false;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;

  constructor(private readonly options: ReplicaOptions) {}

  start(): void {
    const look = () => {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined;
      });
    };
    this.#timer = setInterval(look, lookMs).unref();
    look();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#leave('the service stops', 'debug');
    await this.#looking;
    const { pool, lookPool } = this.options;
    await Promise.all([pool.end(), lookPool.end()]);
  }

  async connect(): Promise<HeldClient> {
    const { pool, primary } = this.options;
    if (!this.#isUsed) return primary.connect();
    const connecting = pool.connect();
    try {
      return new ReplicaClient(await this.#orGivenUp(connecting), primary, (work) => this.#tried(work));
    } catch (error) {
      connecting.then(
        (client) => client.release(true),
        () => {},
      );
      this.#leave(reasonOf(error));
      return primary.connect();
    }
  }

  /** Undefined when the replica did not do it, and the primary is to. */
  async #tried<T>(work: Promise<T>): Promise<T | undefined> {
    try {
      return await this.#orGivenUp(work);
    } catch (error) {
      // a migration that the replica does not have yet is a matter of time, too
      if (troubleOf(error) === undefined && !isSchemaFault(error) && !(error instanceof GivenUp)) throw error;
      if (troubleOf(error) === 'lost') this.#leave(reasonOf(error));
      return undefined;
    }
  }

  async #orGivenUp<T>(work: Promise<T>): Promise<T> {
    let giveUp!: (error: Error) => void;
    const givenUp = new Promise<never>((_, reject) => {
      giveUp = reject;
    });
    this.#underWay.add(giveUp);
    work.catch(() => {});
    try {
      return await Promise.race([work, givenUp]);
    } finally {
      this.#underWay.delete(giveUp);
    }
  }

  async #look(): Promise<void> {
    const { position } = this.options;
    try {
      const at = performance.now();
      const written = positionOf(await heardWithin(patienceMs, position()));
      this.#written = [
        ...this.#written.filter((one) => at - one.at <= 2 * maximumLagMs),
        { at, position: written },
      ];
      const replayed = positionOf(await this.#replayed());
      const newest = this.#written.findLast((one) => one.position <= replayed);
      if (newest !== undefined && performance.now() - newest.at <= maximumLagMs) this.#use();
      else if (this.#isUsed || !this.#isReported) this.#leave('it is behind the primary');
    } catch (error) {
      this.#leave(reasonOf(error));
    }
  }

  async #replayed(): Promise<string> {
    const connecting = this.options.lookPool.connect();
    let isBroken = true;
    try {
      const client = await heardWithin(patienceMs, connecting);
      const { rows } = await heardWithin(patienceMs, client.query<{ position: string | null }>(positionText));
      isBroken = false;
      return rows[0]?.position ?? '0/0';
    } finally {
      connecting.then(
        (client) => client.release(isBroken),
        () => {},
      );
    }
  }

  #use(): void {
    if (this.#isUsed) return;
    this.#isUsed = true;
    this.#isReported = false;
    this.options.log.info({ database: this.options.database }, 'lists are read from the replica');
  }

  #leave(reason: string, level: 'warn' | 'debug' = 'warn'): void {
    this.#isUsed = false;
    for (const giveUp of [...this.#underWay]) giveUp(new GivenUp());
    if (this.#isReported) return;
    this.#isReported = true;
    this.options.log[level](
      { database: this.options.database, reason },
      'the replica is not used; lists are read from the primary',
    );
  }
}

class GivenUp extends Error {}

/** A connection to the replica, or to the primary once the replica failed. */
class ReplicaClient implements HeldClient {
  #instead: HeldClient | undefined;

  constructor(
    private readonly client: pg.PoolClient,
    private readonly primary: Connecting,
    private readonly tried: <T>(work: Promise<T>) => Promise<T | undefined>,
  ) {}

  async query(query: pg.QueryConfig): Promise<pg.QueryResult> {
    if (this.#instead === undefined) {
      const result = await this.tried(this.client.query(query));
      if (result !== undefined) return result;
      this.#instead = await this.primary.connect();
    }
    return this.#instead.query(query);
  }

  release(isBroken = false): void {
    this.client.release(isBroken || this.#instead !== undefined);
    this.#instead?.release();
  }
}

/** Such as `16/B374D848`: two numbers, the high one first. */
function positionOf(text: string): bigint {
  const [high = '0', low = '0'] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
