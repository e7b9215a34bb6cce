import { type Stats, statSync } from 'node:fs';
import type { Log } from '../../../core/log.js';
import { fieldsOf, isList } from '../../../core/objects.js';
import type { Availability } from '../availability.js';
import type { SqlValue, WriteUnit } from '../database.js';
import { encodeForSqlite, isStoredAsIs } from '../text.js';
import { guardNumbers, type NumberedRow, type StoredValue } from './batch-runner.js';
import type { DirectWriter } from './direct-writer.js';
import { ThreadLink, WriterEnded } from './thread-link.js';
import { Turns } from './turns.js';
import type { ThreadFailure, ThreadReply, WriterThreadData } from './writer-thread.js';

/** SQLITE_READONLY_DBMOVED. */
const movedCode = 1_032;

/** An error that SQLite reported in the writing thread. */
class SqliteError extends Error {
  readonly code: string | undefined;
  /** SQLite's own result code. */
  readonly errcode: number | undefined;

  constructor(failure: ThreadFailure) {
    super(failure.message);
    this.name = 'SqliteError';
    this.code = failure.code;
    this.errcode = failure.errcode;
  }
}

interface WaitingBatch {
  readonly units: readonly (readonly NumberedRow[])[];
  resolve(refusals: readonly number[]): void;
  reject(error: unknown): void;
}

export interface QueryOutcome {
  readonly rows: unknown[];
  readonly changes: number;
}

/** The time of exclusive writing. It ends with the thread that it began with: a transaction ends there. */
export interface WriterTurn {
  query(sql: string, parameters: readonly StoredValue[]): Promise<QueryOutcome>;
  commit(): Promise<void>;
  end(): void;
}

export interface WriterOptions extends WriterThreadData {
  readonly direct: DirectWriter;
  readonly databaseId: string;
  readonly availability: Availability;
  readonly log: Log;
}

/** A thread that ended sooner than this after its start is not started again at once when it ends once more. */
const shortLifeMs = 10_000;
const firstPauseMs = 100;
const longestPauseMs = 5_000;

/**
 * The main thread's end of the writing connection. Each writer has a turn: a batch of the hot path, a single
 * statement, or a transaction. Batches that arrive while another one is being written wait together and share
 * the next commit. They go before transactions that wait: a run must not queue behind the many of an ingestion.
 *
 * The thread starts with the first write that `DirectWriter` leaves to it: many services are idle or have one caller at
 * a time, and a thread costs them memory. One that ends without having been closed rejects what it was asked, as a lost
 * connection would, and is started again by the next write.
 */
export class SqliteWriter {
  readonly #turns = new Turns();
  readonly #statementNumbers = new Map<string, number>();
  /** The statements of batches, by their number. */
  readonly #texts: string[] = [];
  readonly #data: WriterThreadData;
  readonly #file: Stats;
  #waiting: WaitingBatch[] = [];
  #link: ThreadLink | undefined;
  #closed = false;
  #hasNeededThread = false;
  #shortLives = 0;
  #pausedUntil = 0;
  #lastFault: unknown;

  constructor(private readonly options: WriterOptions) {
    const { libraryPath, path, setup } = options;
    this.#data = { libraryPath, path, setup };
    this.#file = statSync(path);
  }

  write(units: readonly WriteUnit[]): Promise<readonly number[]> {
    // Without `map`: its lists may have holes once it is compiled, and such a list costs twice on the way to the thread.
    const encoded: NumberedRow[][] = [];
    for (const unit of units) encoded.push(this.#encode(unit));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ units: encoded, resolve, reject });
      if (this.#waiting.length === 1)
        void this.#turns.take({ hurries: true }).then((done) => this.#writeWaiting().finally(done));
    });
  }

  /** Runs one statement in a turn of its own. */
  async query(sql: string, parameters: readonly StoredValue[]): Promise<QueryOutcome> {
    const turn = await this.takeTurn();
    try {
      const outcome = await turn.query(sql, parameters);
      this.options.availability.end('unwritable');
      return outcome;
    } finally {
      turn.end();
    }
  }

