import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ChaosFolder, ChaosProcess } from '../support/chaos-process.js';
import type { Body } from '../support/service.js';
import { until } from '../support/until.js';

const entry = fileURLToPath(new URL('./knowledge-yard.ts', import.meta.url));
const rows = 900;
/** What one step of the job embeds. */
const batch = 128;

test('the indexing of a content continues after a kill: only the batch in progress is embedded again', async () => {
  const folder = new ChaosFolder();
  const first = await ChaosProcess.start({ folder, entry });
  const body = new FormData();
  body.set('name', 'rows');
  body.set('chunker', 'RowChunker');
  body.set('text_content', Array.from({ length: rows }, (_, row) => `Row ${row}`).join('\n'));
  const added = await fetch(`${first.url}/knowledge/content`, { method: 'POST', body });
  const { id } = (await added.json()) as Body;
  await until('some rows are embedded', () => folder.effects().length >= 2 * batch);
  await first.kill();
  expect(folder.effects().length).toBeLessThan(rows);

  const second = await ChaosProcess.start({ folder, entry });
  const content = await until('the content is indexed', async () => {
    const found = (await (await fetch(`${second.url}/knowledge/content/${id}`)).json()) as Body;
    return found.status !== 'processing' && found;
  });
  expect(content).toMatchObject({ status: 'completed', status_message: '' });
  const embedded = folder.effects().map(({ name }) => name);
  expect(new Set(embedded).size).toBe(rows);
  expect(embedded.length).toBeLessThanOrEqual(rows + batch);
});
