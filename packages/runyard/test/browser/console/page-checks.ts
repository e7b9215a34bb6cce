import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { OpenOptions } from './open-console.js';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The themes differ in colours alone. */
const rules = {
  light: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'],
  dark: ['color-contrast'],
};

/** What a page must be in each state: accessible in both themes, and no wider than a small phone. */
export async function checkPage(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.locator(`html[data-theme="${colorScheme}"]`).waitFor({ state: 'attached' });
    // colours that still change have no contrast to measure
    await page.evaluate(async () => {
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      const changing = document.getAnimations().filter((one) => one instanceof CSSTransition);
      await Promise.allSettled(changing.map(({ finished }) => finished));
    });
    expect(await violations(page, rules[colorScheme]), `in the ${colorScheme} theme`).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await fitsPhone(page);
}

/** Nothing of the page is wider than 360 pixels. */
export async function fitsPhone(page: Page): Promise<void> {
  const before = page.viewportSize();
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  if (before) await page.setViewportSize(before);
}

/** Waits until nothing matches. A list keeps its rows while others load: several may match until then. */
export async function gone(locator: Locator): Promise<void> {
  await locator.first().waitFor({ state: 'detached' });
}

async function violations(page: Page, runOnly: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axeSource);
  const { violations: found } = await page.evaluate(
    (options): Promise<AxeResults> => Reflect.get(window, 'axe').run(document, options),
    // what it says of each element that passes costs more than the check
    { runOnly, resultTypes: ['violations'] },
  );
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
  );
}

/** Options of a page whose person holds a token with these scopes alone. It is not signed: the console only reads it. */
export function holding(...scopes: readonly string[]): Pick<OpenOptions, 'token'> {
  const claims = Buffer.from(JSON.stringify({ sub: 'reader', scopes })).toString('base64url');
  return { token: `e30.${claims}.x` };
}
