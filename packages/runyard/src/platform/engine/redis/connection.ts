import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis, RedisOptions } from 'ioredis';
import { errorCode } from '../../../core/errors/error-code.js';
import { errors } from '../../../core/errors/errors.js';
import { thrownError } from '../../../core/errors/thrown-error.js';
import type { Log } from '../../../core/log.js';
import { heardWithin } from '../../net/heard-within.js';
import { Channels } from './channels.js';
import { type RedisAddress, redisAddress, redisUrlForms } from './url.js';

type RedisLibrary = Pick<typeof import('ioredis'), 'Redis'>;

const connectTimeoutMs = 2_000;
/** After so long a command fails. */
const commandTimeoutMs = 1_000;
/** A connection on which nothing comes for so long, though something is asked for, is replaced. */
const silenceMs = 2_000;
const longestRetryMs = 1_000;
/** How often Redis is asked whether it is there: while it is, and while it is not. */
const beatMs = 500;
const lookMs = 200;
/** One that answers later than this is slower than PostgreSQL, and not used. */
const quickMs = 100;
const listenMs = 25;
/** How long a start waits to learn whether it is there. */
const firstMs = 1_000;
/** So many quick answers in a row bring it back; the number doubles each time it is lost again soon after that. */
const fewestAnswers = 2;
const mostAnswers = 64;
const soonMs = 60_000;
/** What is written to learn whether it takes writes: a replica answers, and passes on what others publish, and nothing else. */
const aliveKey = 'runyard:alive';
const aliveMs = 60_000;
/** How often the connections to a server that refuses writes are replaced. */
const renewEveryMs = 5_000;

/** What a server without a password answers to one, also before version 6. */
const needlessPassword = /no password is set|without any password configured for the default user/;

/**
 * One Redis of a service. It may be away at any time: commands then fail at once, and what uses it does without.
 * `isReachable` says what to expect; one log line says when it is lost, and one when it is back.
 */
export class RedisConnection {
  /** For commands that do not block. */
  readonly client: Redis;
  readonly location: string;
  readonly #channels: Channels;
  readonly #listening: Redis;
  readonly #watchers = new Set<(isReachable: boolean) => void>();
  #isReachable = false;
  #closed = false;
  /** Why it was last lost; undefined while that is not known. */
  #fault: string | undefined;
  #answers = 0;
  #neededAnswers = 1;
  #backAt = Number.NEGATIVE_INFINITY;
  #renewedAt = Number.NEGATIVE_INFINITY;
  #isNeedlessNoted = false;

