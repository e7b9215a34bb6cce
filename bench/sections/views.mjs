import { startProcess } from '../lib/processes.mjs';
import { databases } from '../lib/servers.mjs';
import { measureOperations, measureUnbounded } from './views/measure.mjs';

export const viewGroups = ['sessions', 'memory', 'learnings', 'metrics', 'traces', 'unbounded'];

/**
 * Lists, searches and details over a seeded database: each by itself, one request after the other. `scale` makes the
 * database smaller; the promises are for the whole.
 */
export async function measureViews({ start, postgres }, database, { samples, scale }, say) {
  const { title } = databases[database];
  const url = database === 'postgres' ? await postgres.another() : undefined;
  const dataDir = start.newFolder();
  say(`${title}: seeding`);
  const seeder = await startProcess('seeder', { dataDir, url, scale });
  const facts = await seeder.ask('seed');
  await seeder.stop();
  const [spans, runs, sessions] = [facts.spans, facts.amounts.runs, facts.amounts.sessions].map(grouped);
  say(`${title}: ${spans} spans, ${runs} runs, ${sessions} sessions`);
  const process = await startProcess('views-server', { dataDir, database: url });
  const server = { ...process, port: await process.ask('port') };
  say(`${title}: lists, searches and details`);
  const unbounded = await measureUnbounded(server, facts);
  const rows = await measureOperations({ server, facts, samples, isWhole: scale === 1 });
  await server.stop();
  return [...rows, ...unbounded].map((row) => ({ ...row, where: title }));
}

function grouped(count) {
  return count.toLocaleString('en');
}
