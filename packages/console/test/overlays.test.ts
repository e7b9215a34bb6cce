import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { rolldown } from 'rolldown';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sharedChromium } from '../../runyard/test/support/clients/chromium.js';

const chromium = sharedChromium();
let script: string;
let page: Page;

beforeAll(async () => {
  const build = await rolldown({
    input: fileURLToPath(new URL('overlay-page.tsx', import.meta.url)),
    platform: 'browser',
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
    logLevel: 'silent',
  });
  const { output } = await build.generate({ format: 'iife' });
  await build.close();
  script = output[0].code;
});

beforeEach(async () => {
  page = await chromium.browser.newPage({ viewport: { width: 600, height: 400 } });
  await page.setContent('<!doctype html><title>Overlays</title>');
  await page.addScriptTag({ content: script });
});

const button = (name: string) => page.getByRole('button', { name });
const item = (name: string) => page.getByRole('menuitem', { name });
const hasFocus = (name: string) =>
  page.waitForFunction(
    (wanted) => [document.activeElement?.textContent, document.activeElement?.ariaLabel].includes(wanted),
    name,
  );
const closed = () => page.getByRole('menu').waitFor({ state: 'hidden' });

describe('a menu', () => {
  test('works with the keyboard, and returns the focus', async () => {
    await button('More').press('Enter');
    await hasFocus('Rename');
    expect(await button('More').getAttribute('aria-expanded')).toBe('true');
    for (const [key, focused] of [
      ['ArrowDown', 'Delete'],
      ['ArrowDown', 'Rename'],
      ['ArrowUp', 'Delete'],
      ['Home', 'Rename'],
      ['d', 'Delete'],
      ['r', 'Rename'],
      ['End', 'Delete'],
    ] as const) {
      await page.keyboard.press(key);
      await hasFocus(focused);
    }
    await page.keyboard.press('Escape');
    await closed();
    await hasFocus('More');
    await button('More').press('Enter');
    await hasFocus('Rename');
    await page.keyboard.press('Enter');
    await closed();
    await hasFocus('More');
    expect(await page.getByRole('status').textContent()).toBe('rename');
    expect(await button('More').getAttribute('aria-expanded')).toBe('false');
  });

  test('closes with a click on its button or beside it, and with a change of the window', async () => {
    for (const close of [
      () => button('More').click(),
      () => page.mouse.click(300, 300),
      () => page.setViewportSize({ width: 500, height: 400 }),
    ]) {
      await button('More').click();
      await hasFocus('Rename');
      await close();
      await closed();
    }
  });

  test('stays within the window', async () => {
    await button('In the corner').click();
    await hasFocus('Rename');
    const box = await page.getByRole('menu').boundingBox();
    const under = await button('In the corner').boundingBox();
    if (!box || !under) throw new Error('The menu is not shown.');
    expect(box.y + box.height).toBeLessThanOrEqual(under.y);
    expect(box.x + box.width).toBeLessThanOrEqual(600);
    expect(box.y).toBeGreaterThanOrEqual(0);
  });

  test('opens a dialog, and works in one', async () => {
    await button('More').click();
    await item('Delete').click();
    await page.getByRole('dialog').waitFor();
    await button('In the dialog').click();
    await item('Rename').click();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await hasFocus('More');
    expect(await page.getByRole('status').textContent()).toBe('rename');
  });

  test('does nothing for an item that is disabled', async () => {
    await button('More').click();
    expect(await item('Copy').isDisabled()).toBe(true);
  });
});

test('tabs are changed with the arrows, and one of them is in the order of the page', async () => {
  await page.getByRole('tab', { name: 'Tab a' }).focus();
  for (const [key, shown] of [
    ['ArrowRight', 'b'],
    ['End', 'c'],
    ['ArrowRight', 'a'],
    ['ArrowLeft', 'c'],
    ['Home', 'a'],
  ] as const) {
    await page.keyboard.press(key);
    await page.getByRole('tabpanel', { name: `Tab ${shown}` }).waitFor();
    await hasFocus(`Tab ${shown}`);
    expect(await page.getByRole('tabpanel').textContent()).toBe(`Content ${shown}`);
  }
  await page.keyboard.press('Tab');
  expect(await page.getByRole('tabpanel').evaluate((panel) => panel === document.activeElement)).toBe(true);
});
