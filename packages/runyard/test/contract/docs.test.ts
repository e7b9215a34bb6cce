import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agent } from '../../src/index.js';
import { findChromium } from '../support/chromium.js';
import { startService, TestService } from '../support/service.js';

const installMs = 300_000;
let service: TestService;
let browser: Browser;

beforeAll(async () => {
  service = await TestService.start({ name: 'Yard', agents: [agent({ id: 'a', model: 'offline' })] });
  // as root Chromium needs to be told that its sandbox cannot be had
  browser = await chromium.launch({ executablePath: findChromium(), args: ['--no-sandbox'] });
}, installMs);
afterAll(async () => {
  await browser?.close();
  await service.stop();
});

test('the API browser works without a network and can call the service', async () => {
  const { page, elsewhere, faults } = await open(`${service.url}/docs`);
  await page.getByText('/agents/{agent_id}/runs', { exact: true }).first().waitFor();
  await page.getByRole('heading', { name: /^Yard/ }).waitFor();
  const health = page.locator('.opblock', { hasText: '/health' });
  await health.locator('.opblock-summary').click();
  await health.getByRole('button', { name: 'Execute' }).click();
  await health.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor();
  if (process.env.RUNYARD_TEST_SCREENSHOTS) {
    await page.screenshot({ path: `${process.env.RUNYARD_TEST_SCREENSHOTS}/docs.png` });
  }
  expect(elsewhere).toEqual([]);
  expect(faults).toEqual([]);
  await page.close();
});

test('the page and all that it needs come from the service', async () => {
  const { headers, text } = await service.get('/docs');
  expect(headers.get('content-type')).toMatch(/^text\/html/);
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  const assets = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]!);
  expect(assets.length).toBeGreaterThan(2);
  for (const asset of assets) {
    expect(asset).toMatch(/^\//);
    expect((await service.get(asset)).status, asset).toBe(200);
  }
});

test('nothing but its own files is served there', async () => {
  for (const name of [
    'package.json',
    'index.html',
    '..%2fpackage.json',
    '%2e%2e%2f%2e%2e%2fpackage.json',
    'none.js',
  ]) {
    expect((await service.get(`/docs/assets/${name}`)).status, name).toBe(404);
  }
});

test('it can be turned off, the description stays', async () => {
  const closed = await startService({ agents: [], docs: false });
  expect((await closed.get('/docs')).status).toBe(404);
  expect((await closed.get('/openapi.json')).status).toBe(200);
});

/** A page that notes every request to another host and every error. */
async function open(url: string): Promise<{ page: Page; elsewhere: string[]; faults: string[] }> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
  const elsewhere: string[] = [];
  const faults: string[] = [];
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url());
    if (protocol !== 'data:' && host !== new URL(url).host) elsewhere.push(request.url());
  });
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  await page.goto(url);
  return { page, elsewhere, faults };
}
