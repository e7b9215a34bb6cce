import { Worker } from 'node:worker_threads';
import type { WriteUnit } from '../database.js';
import { encodeForSqlite } from '../text.js';
import { Turns } from './turns.js';
import {
  guardNumbers,
  type StoredValue,
  type ThreadFailure,
  type ThreadReply,
  type ThreadRequest,
  type ThreadRow,
  type WriterThreadData,
  writerThread,
} from './writer-thread.js';

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
  readonly units: readonly (readonly ThreadRow[])[];
  resolve(refusals: readonly number[]): void;
  reject(error: unknown): void;
}

export interface QueryOutcome {
  readonly rows: unknown[];
  readonly changes: number;
}

/**
 * The main thread's end of the writing connection. Whoever writes has a turn: a batch of the hot path, a single
 * statement, or a transaction. Batches that arrive while another one is being written wait together and share
 * the next commit.
 */
export class SqliteWriter {
  readonly #worker: Worker;
  readonly #turns = new Turns();
  readonly #statementNumbers = new Map<string, number>();
  #undefined: [number, string][] = [];
  #waiting: WaitingBatch[] = [];
  #answer: { resolve(reply: ThreadReply): void; reject(error: unknown): void } | undefined;
  #broken: Error | undefined;

  constructor(data: WriterThreadData) {
    this.#worker = new Worker(`(${writerThread.toString()})(require('node:worker_threads'), require)`, {
      eval: true,
      workerData: data,
      // Hooks and profilers of the process are not for this thread.
      execArgv: [],
    });
    // Only a write under way keeps the process alive.
    this.#worker.unref();
    this.#worker.on('message', (reply: ThreadReply) => this.#take()?.resolve(reply));
    this.#worker.on('error', (error) => this.#break(error));
    this.#worker.on('exit', () => this.#break(new Error('The database is closed.')));
  }

  write(units: readonly WriteUnit[]): Promise<readonly number[]> {
    const encoded = units.map((unit) => this.#encode(unit));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ units: encoded, resolve, reject });
      if (this.#waiting.length === 1)
        void this.#turns.take().then((done) => this.#writeWaiting().finally(done));
    });
  }

  /** Runs one statement in a turn of its own. */
  async query(sql: string, parameters: readonly StoredValue[]): Promise<QueryOutcome> {
    const done = await this.#turns.take();
    try {
      return await this.queryInTurn(sql, parameters);
    } finally {
      done();
    }
  }

  /** For transactions: nobody else writes until the returned function is called. */
  takeTurn(): Promise<() => void> {
    return this.#turns.take();
  }

  async queryInTurn(sql: string, parameters: readonly StoredValue[]): Promise<QueryOutcome> {
    const reply = await this.#exchange({ kind: 'query', sql, parameters });
    if (reply.kind !== 'query') throw failureOf(reply);
    return reply;
  }

  async close(): Promise<void> {
    const done = await this.#turns.take();
    try {
      if (this.#broken === undefined) await this.#exchange({ kind: 'close' });
    } finally {
      done();
    }
  }

  #encode(unit: WriteUnit): ThreadRow[] {
    return unit.map((row) => {
      let number = this.#statementNumbers.get(row.sql);
      if (number === undefined) {
        number = this.#statementNumbers.size;
        this.#statementNumbers.set(row.sql, number);
        this.#undefined.push([number, row.sql]);
      }
      return [number, guardNumbers[row.guard ?? 'none'], row.parameters.map(encodeForSqlite)];
    });
  }

  async #writeWaiting(): Promise<void> {
    const batches = this.#waiting;
    const defined = this.#undefined;
    this.#waiting = [];
    this.#undefined = [];
    try {
      const reply = await this.#exchange({
        kind: 'batches',
        defined,
        batches: batches.map((batch) => batch.units),
      });
      if (reply.kind !== 'batches') throw failureOf(reply);
      reply.outcomes.forEach((outcome, index) => {
        if ('message' in outcome) batches[index]!.reject(new SqliteError(outcome));
        else batches[index]!.resolve(outcome);
      });
    } catch (error) {
      for (const batch of batches) batch.reject(error);
    }
  }

  #exchange(request: ThreadRequest): Promise<ThreadReply> {
    return new Promise((resolve, reject) => {
      if (this.#broken !== undefined) return reject(this.#broken);
      this.#answer = { resolve, reject };
      this.#worker.ref();
      this.#worker.postMessage(request);
    });
  }

  #take() {
    const answer = this.#answer;
    this.#answer = undefined;
    this.#worker.unref();
    return answer;
  }

  #break(error: Error): void {
    this.#broken ??= error;
    this.#take()?.reject(this.#broken);
  }
}

function failureOf(reply: ThreadReply): Error {
  return reply.kind === 'failure'
    ? new SqliteError(reply.failure)
    : new Error(`Unexpected answer: ${reply.kind}`);
}
