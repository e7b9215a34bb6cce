import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { knowledge } from '../../../src/index.js';
import { s3Source } from '../../../src/knowledge.js';
import { answerAsS3, type S3Double } from '../../support/sources/s3-double.js';
import { consoleBench } from './open-console.js';
import { checkPage, gone, holding } from './page-checks.js';

const hostile = '<img src=x onerror="window.hacked=true">';
const bucket: S3Double = {
  bucket: 'docs',
  secret: 'TOP-SECRET',
  pageSize: 1_000,
  files: new Map([
    ['public/lease.md', 'The lease ends in May.'],
    ['public/old/rent.md', 'The rent is due on Mondays.'],
  ]),
};
const s3 = createServer((request, response) => answerAsS3(bucket, request, response));
await new Promise<void>((resolve) => s3.listen(0, '127.0.0.1', resolve));
afterAll(() => s3.close());

const contracts = s3Source({
  id: 'contracts',
  name: 'Contracts',
  bucket: 'docs',
  region: 'eu-west-1',
  endpoint: `http://127.0.0.1:${(s3.address() as AddressInfo).port}`,
  pathStyle: true,
  accessKeyId: 'KEY',
  secretAccessKey: 'TOP-SECRET',
});
const bench = consoleBench({
  knowledge: [
    knowledge({ name: 'Handbook', description: 'How we work', sources: [contracts] }),
    knowledge({ name: 'Notes' }),
  ],
});

