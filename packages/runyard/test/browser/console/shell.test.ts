import { expect, test } from 'vitest';
import { consoleBench } from './open-console.js';

const bench = consoleBench();
const small = { viewport: { width: 360, height: 740 } };

test('the console opens the chat with the first component, from its own service alone', async () => {
  const { page, elsewhere, faults } = await bench.open();
  await page.waitForURL('**/console/chat/agent/clerk');
  await page.getByRole('heading', { name: 'Clerk' }).waitFor();
  await page.getByLabel('Message').fill(bench.book.write('Hello', 'Good morning'));
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByText('Good morning').waitFor();
  expect(elsewhere).toEqual([]);
  expect(faults).toEqual([]);
});

test('each page has an address that can be opened and reloaded', async () => {
  const { page, faults } = await bench.open('/traces');
  await page.getByRole('heading', { name: 'Traces', level: 1 }).waitFor();
  await page.getByRole('link', { name: 'Memory' }).click();
  await page.waitForURL('**/console/memory');
  await page.reload();
  await page.getByRole('heading', { name: 'Memory', level: 1 }).waitFor();
  expect(faults).toEqual([]);
});

test('the command palette and the keyboard lead to pages and chats', async () => {
  const { page } = await bench.open('/settings');
  await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').getByRole('combobox').fill('assist');
  await page.getByRole('option', { name: 'Assistant' }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/chat/agent/assistant');
  await page.getByRole('heading', { name: 'Assistant', level: 1 }).waitFor();
  await page.locator('body').press('g');
  await page.locator('body').press('w');
  await page.waitForURL('**/console/workflows');
});

test('the theme is that of the device until one is chosen, and the choice stays', async () => {
  const { page } = await bench.open('/settings', { colorScheme: 'dark' });
  const theme = () => page.locator('html').getAttribute('data-theme');
  expect(await theme()).toBe('dark');
  await page.getByLabel('Theme', { exact: true }).selectOption('light');
  expect(await theme()).toBe('light');
  await page.reload();
  await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
  expect(await theme()).toBe('light');
});

test.each(['', '/runs', '/traces', '/settings', '/metrics', '/components'])(
  'the page %s fits into 360 pixels',
  async (path) => {
    const { page } = await bench.open(path, small);
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    await page.getByRole('button', { name: 'Open the navigation' }).click();
    await page.getByRole('dialog').getByRole('link', { name: 'Schedules' }).click();
    await page.getByRole('heading', { name: 'Schedules', level: 1 }).waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  },
);
