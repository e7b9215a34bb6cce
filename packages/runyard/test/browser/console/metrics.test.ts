import { expect, test } from 'vitest';
import { agent } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { consoleBench } from './open-console.js';
import { checkPage, fitsPhone } from './page-checks.js';

const usage = { inputTokens: 2_000_000, outputTokens: 500_000, totalTokens: 2_500_000 };
const model = scriptedModel(() => ({ text: 'Hello', usage }), { id: 'house-7b', provider: 'House' });
const bench = consoleBench({
  agents: [agent({ id: 'clerk', name: 'Clerk', model })],
  teams: [],
  workflows: [],
  prices: { 'house:house-*': { input: 1, output: 4 } },
});

test('numbers by day, model and component, as charts for the eye and tables for everyone', async () => {
  const { page, faults, elsewhere } = await bench.open('/metrics');
  await page.getByText('Nothing was counted in this range').waitFor();
  await fitsPhone(page);
  await bench.service.run('clerk', { message: 'One', user_id: 'ada' });
  await bench.service.run('clerk', { message: 'Two', user_id: 'bob' });
  await page.getByRole('button', { name: 'Count again' }).click();
  const table = page.getByRole('table', { name: 'Metrics by day' });
  const today = table.getByRole('row').nth(1);
  await today.waitFor();
  const [runs, , , , sessions, users, input] = (await today.getByRole('cell').allTextContents()).slice(1);
  expect({ runs, sessions, users, input }).toEqual({ runs: '2', sessions: '2', users: '2', input: '4M' });

  const chart = page.getByRole('img', { name: /^Runs by day/ });
  await chart.locator('canvas').waitFor();
  await chart.focus();
  await page.keyboard.press('ArrowLeft');
  await page.locator('figcaption', { hasText: 'Agents2' }).waitFor();
  await checkPage(page);

  await page.getByRole('tab', { name: 'By model' }).click();
  await page.getByRole('table', { name: 'Runs by model' }).getByText('house-7b').waitFor();
  await page.getByRole('tab', { name: 'By component' }).click();
  const costs = page.getByRole('table', { name: 'Metrics by component' });
  await costs.getByRole('row', { name: /Clerk agent 2 0 .* 5M \$8\.00/ }).waitFor();
  await fitsPhone(page);

  await page.getByLabel('Range').selectOption('custom');
  await page.getByLabel('First day').fill('2020-01-01');
  await page.getByLabel('Last day').fill('2020-01-31');
  await page.getByRole('tab', { name: 'By day' }).click();
  await page.getByText('Nothing was counted in this range').waitFor();
  expect(new URL(page.url()).searchParams.get('to')).toBe('2020-01-31');
  expect(elsewhere).toEqual([]);
  expect(faults).toEqual([]);
});

test('a failure of the service is shown with its reason', async () => {
  const { page } = await bench.open('/settings');
  await page.route('**/metrics?*', (route) =>
    route.fulfill({ status: 500, json: { detail: 'The disk is full', error_code: 'internal_error' } }),
  );
  await page.getByRole('link', { name: 'Metrics' }).click();
  await page.getByRole('alert').getByText('The disk is full').waitFor();
});