  /**
   * Runs statements in a turn and a transaction of their own, unless a query finds a row. Returns whether it ran them.
   * It fails wherever the thread could not write, because the readiness of a service depends on it.
   */
  async script(sql: string, unlessFound: string): Promise<boolean> {
    const end = await this.#turns.take();
    const { availability, direct } = this.options;
    try {
      const ran = this.#isThreadless() ? direct.script(sql, unlessFound, this.#texts) : undefined;
      if (ran === undefined) return await this.#scriptInThread(sql, unlessFound);
      await this.#sync();
      return ran;
    } catch (error) {
      throw availability.failure(error);
    } finally {
      end();
    }
  }

  #isThreadless(): boolean {
    if (this.#closed || this.#hasNeededThread) return false;
    this.#assertSameFile();
    return true;
  }

  async #scriptInThread(sql: string, unlessFound: string): Promise<boolean> {
    const reply = await (await this.#open()).exchange({ kind: 'script', sql, unlessFound });
    if (reply.kind !== 'script') throw errorIn(reply);
    this.options.availability.end('unwritable');
    return reply.ran;
  }

  /** For transactions. */
  async takeTurn(): Promise<WriterTurn> {
    const end = await this.#turns.take();
    const { availability } = this.options;
    try {
      const link = await this.#open();
      const query: WriterTurn['query'] = async (sql, parameters) => {
        try {
          return await queryOver(link, sql, parameters);
        } catch (error) {
          throw availability.failure(error);
        }
      };
      const commit = async () => {
        await query('COMMIT', []);
        availability.end('unwritable');
      };
      return { query, commit, end };
    } catch (error) {
      end();
      throw availability.failure(error);
    }
  }

  /** `closeOthers` closes the other connections when nothing is being written. */
  async close(closeOthers: () => void): Promise<void> {
    const done = await this.#turns.take();
    this.#closed = true;
    try {
      // the thread does so, where there is one
      if (this.#link === undefined) this.options.direct.emptyLog();
      closeOthers();
      await this.#link?.close();
    } catch (error) {
      // it has just ended by itself, and the next start of a service finds the log beside the file
      if (!(error instanceof WriterEnded)) throw error;
    } finally {
      done();
    }
  }

  #encode(unit: WriteUnit): NumberedRow[] {
    const encoded: NumberedRow[] = [];
    for (const { sql, parameters, guard } of unit) {
      let number = this.#statementNumbers.get(sql);
      if (number === undefined) {
        number = this.#texts.push(sql) - 1;
        this.#statementNumbers.set(sql, number);
      }
      encoded.push([number, guardNumbers[guard ?? 'none'], storedValues(parameters)]);
    }
    return encoded;
  }

  async #writeWaiting(): Promise<void> {
    const batches = this.#waiting;
    this.#waiting = [];
    const [batch, ...others] = batches;
    try {
      if (batch !== undefined && others.length === 0 && (await this.#writeDirectly(batch))) return;
      const link = await this.#open();
      const texts = this.#textsUnknownTo(link);
      const written: WaitingBatch['units'][] = [];
      for (const { units } of batches) written.push(units);
      const reply = await link.exchange({ kind: 'batches', texts, batches: written });
      if (reply.kind !== 'batches') throw errorIn(reply);
      reply.outcomes.forEach((outcome, index) => {
        if ('message' in outcome)
          batches[index]?.reject(this.options.availability.failure(new SqliteError(outcome)));
        else {
          this.options.availability.end('unwritable');
          batches[index]?.resolve(outcome);
        }
      });
    } catch (error) {
      const failure = this.options.availability.failure(error);
      for (const batch of batches) batch.reject(failure);
    }
  }

  /** Whether the only write that waits is made, or its failure reported, without the thread. */
  async #writeDirectly({ units, resolve, reject }: WaitingBatch): Promise<boolean> {
    const [unit] = units;
    if (this.#closed || unit === undefined || units.length > 1) return false;
    const refusal = this.options.direct.write(unit, this.#texts);
    if (refusal === undefined) return false;
    await this.#sync().then(() => resolve([refusal]), reject);
    return true;
  }

  async #sync(): Promise<void> {
    const { direct, availability } = this.options;
    try {
      await direct.synced();
      availability.end('unwritable');
    } catch (error) {
      throw availability.failure(error, 'unwritable');
    }
  }

  #textsUnknownTo(link: ThreadLink): readonly string[] {
    const known = link.knownStatements;
    link.knownStatements = this.#texts.length;
    return this.#texts.slice(known);
  }

