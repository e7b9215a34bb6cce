import { closeSync, fdatasync, openSync, statSync } from 'node:fs';
import { type BatchRunner, batchRunner, type NumberedRow } from './batch-runner.js';
import type { SqliteConnection } from './library.js';

/** What more rows or longer texts take would stall the streams of the process: the thread writes them. */
const mostRows = 32;
const mostCharacters = 65_536;
/**
 * The thread writes the last of so many, if the log has grown. A commit of its own moves the log into the file, and the
 * next one begins the log anew: both wait for the disk.
 */
const cycle = 100;
const byThread = 2;

export interface DirectWriterOptions {
  readonly path: string;
  /** Whether a write is over only when the disk has it. */
  readonly isSynced: boolean;
  /** From this size of the log on, a commit of the thread moves it into the file. */
  readonly logBytes: number;
}

/**
 * Writes small units on the main thread, which costs less than handing them to another one. It does not wait for the
 * disk: SQLite only appends to its log here, and a thread of Node's pool syncs it before the write is reported. A
 * power cut in between leaves the database without the unit.
 */
export class DirectWriter {
  #runner: BatchRunner | undefined;
  #log: number | undefined;
  #count = 0;
  /**
   * Whether the disk failed to take the log. A later sync may succeed and leave a gap there, and SQLite reads no further
   * after a power cut: nothing is written until the thread has moved the log into the file.
   */
  isUnsure = false;

  constructor(
    /** One that does not wait for other processes. */
    private readonly connection: SqliteConnection,
    private readonly options: DirectWriterOptions,
  ) {}

  /**
   * Writes a unit in a transaction, and returns which of its guards refused it, or -1. Undefined, and nothing is
   * written, when the thread has to write it.
   */
  write(unit: readonly NumberedRow[], texts: readonly string[]): number | undefined {
    this.#count += 1;
    if (this.#isForThread() || !isSmall(unit)) return undefined;
    return this.#attempt(texts, ({ inTransaction, runUnit }) => inTransaction(() => runUnit(unit)));
  }

  /** Runs statements in a transaction, unless a query finds a row, and returns whether it did. Undefined as above. */
  script(sql: string, unlessFound: string, texts: readonly string[]): boolean | undefined {
    if (this.isUnsure) return undefined;
    return this.#attempt(texts, ({ runScript }) => runScript(sql, unlessFound));
  }

  #isForThread(): boolean {
    if (this.isUnsure) return true;
    if (this.#count % cycle < cycle - byThread) return false;
    const log = statSync(`${this.options.path}-wal`, { throwIfNoEntry: false });
    return log !== undefined && log.size >= this.options.logBytes;
  }

  #attempt<T>(texts: readonly string[], write: (runner: BatchRunner) => T): T | undefined {
    try {
      this.#runner ??= batchRunner(this.connection, texts);
      return write(this.#runner);
    } catch {
      // The thread waits where another process is writing, and reports what fails there as well.
      return undefined;
    }
  }

  /** Resolves when the disk has what was written. */
  async synced(): Promise<void> {
    const { path, isSynced } = this.options;
    if (!isSynced) return;
    this.isUnsure = true;
    await new Promise<void>((resolve, reject) => {
      // it is there as long as a connection is open
      this.#log ??= openSync(`${path}-wal`, 'r+');
      fdatasync(this.#log, (error) => (error === null ? resolve() : reject(error)));
    });
    this.isUnsure = false;
  }

  /**
   * Moves the log into the file itself, so that a copy of the file alone is whole. It waits for the disk, but for no other
   * process: the last one to close the file does the same.
   */
  emptyLog(): void {
    try {
      this.connection.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch {
      // the disk accepts no writes: the next start finds the log
    }
  }

  /** Its statements go as well: they would keep the connection open. */
  close(): void {
    this.#runner = undefined;
    if (this.#log !== undefined) closeSync(this.#log);
    this.#log = undefined;
  }
}

function isSmall(unit: readonly NumberedRow[]): boolean {
  if (unit.length > mostRows) return false;
  let size = 0;
  for (const [, , parameters] of unit)
    for (const value of parameters) if (value !== null && typeof value !== 'number') size += value.length;
  return size <= mostCharacters;
}
