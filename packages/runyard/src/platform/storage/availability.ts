import { performance } from 'node:perf_hooks';
import { errors, RunyardError } from '../../core/errors/errors.js';
import type { Log } from '../../core/log.js';
import type { BlamesSchema } from './database.js';
import { isOutage, isSchemaFault, type StorageTrouble, troubleOf } from './transient.js';

/** What lasts until it is over; a busy database is a matter of one call, and another schema that of the service. */
export type Outage = Exclude<StorageTrouble, 'busy' | 'schema'>;

const outageTexts: Readonly<Record<StorageTrouble, string>> = {
  lost: 'the database cannot be reached; callers get 503 until it is back',
  unwritable: 'the database does not accept writes; callers get 503 until it does',
  busy: 'the database is too busy; some callers get 503',
  schema: 'the schema of the database has changed; some callers get 503',
};
const overTexts: Readonly<Record<Outage, string>> = {
  lost: 'the database is back',
  unwritable: 'the database accepts writes again',
};
/** However many calls fail, the log has a line about them no more often than this. */
const reportEveryMs = 10_000;
/** Where some writes succeed and others fail, it is not over. */
const quietMs = 1_000;

/**
 * Whether one database can be used, as far as its last calls show. Logs an incident and not each
 * call that it fails, and has the error that callers are answered with.
 */
export class Availability {
  #outage: { readonly kind: Outage; readonly since: number } | undefined;
  #reported: StorageTrouble | undefined;
  #reportedAt = Number.NEGATIVE_INFINITY;
  #refused = 0;
  #failedAt = Number.NEGATIVE_INFINITY;
  /** Since the last failure. */
  #hasSucceeded = false;

  constructor(
    private readonly database: string,
    private readonly log: Log,
  ) {}

  /** Asked when a statement names what the schema does not have: whether another version of it is to blame. */
  blamesSchema: BlamesSchema = () => false;

  get outage(): Outage | undefined {
    return this.#outage?.kind;
  }

  /** For how long the outage has lasted; 0 without one. */
  get outageMs(): number {
    return this.#outage === undefined ? 0 : performance.now() - this.#outage.since;
  }

  begin(kind: Outage, cause: unknown): void {
    if (this.#outage?.kind === kind) return;
    this.#outage = { kind, since: performance.now() };
    // a call that failed may have been the first sign of it
    if (this.#reported === kind && performance.now() - this.#reportedAt <= reportEveryMs) return;
    this.#refused = 0;
    this.#report(kind, cause);
  }

  end(kind: Outage): void {
    if (this.#outage?.kind !== kind) return;
    this.#hasSucceeded = true;
    if (kind === 'unwritable' && performance.now() - this.#failedAt < quietMs) return;
    const facts = {
      database: this.database,
      seconds: Math.round(this.outageMs / 1000),
      refused: this.#refused,
    };
    this.#outage = undefined;
    this.#refused = 0;
    this.#reportedAt = Number.NEGATIVE_INFINITY;
    this.log.info(facts, overTexts[kind]);
  }

  /** What a failed call is answered with: an error that is not the database's fault stays as it is. */
  failure(error: unknown, given = troubleOf(error)): unknown {
    const blamed = given === undefined && isSchemaFault(error) && this.blamesSchema();
    if (blamed instanceof RunyardError) return blamed;
    const trouble = blamed ? 'schema' : given;
    if (trouble === undefined || isOutage(error)) return error;
    this.#failedAt = performance.now();
    this.#hasSucceeded = false;
    if (trouble === 'unwritable') this.begin('unwritable', error);
    return this.refusal(trouble, error);
  }

  /** The answer to a call that failed, or that is not made because the database is known to be away. */
  refusal(trouble: StorageTrouble, cause?: unknown): RunyardError {
    this.#refused += 1;
    if (performance.now() - this.#reportedAt > reportEveryMs) this.#report(trouble, cause);
    return errors.databaseOutage(trouble, cause);
  }

  /** Refuses work whose outcome could not be stored. Now and then some is let through: it shows whether that is over. */
  assertWritable(): void {
    if (this.#outage?.kind !== 'unwritable' || this.#hasSucceeded) return;
    if (performance.now() - this.#failedAt < quietMs) throw this.refusal('unwritable');
  }

  #report(trouble: StorageTrouble, cause: unknown): void {
    this.#reportedAt = performance.now();
    this.#reported = trouble;
    const reason = cause instanceof Error ? cause.message : undefined;
    this.log.warn({ database: this.database, reason, refused: this.#refused }, outageTexts[trouble]);
  }
}
