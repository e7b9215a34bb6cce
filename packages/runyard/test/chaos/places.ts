import { describe } from 'vitest';
import { ChaosFolder, type ChaosOptions } from '../support/chaos-process.js';
import { emptyPostgres } from '../support/databases.js';

/** Where the processes of one test keep their data: what is left when one of them dies. */
export async function embedded(): Promise<ChaosOptions> {
  return { folder: new ChaosFolder() };
}

export async function onPostgres(): Promise<ChaosOptions> {
  const { url } = await emptyPostgres();
  return { folder: new ChaosFolder(), database: url };
}

export function onEveryDatabase(define: (place: () => Promise<ChaosOptions>) => void): void {
  describe('on sqlite', () => define(embedded));
  describe('on postgres', () => define(onPostgres));
}
