import { providePostgres } from '../../scripts/lib/postgres.mjs';

/** A PostgreSQL database that holds nothing but what the bench puts there. */
export async function provideBenchDatabase(signal) {
  const { default: pg } = await import('pg');
  const provided = await providePostgres(signal);
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
  const url = new URL(provided.url);
  url.pathname = `/${name}`;
  const stop = async () => {
    await execute(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`).finally(() => provided.stop());
  };
  return { url: url.href, description: provided.description, stop };
}
