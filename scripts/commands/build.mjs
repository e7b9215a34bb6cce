import { ensureBuilt, ensureInstalled } from '../lib/setup.mjs';

/** Compiles and bundles what has changed. */
export async function run() {
  await ensureInstalled();
  await ensureBuilt();
}
