import type * as WorkerThreads from 'node:worker_threads';
import type { batchRunner, NumberedRow, StoredValue } from './batch-runner.js';
import type { SqliteLibrary, SqliteStatement } from './library.js';

/** The database that a thread writes to. */
export interface WriterThreadData {
  readonly libraryPath: string;
  readonly path: string;
  /** Statements that set the connection up. */
  readonly setup: string;
}

/** `open` begins the writing to a database, `end` ends the thread; both without an answer. */
export type ThreadRequest =
  | { readonly kind: 'open'; readonly data: WriterThreadData }
  | { readonly kind: 'end' }
  | WriterRequest;

export type WriterRequest =
  /** Batches that share one commit. `texts` are those of the next statements that the thread has not seen yet. */
  | {
      readonly kind: 'batches';
      readonly texts: readonly string[];
      readonly batches: readonly (readonly (readonly NumberedRow[])[])[];
    }
  | { readonly kind: 'query'; readonly sql: string; readonly parameters: readonly StoredValue[] }
  | { readonly kind: 'script'; readonly sql: string; readonly unlessFound: string }
  | { readonly kind: 'close' };

export interface ThreadFailure {
  readonly message: string;
  readonly code: string | undefined;
  readonly errcode: number | undefined;
}

export type ThreadReply =
  | { readonly kind: 'batches'; readonly outcomes: readonly (readonly number[] | ThreadFailure)[] }
  | { readonly kind: 'query'; readonly rows: unknown[]; readonly changes: number }
  | { readonly kind: 'script'; readonly ran: boolean }
  | { readonly kind: 'failure'; readonly failure: ThreadFailure }
  | { readonly kind: 'closed' };

/**
 * The body of the thread that owns the writing connection: waiting for the disk here stalls no stream on the
 * main thread. It is started from its own source text, so that it needs no file of its own next to the built,
 * the bundled or the TypeScript sources; hence it uses nothing but its parameters and its types.
 */
export function writerThread(
  threads: typeof WorkerThreads,
  load: (path: string) => unknown,
  runnerFor: typeof batchRunner,
): void {
  const port = threads.parentPort;
  if (port === null) throw new Error('This is the body of a thread.');
  const maximumQueries = 200;
  let answer: ((request: WriterRequest) => ThreadReply) | undefined;

  function failure(error: unknown): ThreadFailure {
    // only the library throws here
    const { message, code, errcode } = error as Error & { code?: string; errcode?: number };
    return { message, code, errcode };
  }

  /** Opens a database, and answers the requests of its life. */
  function answersFor({
    libraryPath,
    path,
    setup,
  }: WriterThreadData): (request: WriterRequest) => ThreadReply {
    // the library that `sqliteLibraryPath` found
    const { DatabaseSync } = load(libraryPath) as SqliteLibrary;
    // `connection` stays reachable through this closure: statements alone do not keep it from being collected.
    const connection = new DatabaseSync(path);
    connection.exec(setup);
    const changes = connection.prepare('SELECT changes() AS changes');
    const texts: string[] = [];
    const { inTransaction, runUnit, runScript } = runnerFor(connection, texts);
    const queries = new Map<string, SqliteStatement>();

    function runBatches(
      batches: readonly (readonly (readonly NumberedRow[])[])[],
    ): (number[] | ThreadFailure)[] {
      try {
        return inTransaction(() => batches.map((units) => units.map(runUnit)));
      } catch (error) {
        if (batches.length === 1) return [failure(error)];
        // One of them failed: each alone, so that only the faulty one does.
        return batches.map((units) => {
          try {
            return inTransaction(() => units.map(runUnit));
          } catch (own) {
            return failure(own);
          }
        });
      }
    }

    function runQuery(sql: string, parameters: readonly StoredValue[]): ThreadReply {
      let statement = queries.get(sql);
      if (statement === undefined) {
        if (queries.size >= maximumQueries) queries.clear();
        statement = connection.prepare(sql);
        queries.set(sql, statement);
      }
      const rows = statement.all(...parameters);
      // SELECT changes() AS changes
      const counted = changes.get() as { changes: number };
      return { kind: 'query', rows, changes: counted.changes };
    }

    return (request) => {
      switch (request.kind) {
        case 'batches':
          texts.push(...request.texts);
          return { kind: 'batches', outcomes: runBatches(request.batches) };
        case 'query':
          return runQuery(request.sql, request.parameters);
        case 'script':
          return { kind: 'script', ran: runScript(request.sql, request.unlessFound) };
        case 'close':
          // into the file itself, so that a copy of it alone is whole
          connection.exec('PRAGMA wal_checkpoint(TRUNCATE)');
          connection.close();
          return { kind: 'closed' };
      }
    };
  }

  const kinds: ReadonlySet<string> = new Set<WriterRequest['kind']>(['batches', 'query', 'script', 'close']);

  port.on('message', (request: ThreadRequest) => {
    if (request.kind === 'open') {
      answer = answersFor(request.data);
      return;
    }
    if (request.kind === 'end') return port.close();
    // an answer would be of no use: the thread ends, and is started again with the next write
    if (answer === undefined || !kinds.has(request.kind)) throw new Error(`Unknown request: ${request.kind}`);
    let reply: ThreadReply;
    try {
      reply = answer(request);
    } catch (error) {
      reply = { kind: 'failure', failure: failure(error) };
    }
    port.postMessage(reply);
    if (request.kind !== 'close') return;
    // it waits for the next database; one whose connection may still be open ends
    if (reply.kind === 'closed') answer = undefined;
    else port.close();
  });
}
