import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * Starts the parsing process from the file that belongs to this one: beside it in the sources and in the compiled
 * modules, at its own place in the bundle, whose other files have no fixed place.
 */
export function startParsingProcess(heapMib: number): ChildProcess {
  const own = import.meta.url;
  const beside = new URL(`./parsing-process${extname(own)}`, own);
  const bundle = new URL('bundle/', pathToFileURL(createRequire(own).resolve('runyard/package.json')));
  const file = existsSync(beside) ? beside : new URL('platform/documents/parsing-process.js', bundle);
  // Node runs no TypeScript by itself: the hooks of the command are used here too.
  const hooks = `import { register } from 'node:module'; register('${new URL('cli/typescript-hooks.js', bundle)}');`;
  const forTypeScript = file.pathname.endsWith('.ts') ? ['--import', `data:text/javascript,${hooks}`] : [];
  return fork(fileURLToPath(file), [], {
    // Hooks, profilers and secrets of the process are not for one that reads what strangers wrote.
    execArgv: [`--max-old-space-size=${heapMib}`, ...forTypeScript],
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