test('files that are dropped, texts and failures are listed with their progress, and can be edited and deleted', async () => {
  const { page, faults, elsewhere } = await bench.open('/knowledge');
  await page.getByText('No documents yet').waitFor();
  await page.getByText('How we work').waitFor();
  await checkPage(page);

  const files = [
    { name: 'moons.md', type: 'text/markdown', text: 'Mars has two moons: Phobos and Deimos.' },
    { name: 'broken.pdf', type: 'application/pdf', text: 'no PDF at all' },
  ];
  const dropped = await page.evaluateHandle((given) => {
    const data = new DataTransfer();
    for (const { name, type, text } of given) data.items.add(new File([text], name, { type }));
    return data;
  }, files);
  for (const event of ['dragover', 'drop'])
    await page.getByText('No documents yet').dispatchEvent(event, { dataTransfer: dropped });
  const row = (name: string) => page.getByRole('row').filter({ hasText: name });
  await row('moons.md').getByText('completed').waitFor();
  await row('broken.pdf').getByText('failed').waitFor();
  await row('broken.pdf').getByText('Content could not be read').waitFor();

  await page.getByRole('button', { name: 'Add', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('tab', { name: 'Text' }).click();
  await dialog.getByRole('textbox', { name: 'Text' }).fill('The office opens at 9.');
  await dialog.getByText('Name, metadata, reading and splitting').click();
  await dialog.getByLabel('Name').fill(hostile);
  await dialog.getByLabel('Metadata').fill('{"lang": ');
  await dialog.getByText(/This is not JSON/).waitFor();
  await dialog.getByLabel('Metadata').fill('{"lang": "en"}');
  await checkPage(page);
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  await row(hostile).getByText('completed').waitFor();
  expect(await page.evaluate(() => Reflect.get(window, 'hacked'))).toBeUndefined();
  await checkPage(page);

  // the service keeps no files: this tab still has the one that it sent
  const again = page.waitForRequest(
    (request) => request.method() === 'POST' && request.url().includes('/content'),
  );
  await page.getByRole('button', { name: 'Actions for broken.pdf' }).click();
  await page.getByRole('menuitem', { name: 'Process again' }).click();
  await again;
  await row('broken.pdf').getByText('failed').waitFor();

  await page.getByRole('button', { name: 'Actions for moons.md' }).click();
  await page.getByRole('menuitem', { name: 'Edit…' }).click();
  await dialog.getByLabel('Name').fill('planets.md');
  await dialog.getByLabel('Metadata').fill('{"year": 2026}');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('link', { name: 'planets.md' }).click();
  await page.getByRole('heading', { name: 'planets.md', level: 1 }).waitFor();
  await page.getByText('2026').first().waitFor();
  await checkPage(page);

  await page.getByRole('button', { name: 'Actions for planets.md' }).click();
  await page.getByRole('menuitem', { name: 'Delete…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await row('broken.pdf').waitFor();
  await gone(row('planets.md'));
  expect([faults, elsewhere]).toEqual([[], []]);
});

test('the playground searches in three ways, with filters, and shows a chunk between its neighbours', async () => {
  const sentences = ['The lamp needs oil.', 'The oil is in the shed.', 'The shed has a green door.'];
  const base = (await bench.service.get('/config')).body.knowledge.knowledge_instances[1].id;
  const add = (form: object) => bench.service.submit(`/knowledge/content?knowledge_id=${base}`, { ...form });
  await add({ text_content: sentences.join(' '), name: 'lamps', chunker: 'SentenceChunker', chunk_size: 30 });
  await add({ text_content: 'Lamps are sold on Mondays.', name: 'shop', metadata: { lang: 'en' } });
  const { page, faults } = await bench.open(`/knowledge?base=${base}&tab=search`);
  await page.getByLabel('Query').fill('Where is the oil?');
  for (const type of ['keyword', 'hybrid', 'vector']) {
    await page.getByLabel('Search by').selectOption(type);
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.getByRole('article').filter({ hasText: sentences[1]! }).waitFor();
  }
  const found = page.getByRole('article').filter({ hasText: sentences[1]! });
  await found.getByText(/similarity 0\.\d{3}/).waitFor();
  await found.getByRole('button', { name: 'In its place' }).click();
  await found.getByRole('region', { name: 'Before the chunk' }).getByText(sentences[0]!).waitFor();
  await found.getByRole('region', { name: 'After the chunk' }).getByText(sentences[2]!).waitFor();
  await checkPage(page);

  await page.getByText('Filter by metadata').click();
  await page.getByLabel('Key of the metadata').fill('lang');
  await page.getByLabel('Value of the metadata').fill('en');
  await page.getByRole('button', { name: 'Add condition' }).click();
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await page.getByRole('article', { name: '1. shop' }).waitFor();
  expect(await page.getByRole('article').count()).toBe(1);
  // a search can be sent to others
  await page.reload();
  await page.getByRole('article', { name: '1. shop' }).waitFor();

  await page.getByLabel('Filter as JSON').fill('{"op": "NEAR", "key": "lang", "value": 1}');
  const expected = faults.length;
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await page
    .getByRole('alert')
    .getByText(/is no operator/)
    .waitFor();
  expect(faults.slice(0, expected)).toEqual([]);
});

test('folders of a source are opened, and files of it added', async () => {
  const { page } = await bench.open('/knowledge?tab=sources');
  await page.getByRole('button', { name: 'public', exact: true }).click();
  await page.getByText('lease.md').waitFor();
  await checkPage(page);
  await page.getByRole('button', { name: 'Add: lease.md' }).click();
  await page.getByText('lease.md is being processed.').waitFor();
  await page.getByRole('tab', { name: 'Documents' }).click();
  await page.getByRole('row').filter({ hasText: 'lease.md' }).getByText('completed').waitFor();
});

test('a reader sees nothing that changes documents, and a failure has a reason', async () => {
  const { page } = await bench.open('/knowledge', holding('knowledge:read', 'config:read'));
  await page.getByRole('row').nth(1).waitFor();
  expect(await page.getByRole('button', { name: 'Add', exact: true }).count()).toBe(0);
  await page
    .getByRole('button', { name: /^Actions for/ })
    .first()
    .click();
  expect(await page.getByRole('menuitem').allInnerTexts()).toEqual(['Search in it']);
  await page.route('**/knowledge/content?*', (route) =>
    route.fulfill({ status: 500, json: { detail: 'The disk is full', error_code: 'internal' } }),
  );
  await page.reload();
  await page.getByRole('alert').getByText('The disk is full').waitFor();
});
