import { join } from 'node:path';
import { startProcess } from '../lib/processes.mjs';
import { databases } from '../lib/servers.mjs';

const kinds = [
  { name: 'clustered vectors', offline: false },
  { name: 'offline embedder', offline: true },
];
/** Milliseconds at the 95th percentile, by the number of chunks. */
const promised = { 100000: 30, 1000000: 100 };
const promisedRecall = 0.95;

/** Searches of knowledge, each by itself, one after the other, over chunks that are made for it. */
export async function measureKnowledgeSearch({ start, postgres }, database, { sizes, searches, scale }, say) {
  const { title } = databases[database];
  const rows = [];
  for (const size of sizes) {
    for (const { name, offline } of kinds) {
      // embedding a million texts takes an hour and measures the embedder
      if (offline && size > 100_000) continue;
      const chunks = Math.round(size * scale);
      const url =
        database === 'postgres'
          ? await postgres.another()
          : `sqlite://${join(start.newFolder(), 'search.db')}`;
      say(`${title}: searching ${chunks.toLocaleString('en')} chunks, ${name}`);
      const meter = await startProcess('search-meter', { url, chunks, dimensions: 256, searches, offline });
      const { rows: measured, ...facts } = await meter.ask('measure');
      await meter.stop();
      rows.push(
        ...measured.map((row) => ({
          ...row,
          ...facts,
          where: title,
          what: `${chunks.toLocaleString('en')} chunks, ${name}`,
          target: row.kind === 'vector' ? promised[size] : undefined,
          met: row.kind !== 'vector' || (row.p95 <= promised[size] && row.recall >= promisedRecall),
        })),
      );
    }
  }
  return rows;
}
