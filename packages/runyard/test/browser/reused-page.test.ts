// functions that run in the page use its types
/// <reference lib="dom" />
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { sharedChromium } from '../support/clients/chromium.js';
import { ReusedPage, type View } from '../support/clients/reused-page.js';

const chromium = sharedChromium();
const view: View = { viewport: { width: 800, height: 600 }, reducedMotion: 'reduce' };

async function served(): Promise<string> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<title>served</title>');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a page forgets what a test stored and changed before the next one has it', async () => {
  const reused = new ReusedPage(chromium.browser);
  const url = await served();
  const seen = { requests: 0 };

  const first = (await reused.take(url, { ...view, colorScheme: 'dark' }, { token: 'of ada' }))!;
  expect(await reused.take(url, view)).toBeUndefined();
  await first.goto(`${url}/one`);
  expect(await first.evaluate(() => sessionStorage.getItem('token'))).toBe('of ada');
  first.on('request', () => {
    seen.requests += 1;
  });
  await first.evaluate(() => {
    const store = (name: string) => {
      localStorage.setItem(name, 'x');
      sessionStorage.setItem(name, 'x');
    };
    // biome-ignore lint/suspicious/noDocumentCookie: pages set cookies this way
    document.cookie = 'now=x; path=/';
    store('now');
    addEventListener('pagehide', () => store('at the end'));
  });
  const tab = await first.context().newPage();
  await first.route('**/*', (route) => route.fulfill({ body: 'of the page' }));
  await first.context().route('**/*', (route) => route.fulfill({ body: 'of the context' }));
  await first.context().setOffline(true);
  await reused.giveBack(false);
  expect(tab.isClosed()).toBe(true);

  const second = (await reused.take(url, view))!;
  expect(second).toBe(first);
  await second.goto(`${url}/two`);
  expect(await second.title()).toBe('served');
  expect(seen.requests).toBe(0);
  const found = await second.evaluate(() => ({
    stored: [{ ...localStorage }, { ...sessionStorage }, document.cookie],
    // the empty page and this one
    visited: history.length,
    isDark: matchMedia('(prefers-color-scheme: dark)').matches,
  }));
  expect(found).toEqual({ stored: [{}, {}, ''], visited: 2, isDark: false });
});

test('the page of a test that failed, or closed it, is not used again', async () => {
  const reused = new ReusedPage(chromium.browser);
  const url = await served();
  const first = (await reused.take(url, view))!;
  await reused.giveBack(true);
  const second = (await reused.take(url, view))!;
  expect(first.isClosed()).toBe(true);
  await second.context().close();
  await reused.giveBack(false);
  expect((await reused.take(url, view))!.isClosed()).toBe(false);
});
