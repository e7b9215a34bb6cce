import { expect, test } from 'vitest';
import { consoleBench } from './open-console.js';
import { checkPage, gone, holding } from './page-checks.js';

const bench = consoleBench();
const hostile = '<img src=x onerror="window.hacked=true"> drinks tea';

test('memories are written, found, changed, merged and deleted', async () => {
  const { page, faults } = await bench.open('/memory');
  await page.getByText('No memories yet').waitFor();
  await checkPage(page);
  const dialog = page.getByRole('dialog');
  const row = (text: string) => page.getByRole('row').filter({ hasText: text });
  const facts = [
    [hostile, 'ada', 'food'],
    ['Likes the sea', 'ada', 'food, travel'],
    ['Likes the hills', 'bob', 'travel'],
  ];
  for (const [memory = '', user = '', topics = ''] of facts) {
    await page.getByRole('button', { name: 'New memory' }).click();
    await dialog.getByLabel('Memory').fill(memory);
    await dialog.getByLabel('User').fill(user);
    await dialog.getByLabel('Topics').fill(topics);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await row(memory).waitFor();
  }
  expect(await page.evaluate(() => Reflect.get(window, 'hacked'))).toBeUndefined();
  await checkPage(page);

  await page.getByLabel('Topic', { exact: true }).selectOption('travel');
  await gone(row(hostile));
  await page.getByLabel('Text of the memory').fill('SEA');
  await gone(row('Likes the hills'));
  await page.getByRole('button', { name: 'Edit: Likes the sea' }).click();
  await dialog.getByLabel('Memory').fill('Likes the sea and the wind');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await row('Likes the sea and the wind').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();

  await page.getByRole('tab', { name: 'Users' }).click();
  await row('ada').getByText('2', { exact: true }).waitFor();
  await checkPage(page);
  await page.getByRole('link', { name: 'ada' }).click();
  await page.getByRole('button', { name: 'Merge the memories of ada…' }).click();
  await dialog.getByLabel('Model').fill('offline');
  await dialog.getByRole('button', { name: 'Show the result' }).click();
  await dialog.getByText(/2 → \d memories/).waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();

  await page.getByLabel('Choose: Likes the sea and the wind').check();
  await page.getByRole('button', { name: 'Choose all on this page' }).click();
  await page.getByRole('button', { name: 'Delete 2…' }).click();
  await checkPage(page);
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No memory matches').waitFor();
  expect((await bench.service.get('/memories')).body.meta.total_count).toBe(1);
  expect(faults).toEqual([]);
});

test('a reader sees memories and no actions; a failure has a reason', async () => {
  const { page } = await bench.open('/memory', holding('memories:read'));
  await page.getByText('Likes the hills').waitFor();
  expect(await page.getByRole('button', { name: /New memory|Edit|Delete/ }).count()).toBe(0);
  expect(await page.getByRole('checkbox').count()).toBe(0);
  await page.route('**/memories?*', (route) =>
    route.fulfill({
      status: 403,
      json: { detail: 'Required scope(s): memories:read', error_code: 'insufficient_scope' },
    }),
  );
  await page.reload();
  await page.getByRole('alert').getByText('Your token does not allow this').waitFor();
  await page.unroute('**/memories?*');
  // a page of a proxy, and the answer of something else
  for (const [type, body] of [
    ['text/html', '<script>document.title = 1</script>'],
    ['application/json', '{}'],
  ] as const) {
    await page.route('**/memories?*', (route) => route.fulfill({ contentType: type, body }));
    await page.reload();
    await page.getByRole('alert').getByText('The console does not understand the answer').waitFor();
    await page.unroute('**/memories?*');
  }
  await page.getByRole('button', { name: 'Retry' }).click();
  await page.getByText('Likes the hills').waitFor();
});

test('a page whose last row was deleted gives way to the one before it', async () => {
  for (let number = 1; number <= 26; number += 1)
    await bench.service.call('POST', '/memories', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ memory: `Fact ${number}`, user_id: 'many' }),
    });
  const { page } = await bench.open('/memory?user=many');
  await page.getByRole('button', { name: 'Next page' }).click();
  // the rows of the first page stay until the second one is there
  await page.getByRole('button', { name: 'Delete: Fact 1', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('Fact 26', { exact: true }).waitFor();
  expect(await page.getByRole('row').count()).toBe(26);
});
