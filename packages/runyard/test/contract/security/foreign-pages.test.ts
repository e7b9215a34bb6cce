import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { agent } from '../../../src/index.js';
import { launchChromium } from '../../support/clients/chromium.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { TestService } from '../../support/service.js';
import { until } from '../../support/until.js';

const installMs = 300_000;
/** A name that an attacker makes lead to the visitor's own machine. */
const rebound = 'evil.example';

let service: TestService;
let browser: Browser;
let stranger: Site;
let friend: Site;

beforeAll(async () => {
  [stranger, friend] = [await Site.open(), await Site.open()];
  const model = new ScriptBook().model;
  service = await TestService.start({
    agents: [agent({ id: 'a', model })],
    corsOrigins: [friend.origin],
    websocket: true,
    routes: (app) => {
      app.post('/mine', async () => {
        mine++;
        return { ok: true };
      });
    },
  });
  browser = await launchChromium(`--host-resolver-rules=MAP ${rebound} 127.0.0.1`);
}, installMs);

afterAll(async () => {
  await browser?.close();
  await service?.stop();
  for (const site of [stranger, friend]) site?.server.close();
});

let mine = 0;
beforeEach(() => {
  mine = 0;
});

test.each(['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'])(
  'a page of another origin starts no run with a form of the type %s',
  async (enctype) => {
    const page = await pageOf(stranger.origin);
    await page.setContent(
      `<form method="POST" action="${service.url}/agents/a/runs" enctype="${enctype}">
        <input name="message" value="hi"><input name="stream" value="false">
      </form>`,
    );
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.url().startsWith(service.url)),
      page.evaluate('document.forms[0].submit()'),
    ]);
    expect(answer.status()).toBe(403);
    await expectNothingDone();
  },
);

test('a page of another origin reaches no route with fetch, a beacon or a WebSocket', async () => {
  const page = await pageOf(stranger.origin);
  const statuses = statusesFromNow();
  const opened = await page.evaluate(`(async (url) => {
    const form = () => new URLSearchParams({ message: 'hi', stream: 'false' });
    await fetch(url + '/agents/a/runs', { method: 'POST', mode: 'no-cors', body: form() });
    await fetch(url + '/sessions', { method: 'POST', mode: 'no-cors', body: '{}' });
    await fetch(url + '/mine', { method: 'POST', mode: 'no-cors', body: 'x' });
    await fetch(url + '/agents/a/runs', { method: 'POST', body: form() }).catch(() => {});
    navigator.sendBeacon(url + '/agents/a/runs', form());
    return new Promise((resolve) => {
      const socket = new WebSocket(url.replace('http', 'ws') + '/agents/ws');
      socket.onopen = () => resolve(true);
      socket.onerror = () => resolve(false);
    });
  })('${service.url}')`);
  expect(opened).toBe(false);
  await until('all are answered', () => statuses().length >= 5);
  expect(new Set(statuses())).toEqual(new Set([403]));
  await expectNothingDone();
});

test('a page in a sandbox, which has no origin of its own, starts no run', async () => {
  const page = await pageOf(stranger.origin);
  const statuses = statusesFromNow();
  await page.setContent(
    `<iframe sandbox="allow-scripts" srcdoc="<script>
      fetch('${service.url}/agents/a/runs', { method: 'POST', mode: 'no-cors', body: new URLSearchParams({ message: 'hi' }) });
    </script>"></iframe>`,
  );
  await until('it is answered', () => statuses().length === 1);
  expect(statuses()).toEqual([403]);
  await expectNothingDone();
});

test('a name that was made to lead here opens no page of the service', async () => {
  const page = await browser.newPage();
  const answer = await page.goto(`http://${rebound}:${new URL(service.url).port}/docs`);
  expect([answer?.status(), await answer?.json()]).toMatchObject([403, { error_code: 'host_not_allowed' }]);
  const started = await page.evaluate(async () => {
    const body = new URLSearchParams({ message: 'hi', stream: 'false' });
    return (await fetch('/agents/a/runs', { method: 'POST', body })).status;
  });
  expect(started).toBe(403);
  await expectNothingDone();
});

test('a page of an allowed origin starts a run and reads the answer, and so does a page of the service', async () => {
  for (const url of [friend.origin, `${service.url}/docs`]) {
    const page = await pageOf(url);
    const answer = await page.evaluate(async (target) => {
      const body = new FormData();
      body.append('message', 'hi');
      body.append('stream', 'false');
      const response = await fetch(`${target}/agents/a/runs`, { method: 'POST', body });
      return [response.status, ((await response.json()) as { status: string }).status];
    }, service.url);
    expect(answer).toEqual([200, 'completed']);
  }
});

async function expectNothingDone(): Promise<void> {
  expect((await service.get('/agents/a/runs')).body).toEqual([]);
  expect((await service.get('/sessions')).body.data).toEqual([]);
  expect(mine).toBe(0);
}

async function pageOf(url: string): Promise<Page> {
  const page = await browser.newPage();
  await page.goto(url);
  return page;
}

/** What the service answers to POST requests from now on; the browser does not show a page all of it. */
function statusesFromNow(): () => unknown[] {
  const before = service.logged.length;
  return () =>
    service.logged
      .slice(before)
      .filter(({ fields, message }) => message === 'request' && fields.method === 'POST')
      .map(({ fields }) => fields.status);
}

/** A site with an empty page. */
class Site {
  private constructor(
    readonly server: Server,
    readonly origin: string,
  ) {}

  static async open(): Promise<Site> {
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>A page</title>');
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    return new Site(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  }
}
