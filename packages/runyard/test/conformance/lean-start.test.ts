import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { RunStore } from '../../src/capabilities/runs/storage/store.js';
import { emptyPostgres, emptySqlite } from '../support/databases.js';
import { aRun, creation } from './builders.js';

function loadedQueryBuilderFiles(): number {
  const { cache } = createRequire(import.meta.url);
  return Object.keys(cache).filter((file) => /[\\/]node_modules[\\/]kysely[\\/]/.test(file)).length;
}

// One test in a file of its own: what is once loaded stays loaded.
it('makes a new database and writes the first run without loading the query builder', async () => {
  const databases = [await (await emptySqlite()).open(), await (await emptyPostgres()).open()];
  for (const database of databases)
    expect(await new RunStore(database).commit([creation(aRun())])).toEqual([]);
  expect(loadedQueryBuilderFiles()).toBe(0);

  await databases[0]!.query.selectFrom('runs').select('run_id').execute();
  expect(loadedQueryBuilderFiles()).toBeGreaterThan(0);
});
