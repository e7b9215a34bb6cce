import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { errorCode } from '../../../core/errors/error-code.js';
import type { RunyardError } from '../../../core/errors/errors.js';
import type { Availability } from '../availability.js';
import { isOutage, type StorageTrouble, troubleOf } from '../transient.js';
import type { Servers } from './servers.js';

/** What a call is made for. */
export type Purpose = 'connect' | 'read' | 'write';

/** After this long without an answer a call makes us ask whether the server is there. */
const silenceMs = 1_500;
/** The state of a write that reached a standby. */
const readOnly = '25006';
/** How often an unavailable server is probed. */
const lookMs = 500;
/** How long a call waits for a server that has just gone away: a restart is over by then. */
export const graceMs = 2_000;
/** How often the connections to a server that takes no writes are replaced: another one may be the primary now. */
const leaveEveryMs = 2_000;

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
  #isReadOnly = false;
  #leftAt = Number.NEGATIVE_INFINITY;
  /** Counts how often all connections were left: one that is older is not used again. */
  generation = 0;

  constructor(
    private readonly servers: Servers,
    private readonly availability: Availability,
    /** Idle connections lead to a server that may never answer on them again. */
    private readonly dropIdle: () => void,
  ) {}

  /** Makes a call, or fails with what callers are to be answered with when the server is to blame. */
  async call<T>(purpose: Purpose, make: () => Promise<T>): Promise<T> {
    if (this.availability.outage === 'lost') throw this.availability.refusal('lost');
    const silence = setInterval(() => this.suspect(), silenceMs);
    let giveUp: (error: Error) => void = () => {};
    try {
      // one promise: a race of two costs four more, for each call of each run
      const result = await new Promise<T>((resolve, reject) => {
        giveUp = reject;
        this.#underWay.add(giveUp);
        make().then(resolve, reject);
      });
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

  /** Waits for a server that has just gone away; refuses when it has been away for longer. Undefined: it is there. */
  ready(): Promise<void> | undefined {
    return this.availability.outage === 'lost' ? this.#untilBack() : undefined;
  }

  async #untilBack(): Promise<void> {
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

  /** Refuses work whose outcome could not be stored. */
  assertWritable(): void {
    if (this.#isReadOnly) throw this.availability.refusal('unwritable');
    this.availability.assertWritable();
  }

  /**
   * The server is a standby. From now on nothing is begun whose outcome could not be stored, until a server takes writes:
   * it is asked, because a run that is let through to find out would call its model for nothing.
   */
  noteReadOnly(cause: unknown): void {
    this.availability.begin('unwritable', cause);
    if (this.#isReadOnly || this.#closed) return;
    this.#isReadOnly = true;
    void this.#lookUntilWritable();
  }

  /** Checks whether the server can be reached. */
  suspect(): void {
    if (this.#closed || this.availability.outage === 'lost') return;
    this.#probing ??= this.#probe().finally(() => {
      this.#probing = undefined;
    });
  }

  async #probe(): Promise<void> {
    const answers = this.#answers;
    const found = await this.servers.find().catch((error: unknown) => {
      if (this.#answers === answers) this.#noteAway(error);
    });
    // a standby is no reason to leave a server that answers
    if (!found || (found.isStandby && this.#answers !== answers)) return;
    if (this.servers.choose(found)) this.#abandon(new Error('another server is the primary now'));
  }

  /** What a call that is not made is answered with. */
  refusal(trouble: StorageTrouble, cause: unknown): RunyardError {
    return this.availability.refusal(trouble, cause);
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
    if (errorCode(error) === readOnly) {
      this.#leave();
      this.noteReadOnly(error);
    }
    return this.availability.failure(error, trouble);
  }

  #noteAway(cause: unknown): void {
    if (this.#closed) return;
    this.availability.begin('lost', cause);
    this.#abandon(cause);
    void this.#lookUntilBack();
  }

  #abandon(cause: unknown): void {
    for (const giveUp of [...this.#underWay]) giveUp(this.availability.refusal('lost', cause));
    this.#dropAll();
  }

  /** A standby, perhaps the primary of a moment ago. Its reads are as old as it is, so that none is made on it again. */
  #leave(): void {
    if (performance.now() - this.#leftAt < leaveEveryMs) return;
    this.#leftAt = performance.now();
    this.#dropAll();
    this.suspect();
  }

  #dropAll(): void {
    this.generation += 1;
    this.dropIdle();
  }

  async #lookUntilWritable(): Promise<void> {
    while (!this.#closed) {
      await sleep(lookMs, undefined, { ref: false });
      const found = await this.servers.find().catch(() => undefined);
      if (found?.isStandby) this.#leave();
      if (found === undefined || found.isStandby) continue;
      if (this.servers.choose(found)) this.#abandon(new Error('another server is the primary now'));
      this.#isReadOnly = false;
      this.availability.end('unwritable');
      return;
    }
  }

  async #lookUntilBack(): Promise<void> {
    while (!this.#closed) {
      await sleep(lookMs, undefined, { ref: false });
      const found = await this.servers.find().catch(() => undefined);
      if (found === undefined) continue;
      this.servers.choose(found);
      this.availability.end('lost');
      for (const wake of [...this.#waiting]) wake();
      return;
    }
  }
}
