import { expect, test } from 'vitest';
import { agent } from '../../../src/index.js';
import { everydayScopes, tokenOf, tokenSettings } from '../../support/clients/tokens.js';
import { startService } from '../../support/service.js';
import { consoleBench } from './open-console.js';

const bench = consoleBench(tokenSettings);
const key = await tokenOf({ sub: 'ada', scopes: everydayScopes });

test('the page has a policy that allows only its own scripts and styles', async () => {
  const { headers } = await fetch(`${bench.service.url}/console/runs`);
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self';");
  expect(policy).toContain("style-src 'self';");
  expect(policy).not.toMatch(/unsafe|\*/);
  expect(headers.get('x-frame-options')).toBe('DENY');
});

test('a browser is sent from / to the console without a token, others get JSON', async () => {
  const asked = (accept: string, token = '') =>
    fetch(`${bench.service.url}/`, {
      redirect: 'manual',
      headers: { accept, ...(token && { authorization: `Bearer ${token}` }) },
    });
  const browser = await asked('text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8');
  expect([browser.status, browser.headers.get('location')]).toEqual([303, '/console']);
  expect(browser.headers.get('vary')?.toLowerCase()).toContain('accept');
  expect((await asked('*/*')).status).toBe(401);
  const client = await asked('application/json, text/html;q=0.5', key);
  expect(await client.json()).toMatchObject({ name: 'Yard API' });
});

test('it asks for a token, refuses a wrong one, and keeps it for the tab only', async () => {
  const { page } = await bench.open('/runs');
  const dialog = page.getByRole('dialog', { name: 'This service needs a token' });
  await dialog.getByLabel('Access token').fill('wrong');
  await dialog.getByRole('button', { name: 'Continue' }).click();
  await dialog.getByText('The service does not accept this token.').waitFor();
  await dialog.getByLabel('Access token').fill(key);
  await dialog.getByRole('button', { name: 'Continue' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('No runs yet').waitFor();
  expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([]);
  await page.reload();
  await page.getByText('No runs yet').waitFor();
  const tab = await page.context().newPage();
  await tab.goto(page.url());
  await tab.getByRole('dialog', { name: 'This service needs a token' }).waitFor();
});

test('a token that expires is asked for over the page: what was typed stays, and is sent', async () => {
  const { page } = await bench.open('/settings');
  const gate = page.getByRole('dialog');
  await gate.getByLabel('Access token').fill(key);
  await gate.getByRole('button', { name: 'Continue' }).click();
  await gate.waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Chat' }).click();
  await page.getByLabel('Message').fill(bench.book.write('Hello', 'Good evening'));
  await page.route('**/agents/clerk/runs', (route) =>
    route.request().headers().authorization === `Bearer ${key}`
      ? route.fulfill({ status: 401, json: { detail: 'Expired', error_code: 'invalid_token' } })
      : route.continue(),
  );
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByRole('dialog', { name: 'The token is no longer valid' }).waitFor();
  await gate
    .getByLabel('Access token')
    .fill(await tokenOf({ sub: 'ada', scopes: everydayScopes, jti: 'next' }));
  await gate.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('Good evening').waitFor();
});

test('it can be pointed at another service, and back', async () => {
  const other = await startService({
    name: 'Other yard',
    agents: [agent({ id: 'far', name: 'Far away', model: 'offline' })],
    corsOrigins: [bench.service.url],
  });
  const { page } = await bench.open('/settings');
  const gate = page.getByRole('dialog');
  await gate.getByLabel('Access token').fill(key);
  await gate.getByRole('button', { name: 'Continue' }).click();
  await gate.waitFor({ state: 'detached' });
  await page.getByLabel('Address').fill(`${other.url}/console/`);
  const sent = page.waitForRequest((request) => request.url().startsWith(other.url));
  await page.getByRole('button', { name: 'Connect' }).click();
  expect((await sent).headers().authorization).toBeUndefined();
  await page.getByText('Another service', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'Chat' }).click();
  await page.getByRole('heading', { name: 'Far away' }).waitFor();
  await page.getByRole('complementary').getByRole('button', { name: 'Use this service' }).click();
  await page.getByText('Another service', { exact: true }).waitFor({ state: 'detached' });
});

test('it can be turned off', async () => {
  const off = await startService({ agents: [], console: false });
  const accept = { accept: 'text/html' };
  expect((await off.get('/console')).status).toBe(404);
  expect((await off.get('/console/runs')).status).toBe(404);
  expect((await off.get('/', accept)).body).toMatchObject({ version: expect.any(String) });
});

test('the navigation shows what the scopes of the token allow', async () => {
  const { page } = await bench.open('/traces');
  const gate = page.getByRole('dialog');
  await gate
    .getByLabel('Access token')
    .fill(await tokenOf({ sub: 'bob', scopes: ['agents:clerk:run', 'agents:read'] }));
  await gate.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('Insufficient permissions. Required scope(s): traces:read').waitFor();
  const shown = page.getByRole('navigation', { name: 'Pages of the console' }).getByRole('link');
  expect(await shown.allTextContents()).toEqual(['Chat', 'Runs']);
});
