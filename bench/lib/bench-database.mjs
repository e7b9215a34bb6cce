import { totalmem } from 'node:os';
import { providePostgres } from '../../scripts/lib/postgres.mjs';

/** Those of a server that people use: durable commits, and a quarter of the memory, as PostgreSQL's manual suggests. */
const serverSettings = {
  fsync: 'on',
  full_page_writes: 'on',
  shared_buffers: `${Math.floor(totalmem() / 4 / 2 ** 20)}MB`,
};

/** A PostgreSQL database that holds nothing but what the bench puts there, and `another` one. */
export async function provideBenchDatabase(signal) {
  const { default: pg } = await import('pg');
  const provided = await providePostgres(signal, serverSettings);
  const name = `runyard_bench_${process.pid}`;
  const execute = async (sql) => {
    const client = new pg.Client({ connectionString: provided.url });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  try {
    await execute(`CREATE DATABASE ${name}`);
  } catch (error) {
    await provided.stop();
    throw error;
  }
  const urlOf = (database) => {
    const url = new URL(provided.url);
    url.pathname = `/${database}`;
    return url.href;
  };
  const made = [name];
  const another = async () => {
    const next = `${name}_${made.length}`;
    await execute(`CREATE DATABASE ${next}`);
    made.push(next);
    return urlOf(next);
  };
  const stop = async () => {
    try {
      for (const database of made) await execute(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
    } finally {
      await provided.stop();
    }
  };
  return { url: urlOf(name), another, description: provided.description, stop };
}