  /** The thread that writes; throws while one that keeps ending is not started again yet. */
  async #open(): Promise<ThreadLink> {
    if (this.#closed) throw new Error('The database is closed.');
    if (this.#link === undefined && performance.now() < this.#pausedUntil)
      throw new WriterEnded(this.#lastFault);
    this.#hasNeededThread = true;
    this.#link ??= this.#start();
    const link = this.#link;
    if (this.options.direct.isUnsure) {
      const { rows } = await queryOver(link, 'PRAGMA wal_checkpoint(TRUNCATE)', []);
      const { busy } = fieldsOf(rows[0]);
      // another process reads what the log holds
      if (busy !== 0) throw new SqliteError({ message: 'database is locked', code: undefined, errcode: 5 });
      this.options.direct.isUnsure = false;
    }
    return link;
  }

  #start(): ThreadLink {
    this.#assertSameFile();
    return new ThreadLink(this.#data, (link, fault) => this.#ended(link, fault));
  }

  /** The thread opens only the file that the other connection has: it would write to another one, or create it. */
  #assertSameFile(): void {
    const file = statSync(this.#data.path, { throwIfNoEntry: false });
    if (file?.ino !== this.#file.ino || file.dev !== this.#file.dev)
      throw new SqliteError({
        message: `${this.#data.path} was removed or replaced; restart the service`,
        code: undefined,
        errcode: movedCode,
      });
  }

  #ended(link: ThreadLink, fault: unknown): void {
    this.#link = undefined;
    if (this.#closed) return;
    const now = performance.now();
    this.#shortLives = now - link.startedAt < shortLifeMs ? this.#shortLives + 1 : 0;
    // the first time may be an accident: no pause then
    const pauseMs =
      this.#shortLives < 2 ? 0 : Math.min(firstPauseMs * 2 ** (this.#shortLives - 2), longestPauseMs);
    this.#pausedUntil = now + pauseMs;
    this.#lastFault = fault;
    const { log, databaseId } = this.options;
    log.error({ database: databaseId, err: fault, pause_ms: pauseMs }, 'the SQLite writing thread ended');
  }
}

/** The values as SQLite stores them: nearly always the same list. */
function storedValues(values: readonly SqlValue[]): readonly StoredValue[] {
  if (values.every(isStoredValue)) return values;
  const stored: StoredValue[] = [];
  for (const value of values) stored.push(encodeForSqlite(value));
  return stored;
}

/** Whether it needs no encoding. */
function isStoredValue(value: SqlValue): value is StoredValue {
  if (typeof value === 'string') return isStoredAsIs(value);
  return typeof value === 'number' || value === null || !isList(value);
}

async function queryOver(
  link: ThreadLink,
  sql: string,
  parameters: readonly StoredValue[],
): Promise<QueryOutcome> {
  const reply = await link.exchange({ kind: 'query', sql, parameters });
  if (reply.kind !== 'query') throw errorIn(reply);
  return reply;
}

function errorIn(reply: ThreadReply): Error {
  return reply.kind === 'failure'
    ? new SqliteError(reply.failure)
    : new Error(`Unexpected answer: ${reply.kind}`);
}
