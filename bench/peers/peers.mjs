import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { capture, root, runNpm } from '../../scripts/lib/setup.mjs';

const here = fileURLToPath(new URL('./', import.meta.url));
/** Out of the workspace, so that no peer sees its packages, and out of what Git knows. */
const installed = join(root, 'node_modules/.cache/runyard-bench/peers');

/**
 * Runyard and its peers, each as its own documentation starts it. `main`: the package whose version is shown; `start`:
 * what Node executes; `storage`: what a new project of it stores in, and in which way it is asked.
 */
export const peers = [
  {
    name: 'Runyard',
    way: 'rest',
    storage: 'SQLite file',
    healthPath: '/health',
    start: ({ port, dataFolder }) => [
      join(root, 'packages/runyard/bin/runyard.mjs'),
      ...['start', join(here, 'runyard/agents.mjs'), '--port', String(port), '--data-dir', dataFolder],
    ],
  },
  {
    name: 'Mastra',
    folder: 'mastra',
    main: '@mastra/core',
    way: 'mastra',
    storage: 'LibSQL file',
    healthPath: '/health',
    build: ['node_modules/mastra/dist/index.js', 'build'],
    env: { MASTRA_TELEMETRY_DISABLED: '1' },
    start: () => ['.mastra/output/index.mjs'],
  },
  {
    name: 'VoltAgent',
    folder: 'voltagent',
    main: '@voltagent/core',
    way: 'voltagent',
    storage: 'LibSQL file',
    healthPath: '/agents',
    start: () => ['server.mjs'],
  },
  {
    name: 'LangGraph.js',
    folder: 'langgraph',
    main: '@langchain/langgraph',
    way: 'langgraph',
    storage: 'memory, kept in files',
    healthPath: '/ok',
    env: { LANGSMITH_TRACING: 'false' },
    start: ({ port }) => [
      'node_modules/@langchain/langgraph-cli/dist/cli/cli.mjs',
      ...['dev', '--port', String(port), '--host', '127.0.0.1', '--no-browser'],
    ],
  },
];

/** Installs a peer in the versions of its package.json, once, and builds it. Answers with its folder and version. */
export async function provided(peer, say) {
  if (peer.folder === undefined) {
    const { version } = JSON.parse(readFileSync(join(root, 'packages/runyard/package.json'), 'utf8'));
    return { folder: root, version };
  }
  const folder = join(installed, peer.folder);
  const source = join(here, peer.folder);
  const isThere = existsSync(join(folder, 'provided')) && sameFiles(source, folder);
  if (!isThere) {
    say(`${peer.name}: installing`);
    mkdirSync(folder, { recursive: true });
    cpSync(source, folder, { recursive: true });
    await succeeded(
      runNpm(['install', '--no-audit', '--no-fund', '--loglevel=error', '--workspaces=false'], {
        cwd: folder,
      }),
    );
    if (peer.build !== undefined)
      await succeeded(
        capture(process.execPath, peer.build, { cwd: folder, env: { ...process.env, ...peer.env } }),
      );
    writeFileSync(join(folder, 'provided'), '');
  }
  const main = join(folder, 'node_modules', peer.main, 'package.json');
  return { folder, version: JSON.parse(readFileSync(main, 'utf8')).version };
}

function sameFiles(source, folder) {
  return readFileSync(join(source, 'package.json')).equals(readFileSync(join(folder, 'package.json')));
}

async function succeeded(work) {
  const { code, output } = await work;
  if (code !== 0) throw new Error(output);
}
