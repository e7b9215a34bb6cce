import { fileURLToPath } from 'node:url';
import { type Browser, chromium } from 'playwright-core';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agent } from '../../runyard/src/index.js';
import { findChromium } from '../../runyard/test/support/clients/chromium.js';
import { ScriptBook } from '../../runyard/test/support/providers/script-book.js';
import { ServerBetween } from '../../runyard/test/support/server-between.js';
import { TestService } from '../../runyard/test/support/service.js';
import { gate } from '../../runyard/test/support/until.js';
import type { createClient as CreateClient } from '../src/index.js';

declare const createClient: typeof CreateClient;
/** What the functions that run in the page report to the test. */
declare const heard: (name: string) => Promise<void>;

const book = new ScriptBook();
const installMs = 300_000;
let service: TestService;
let browser: Browser;

beforeAll(async () => {
  const build = await rolldown({
    input: fileURLToPath(new URL('../dist/index.js', import.meta.url)),
    platform: 'browser',
  });
  const { output } = await build.generate({ format: 'iife', name: 'client' });
  await build.close();
  const script = `${output[0].code}\nconst { createClient } = client;`;
  service = await TestService.start({
    agents: [agent({ id: 'clerk', model: book.model }), agent({ id: 'reader', model: 'offline' })],
    routes: (server) => {
      server.get('/page', (_request, reply) =>
        reply.type('text/html').send('<script src="/page.js"></script>'),
      );
      server.get('/page.js', (_request, reply) => reply.type('text/javascript').send(script));
    },
  });
  // as root, Chromium needs a flag because its sandbox is not available
  browser = await chromium.launch({ executablePath: findChromium(), args: ['--no-sandbox'] });
}, installMs);

afterAll(async () => {
  await browser?.close();
  await service?.stop();
});

test('a page reads a stream whose connection is cut, and reports how far an upload is', async () => {
  const between = await ServerBetween.before(service.url);
  const page = await browser.newPage();
  const more = gate();
  const message = book.write('In the page', { chunks: ['one ', more.opened, 'two'] });
  let cut = false;
  await page.exposeFunction('heard', (name: string) => {
    if (name === 'reconnect') more.open();
    if (name !== 'RunContent' || cut) return;
    cut = true;
    between.breakAll();
  });
  await page.goto(new URL('/page', between.url).href);
  const streamed = await page.evaluate(async (text) => {
    const stream = createClient({ baseUrl: '' }).agents.stream(
      'clerk',
      { message: text },
      { onReconnect: () => heard('reconnect') },
    );
    const indices: number[] = [];
    for await (const { event, event_index } of stream) {
      indices.push(event_index);
      await heard(event);
    }
    return { indices, content: (await stream.result()).content };
  }, message);
  expect(streamed.content).toBe('one two');
  expect(streamed.indices).toEqual(streamed.indices.map((_index, at) => at));
  expect(cut).toBe(true);

  const sent = await page.evaluate(async () => {
    const reports: { loaded: number; total: number }[] = [];
    const files = [new File(['.'.repeat(500_000)], 'large.txt', { type: 'text/plain' })];
    const run = await createClient({ baseUrl: '' }).agents.run(
      'reader',
      { message: 'What is in it?', files },
      { onUploadProgress: (report) => reports.push(report) },
    );
    const missing = await createClient({ baseUrl: '' })
      .sessions.get('unknown')
      .catch((error) => error.errorCode);
    return { status: run.status, last: reports.at(-1), missing };
  });
  expect(sent).toMatchObject({ status: 'completed', missing: 'session_not_found' });
  expect(sent.last!.loaded).toBe(sent.last!.total);
  expect(sent.last!.total).toBeGreaterThan(500_000);
});
