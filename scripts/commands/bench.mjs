import { ensureBuilt, ensureInstalled } from '../lib/setup.mjs';

/** Measures what is built. Its modules import that, so they are loaded only when it is there. */
export async function run(words) {
  await ensureInstalled();
  await ensureBuilt();
  const bench = await import('../../bench/bench.mjs');
  await bench.run(words);
}
