import { mkdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ensureBuilt, ensureInstalled } from '../scripts/lib/setup.mjs';

/**
 * Fills a database as sixty days of use would: node bench/seed.mjs --data-dir folder [--database postgres://…]
 * [--scale 0.1]. The folder is new, or the PostgreSQL database empty.
 */
const known = { 'data-dir': { type: 'string' }, database: { type: 'string' }, scale: { type: 'string' } };
const { values } = parseArgs({ options: known });
if (values['data-dir'] === undefined) {
  console.error('Usage: node bench/seed.mjs --data-dir folder [--database postgres://…] [--scale 0.1]');
  process.exit(2);
}
await ensureInstalled();
await ensureBuilt();
mkdirSync(values['data-dir'], { recursive: true });
const { seedDatabase } = await import('./seed/seed-database.mjs');
const begun = performance.now();
const { runs, spans, sessions } = await seedDatabase({
  dataDir: values['data-dir'],
  url: values.database,
  scale: Number(values.scale ?? 1),
});
const seconds = ((performance.now() - begun) / 1000).toFixed(1);
console.log(`${spans} spans, ${runs} runs and ${sessions.length} sessions in ${seconds} s`);