  private constructor(
    library: RedisLibrary,
    address: RedisAddress,
    private readonly log: Log,
  ) {
    this.location = address.location;
    const made = () => {
      const client = new library.Redis(optionsOf(address));
      const { auth } = client;
      // the library would write to the console what it makes of this answer, for each connection
      const authenticate = (...words: Parameters<typeof auth>) =>
        auth.apply(client, words).catch((error: unknown): 'OK' => {
          if (!needlessPassword.test(thrownError(error).message)) throw error;
          this.#noteNeedless();
          return 'OK';
        });
      // it has several signatures, and passes on whatever words it gets
      client.auth = authenticate as typeof auth;
      client.on('error', (error) => {
        this.#fault = thrownError(error).message;
      });
      client.on('close', () => this.#lose(this.#fault ?? 'the connection ended'));
      return client;
    };
    this.client = made();
    this.#listening = made();
    this.#channels = new Channels(this.#listening);
  }

  /** Opens the connections, and waits a moment for them. A Redis that is away is no reason not to start. */
  static async open(url: string, log: Log): Promise<RedisConnection> {
    const address = redisAddress(url);
    if (address === undefined)
      throw errors.invalidConfig(`The setting redis is not a URL of a Redis. Use ${redisUrlForms}.`);
    const connection = new RedisConnection(await library(), address, log);
    const until = performance.now() + firstMs;
    while (!(await connection.#beat()) && performance.now() < until) await sleep(listenMs);
    if (!connection.#isReachable) connection.#report(connection.#fault ?? 'it does not answer');
    else log.debug({ redis: connection.location }, 'Redis is there');
    void connection.#watch();
    return connection;
  }

  /** Whether it answers quickly. What is sent in the moment in which that ends fails, or is lost. */
  get isReachable(): boolean {
    return this.#isReachable;
  }

  /** Calls the listener when Redis is lost and when it is back. The returned function ends that. */
  onChange(listener: (isReachable: boolean) => void): () => void {
    this.#watchers.add(listener);
    return () => void this.#watchers.delete(listener);
  }

  /**
   * Calls the listener, which must not throw, with each message on a channel, also after the connection was replaced; what is sent in between
   * is lost. `begun` resolves when messages arrive, or when Redis is away. `end` ends it.
   */
  listen(channel: string, listener: (message: string) => void): { begun: Promise<void>; end(): void } {
    return this.#channels.listen(channel, listener);
  }

  close(): void {
    this.#closed = true;
    this.#isReachable = false;
    for (const client of [this.client, this.#listening]) client.disconnect();
  }

  async #watch(): Promise<void> {
    while (!this.#closed) {
      await sleep(this.#isReachable ? beatMs : lookMs, undefined, { ref: false });
      if (!this.#closed) await this.#beat();
    }
  }

  /** Whether it answered quickly. */
  async #beat(): Promise<boolean> {
    const both = [this.client, this.#listening];
    if (both.some(({ status }) => status !== 'ready') || !this.#channels.isComplete) return false;
    try {
      const answers = [this.client.set(aliveKey, '', 'PX', aliveMs), this.#listening.ping()];
      await heardWithin(quickMs, Promise.all(answers), listenMs);
    } catch (error) {
      const { name, message } = thrownError(error);
      this.#lose(message);
      if (name === 'ReplyError') this.#renew();
      return false;
    }
    this.#answers += 1;
    if (!this.#isReachable && this.#answers >= this.#neededAnswers && !this.#closed) this.#regain();
    return true;
  }

  /** A server that refuses writes may have been the primary a moment ago: new connections lead to the present one. */
  #renew(): void {
    if (this.#closed || performance.now() - this.#renewedAt < renewEveryMs) return;
    this.#renewedAt = performance.now();
    for (const client of [this.client, this.#listening]) client.disconnect(true);
  }

  #regain(): void {
    this.#isReachable = true;
    this.#fault = undefined;
    if (this.#backAt !== Number.NEGATIVE_INFINITY || this.#neededAnswers > 1)
      this.log.info({ redis: this.location }, 'Redis is back');
    this.#backAt = performance.now();
    this.#tell();
  }

  #lose(reason: string): void {
    this.#answers = 0;
    if (!this.#isReachable || this.#closed) return;
    this.#isReachable = false;
    const isSoon = performance.now() - this.#backAt < soonMs;
    this.#neededAnswers = isSoon ? Math.min(this.#neededAnswers * 2, mostAnswers) : fewestAnswers;
    this.#report(reason);
    this.#tell();
  }

  #report(reason: string): void {
    this.#neededAnswers = Math.max(this.#neededAnswers, fewestAnswers);
    const facts = { redis: this.location, reason };
    this.log.warn(facts, 'Redis cannot be used; processes notify each other through PostgreSQL alone');
  }

  #noteNeedless(): void {
    if (!this.#isNeedlessNoted)
      this.log.warn({ redis: this.location }, 'Redis needs no password, and the setting redis has one');
    this.#isNeedlessNoted = true;
  }

  #tell(): void {
    for (const listener of [...this.#watchers]) listener(this.#isReachable);
  }
}

async function library(): Promise<RedisLibrary> {
  try {
    return await import('ioredis');
  } catch (error) {
    if (errorCode(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw errors.invalidConfig(
      'The setting redis needs a package that is not installed. Run: npm install ioredis@6',
    );
  }
}

function optionsOf({ host, port, username, password, db, tls }: RedisAddress): RedisOptions {
  return {
    host,
    port,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    db,
    ...(tls && { tls: isIP(host) === 0 ? { servername: host } : {} }),
    // the older protocol: all that speak the language of Redis understand it
    protocol: 2,
    connectTimeout: connectTimeoutMs,
    commandTimeout: commandTimeoutMs,
    socketTimeout: silenceMs,
    // what cannot be sent now is not worth sending later
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    // `Channels` does it
    autoResubscribe: false,
    retryStrategy: (times) => Math.min(times * 100, longestRetryMs),
    reconnectOnError: null,
  };
}
