import { expect, test } from 'vitest';
import { consoleBench } from './open-console.js';
import { checkPage, gone } from './page-checks.js';

const bench = consoleBench();
/** Opened with motion, as most people have it. */
const small = { viewport: { width: 360, height: 740 }, reducedMotion: 'no-preference' as const };

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
  // a new chat begins in its field, which Escape leaves
  await page.getByLabel('Message').press('Escape');
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

test('nothing moves for a person whose device asks for that', async () => {
  const moving = async (reducedMotion: 'reduce' | 'no-preference') => {
    const { page } = await bench.open('/settings', { reducedMotion, colorScheme: 'light' });
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
    return page.evaluate(() => {
      document.documentElement.dataset.theme = 'dark';
      return document.getAnimations().length;
    });
  };
  expect(await moving('no-preference')).toBeGreaterThan(0);
  expect(await moving('reduce')).toBe(0);
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

test.each(['/settings', '/runs', '/not-there'])(
  'the page %s is accessible in both themes, with an empty list too',
  async (path) => {
    const { page } = await bench.open(path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await checkPage(page);
  },
);

test('the palette and the list of shortcuts are accessible in both themes', async () => {
  const { page } = await bench.open('/settings');
  await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
  await page.locator('body').press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await checkPage(page);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await page.getByRole('option', { name: 'Assistant' }).waitFor();
  await checkPage(page);
});

test('what loads before the chat can be used stays under 200 KB', async () => {
  const { page } = await bench.open('/settings');
  const context = await bench.browser.newContext();
  const first = await context.newPage();
  const loaded: Promise<{ path: string; bytes: number; encoding: string | undefined }>[] = [];
  first.on('requestfinished', (request) => {
    const { pathname } = new URL(request.url());
    if (!pathname.startsWith('/console')) return;
    const sized = async () => ({
      path: pathname,
      bytes: (await request.sizes()).responseBodySize,
      encoding: (await request.response())?.headers()['content-encoding'],
    });
    loaded.push(sized());
  });
  await first.goto(new URL('/console', page.url()).href);
  await first.getByLabel('Message').fill(bench.book.write('Hello', 'Good *evening*'));
  await first.getByRole('button', { name: 'Send' }).click();
  await first.getByText('evening').waitFor();
  const files = await Promise.all(loaded);
  expect(files.map(({ path }) => path)).toContainEqual(expect.stringMatching(/\.css$/));
  expect(files.filter(({ encoding }) => encoding !== 'gzip')).toEqual([]);
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThan(200_000);
});

test('a service that does not respond is reported until it does, and the page stays', async () => {
  const { page } = await bench.open('/schedules');
  await page.getByText('No schedules yet').waitFor();
  await page.context().setOffline(true);
  await page.getByRole('link', { name: 'Learnings' }).click();
  const banner = page.getByRole('alert').filter({ hasText: 'does not respond' });
  await banner.waitFor();
  await checkPage(page);
  await page.context().setOffline(false);
  await gone(banner);
  await page.getByText('No learnings yet').waitFor();
});

test('buttons with an icon have a hint, which Escape closes', async () => {
  const { page } = await bench.open('/settings');
  const hint = page.getByRole('tooltip');
  await page.getByRole('button', { name: 'Keyboard shortcuts' }).hover();
  await hint.filter({ hasText: 'Keyboard shortcuts' }).waitFor();
  await page.keyboard.press('Escape');
  await gone(hint);
  await page.getByRole('button', { name: /^Theme/ }).focus();
  await page.keyboard.press('Tab');
  await hint.filter({ hasText: 'Keyboard shortcuts' }).waitFor();
  // within a dialog, too
  await page.keyboard.press('Enter');
  const close = page.getByRole('dialog').getByRole('button', { name: 'Close' });
  await close.hover();
  await page.getByRole('dialog').getByRole('tooltip').filter({ hasText: 'Close' }).waitFor();
});

test('shortcuts are written as the keyboard of the device has them', async () => {
  const shortcut = async (userAgent: string) => {
    const { page } = await bench.open('/settings', { userAgent });
    return page.getByRole('complementary').getByRole('button', { name: 'Search' }).textContent();
  };
  expect(await shortcut('Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)')).toBe('Search⌘ K');
  expect(await shortcut('Mozilla/5.0 (X11; Linux x86_64)')).toBe('SearchCtrl K');
});
