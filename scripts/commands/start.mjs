import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Serves the example agents in this process, so that signals reach the server directly. The build runs in a process of
 * its own, because a process keeps the memory that a build has taken.
 */
export async function run(words) {
  const build = spawnSync(process.execPath, [`${root}scripts/build.mjs`], { stdio: 'inherit' });
  if (build.status !== 0) process.exit(build.status ?? 1);
  const { main } = await import('../../packages/runyard/bundle/cli/main.js');
  await main(['start', `${root}examples/quickstart/agents.ts`, ...words]);
}
