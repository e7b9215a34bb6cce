import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'vitest';
import { ChaosFolder, type ChaosOptions } from '../support/chaos-process.js';
import { freshPostgres, preparedSqlite } from '../support/databases.js';

/** Where the processes of one test keep their data: what is left when one of them dies. The tables are there already. */
export async function embedded(): Promise<ChaosOptions> {
  const folder = new ChaosFolder();
  writeFileSync(join(folder.path, 'runyard.db'), await preparedSqlite());
  return { folder };
}

export async function onPostgres(): Promise<ChaosOptions> {
  const { url } = await freshPostgres();
  return { folder: new ChaosFolder(), database: url };
}

export function onEveryDatabase(define: (place: () => Promise<ChaosOptions>) => void): void {
  describe('on sqlite', () => define(embedded));
  describe('on postgres', () => define(onPostgres));
}
