import { ensureBuilt, ensureInstalled, root } from '../lib/setup.mjs';

/** Serves the example agents. In this very process, so that signals reach the server without a messenger. */
export async function run(words) {
  await ensureInstalled();
  await ensureBuilt();
  const { main } = await import('../../packages/runyard/bundle/cli/main.js');
  await main(['start', `${root}examples/quickstart/agents.ts`, ...words]);
}
