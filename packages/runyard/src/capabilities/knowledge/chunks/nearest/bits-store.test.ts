import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { silentLog } from '../../../../core/log.js';
import { migrate } from '../../../../platform/storage/migrations/migrate.js';
import { openDatabase } from '../../../../platform/storage/open.js';
import { knowledgeSearch } from '../../migrations/0017-knowledge-search.js';
import { loadBits } from './bits-store.js';

test('rows of earlier builds, which have signs alone, load beside others', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'runyard-bits-'));
  const url = `sqlite://${folder}/bits.db`;
  const database = await openDatabase({ id: 'bits', url, migrations: [knowledgeSearch], log: silentLog });
  try {
    await migrate(database);
    await database.transaction(async (run) => {
      for (const [rowId, bits] of [
        [5, [1, 2]],
        [6, [3, 4, 5, 6]],
      ] as const)
        await run('INSERT INTO knowledge_bits (row_id, tokens, bits) VALUES (?, 1, ?)', [
          rowId,
          Uint8Array.from(bits),
        ]);
    });
    const { rowIds, bits } = await loadBits(database, 2, [[0, 10]]);
    expect([rowIds, [...bits]]).toEqual([
      [5, 6],
      [1, 2, 1, 2, 3, 4, 5, 6],
    ]);
  } finally {
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
