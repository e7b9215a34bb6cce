import { spawn } from 'node:child_process';
import { sqliteLibraryPath } from '../../storage/sqlite/library.js';
import {
  largestAnswer,
  type QueryAnswer,
  type QueryBounds,
  type QueryRunner,
  timedOut,
} from './query-runner.js';
import { singleReadingStatement } from './single-statement.js';
import { type SqliteTask, type SqliteTaskReply, sqliteProcess } from './sqlite-process.js';

/** Each query in a process of its own, on a connection that can only read. */
export function sqliteRunner(path: string): QueryRunner {
  const run = (sql: string, bounds: QueryBounds) =>
    runInProcess(
      { libraryPath: sqliteLibraryPath(), path, sql, maximumRows: bounds.maximumRows, largestAnswer },
      bounds,
    );
  return {
    dialect: 'SQLite',
    query: async (sql, bounds) => run(singleReadingStatement(sql), bounds),
    describe: async (bounds) => {
      const { rows } = await run(
        "SELECT sql FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
        bounds,
      );
      return rows.map(([sql]) => `${sql};`).join('\n');
    },
  };
}

function runInProcess(task: SqliteTask, { signal, timeoutMs }: QueryBounds): Promise<QueryAnswer> {
  signal.throwIfAborted();
  const child = spawn(process.execPath, ['-e', `(${sqliteProcess.toString()})(process, require)`], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    // It needs nothing of what this process knows.
    env: {},
  });
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      child.kill('SIGKILL');
      settle();
    };
    const fail = (error: unknown) => end(() => reject(error));
    const onAbort = () => fail(signal.reason);
    const timer = setTimeout(() => fail(timedOut(timeoutMs)), timeoutMs);
    signal.addEventListener('abort', onAbort, { once: true });
    child.on('error', fail);
    child.on('exit', () => fail(new Error('The process of the query ended before it answered.')));
    child.on('message', (reply: SqliteTaskReply) =>
      'message' in reply ? fail(new Error(reply.message)) : end(() => resolve(reply)),
    );
    child.send(task, (error) => {
      if (error) fail(error);
    });
  });
}
