import type { SqliteLibrary } from '../../storage/sqlite/library.js';

export interface SqliteTask {
  readonly libraryPath: string;
  readonly path: string;
  readonly sql: string;
  readonly maximumRows: number;
  readonly largestAnswer: number;
}

export type SqliteTaskReply =
  | { readonly columns: readonly string[]; readonly rows: readonly unknown[][]; readonly more: boolean }
  | { readonly message: string };

/**
 * The body of the process that executes one query. SQLite cannot be interrupted from JavaScript, a process can. It
 * is started from its own source text, so that it needs no file next to the built, the bundled or the TypeScript
 * sources; hence it uses nothing but its parameters and its types.
 */
export function sqliteProcess(child: NodeJS.Process, load: (path: string) => unknown): void {
  child.on('disconnect', () => child.exit());
  child.once('message', (task: SqliteTask) => {
    let reply: SqliteTaskReply;
    try {
      reply = answer(task);
    } catch (error) {
      reply = { message: error instanceof Error ? error.message : String(error) };
    }
    child.send?.(reply, () => child.exit());
  });

  function answer({ libraryPath, path, sql, maximumRows, largestAnswer }: SqliteTask): SqliteTaskReply {
    // the library that `sqliteLibraryPath` found
    const { DatabaseSync } = load(libraryPath) as SqliteLibrary;
    const database = new DatabaseSync(path, {
      readOnly: true,
      timeout: 2_000,
      limits: { length: 10_000_000, attach: 0 },
    });
    const select = 21;
    const allowed = [20, select, 31, 33];
    const refusedFunctions = ['load_extension', 'fts3_tokenizer', 'readfile', 'writefile', 'edit'];
    // Reading, selecting, calling functions and recursion; nothing that attaches, sets, creates or changes.
    database.setAuthorizer?.((action, _, name) =>
      allowed.includes(action) && !(action === 31 && refusedFunctions.includes(String(name).toLowerCase()))
        ? 0
        : 1,
    );
    const statement = database.prepare(sql);
    statement.setReadBigInts(true);
    statement.setReturnArrays?.(true);
    const columns = statement.columns().map((column) => column.name);
    const rows: unknown[][] = [];
    let size = 0;
    for (const row of statement.iterate()) {
      if (rows.length === maximumRows || size > largestAnswer) return { columns, rows, more: true };
      const cells = (Array.isArray(row) ? row : Object.values(Object(row))).map(plain);
      size += cells.reduce<number>((sum, cell) => sum + String(cell).length, 0);
      rows.push(cells);
    }
    return { columns, rows, more: false };
  }

  function plain(value: unknown): unknown {
    if (typeof value === 'bigint') {
      const number = Number(value);
      return Number.isSafeInteger(number) ? number : String(value);
    }
    return value instanceof Uint8Array ? `<${value.length} bytes>` : value;
  }
}
