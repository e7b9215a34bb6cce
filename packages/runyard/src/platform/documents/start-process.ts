import type { ChildProcess } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { ownEntry } from '../own-entry.js';

export function startParsingProcess(heapMib: number): ChildProcess {
  const { file, execArgv } = ownEntry(import.meta.url, 'platform/documents/parsing-process');
  // not imported: it would slow each start
  const { fork }: typeof import('node:child_process') = createRequire(import.meta.url)('node:child_process');
  return fork(fileURLToPath(file), [], {
    // Hooks, profilers and secrets of the process are not for one that reads what strangers wrote.
    execArgv: [`--max-old-space-size=${heapMib}`, ...execArgv],
    env: systemEnvironment(),
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
}

/** Windows cannot start a program without it. */
function systemEnvironment(): NodeJS.ProcessEnv {
  const { SystemRoot } = process.env;
  return SystemRoot === undefined ? {} : { SystemRoot };
}
