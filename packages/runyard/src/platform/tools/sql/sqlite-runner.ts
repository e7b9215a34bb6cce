import { spawn } from 'node:child_process';
import { withinTime } from '../../../core/async/abort.js';
import { sqliteLibraryPath } from '../../storage/sqlite/library.js';
import {
  boundOf,
  largestAnswer,
  type QueryAnswer,
  type QueryBounds,
  type QueryRunner,
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

function runInProcess(task: SqliteTask, bounds: QueryBounds): Promise<QueryAnswer> {
  bounds.signal.throwIfAborted();
  const child = spawn(process.execPath, ['-e', `(${sqliteProcess.toString()})(process, require)`], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    // It needs nothing of what this process knows.
    env: {},
  });
  const answered = withinTime(
    boundOf(bounds),
    () =>
      new Promise<QueryAnswer>((resolve, reject) => {
        child.on('error', reject);
        child.on('exit', () => reject(new Error('The process of the query ended before it answered.')));
        child.on('message', (reply: SqliteTaskReply) =>
          'message' in reply ? reject(new Error(reply.message)) : resolve(reply),
        );
        child.send(task, (error) => {
          if (error) reject(error);
        });
      }),
  );
  return answered.finally(() => child.kill('SIGKILL'));
}
