import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agent, tool } from '../../runyard/src/index.js';
import { sharedChromium } from '../../runyard/test/support/clients/chromium.js';
import { ScriptBook } from '../../runyard/test/support/providers/script-book.js';
import { ServerBetween } from '../../runyard/test/support/server-between.js';
import { TestService } from '../../runyard/test/support/service.js';
import { gate } from '../../runyard/test/support/until.js';
import type { createClient as CreateClient } from '../src/index.js';
import { ScriptedService } from './support/scripted-service.js';

declare const createClient: typeof CreateClient;
declare const updates: { readonly count: number; readonly since: number };
/** What the functions that run in the page report to the test. */
declare const heard: (name: string) => Promise<void>;

const book = new ScriptBook();
const installMs = 300_000;
const chromium = sharedChromium();
let service: TestService;

const refund = tool({
  name: 'refund',
  description: 'Refunds',
  requiresConfirmation: true,
  execute: () => 'refunded',
});
const pay = tool({ name: 'pay', description: 'Pays', approval: 'required', execute: () => 'paid' });
const manyEvents = 10_000;
const emitting = tool({
  name: 'emit',
  description: 'Sends events',
  execute: async (_input, { emit }) => {
    for (let number = 0; number < manyEvents; number += 1) await emit({ number });
    return 'sent';
  },
});

async function bundled(file: string, options: { format: 'iife' | 'esm'; name?: string }): Promise<string> {
  const build = await rolldown({
    input: fileURLToPath(new URL(file, import.meta.url)),
    platform: 'browser',
    transform: { define: { 'process.env.NODE_ENV': '"development"' } },
    onLog: () => {},
  });
  const { output } = await build.generate(options);
  await build.close();
  return output[0].code;
}

beforeAll(async () => {
  const script = await bundled('../dist/index.js', { format: 'iife', name: 'client' });
  const react = await bundled('react-page.ts', { format: 'esm' });
  service = await TestService.start({
    agents: [
      agent({ id: 'clerk', model: book.model, tools: [refund, pay, emitting] }),
      agent({ id: 'reader', model: 'offline' }),
    ],
    routes: (server) => {
      server.get('/page', (_request, reply) =>
        reply.type('text/html').send('<script src="/page.js"></script>'),
      );
      server.get('/page.js', (_request, reply) =>
        reply.type('text/javascript').send(`${script}\nconst { createClient } = client;`),
      );
      server.get('/react', (_request, reply) =>
        reply.type('text/html').send('<div id="root"></div><script type="module" src="/react.js"></script>'),
      );
      server.get('/react.js', (_request, reply) => reply.type('text/javascript').send(react));
    },
  });
});

afterAll(() => service?.stop());

test('a page reads a stream whose connection is cut, and reports how far an upload is', async () => {
  const between = await ServerBetween.before(service.url);
  const page = await chromium.browser.newPage();
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

test('a page refuses redirects, and reads uploads to another origin that exposes no header', async () => {
  const shared = {
    'access-control-allow-origin': '*',
    'access-control-allow-headers': '*, authorization',
    'access-control-allow-methods': '*',
  };
  const elsewhere = await ScriptedService.start((_request, response) =>
    response.writeHead(200, { ...shared, 'content-type': 'application/json' }).end('[]'),
  );
  const other = await ScriptedService.start(({ method, path }, response) => {
    if (method === 'OPTIONS') return response.writeHead(204, shared).end();
    if (path === '/own') return response.writeHead(200, shared).flushHeaders() ?? response.end('received');
    return response.writeHead(307, { ...shared, location: `${elsewhere.url}${path}` }).end();
  });
  const page = await chromium.browser.newPage();
  await page.goto(new URL('/page', service.url).href);
  const results = await page.evaluate(async (baseUrl) => {
    const client = createClient({ baseUrl, token: 'secret' });
    const options = { onUploadProgress: () => {} };
    const said = (error: Error) => `${error.name}: ${error.message}`;
    const body = { file: new Blob(['x']) };
    return {
      fetched: await client.agents.list().catch(said),
      streamed: await client.agents.run('clerk', { message: 'Hello' }).catch(said),
      uploaded: await client.request('POST', '/x', { ...options, body }).catch(said),
      own: await client.request('POST', '/own', { ...options, body }).catch(said),
    };
  }, other.url);
  expect(results.fetched).toMatch(/^ApiError: .*redirected to another address/);
  expect(results.streamed).toMatch(/^ApiError: .*redirected to another address/);
  expect(results.uploaded).toContain(`redirected to ${elsewhere.url}/x`);
  expect(results.own).toBe('received');
  // only a browser that uploads with progress follows a redirect by itself; it keeps the token back
  const reached = elsewhere.received.filter(({ method }) => method !== 'OPTIONS');
  expect(reached.map(({ path }) => path)).toEqual(['/x']);
  expect(reached.map(({ headers }) => headers.authorization)).toEqual([undefined]);
});

test('hooks show a run, its pauses and approvals, and find it again after a reload', async () => {
  const between = await ServerBetween.before(service.url);
  const page = await chromium.browser.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  await page.goto(new URL('/react', between.url).href);
  const status = (name: string) => page.getByText(`status: ${name}`, { exact: true }).waitFor();
  const say = async (message: string) => {
    await page.getByLabel('Message').fill(message);
    await page.getByRole('button', { name: 'Send' }).click();
  };
  await status('idle');

  const more = gate();
  await say(book.write('With hooks', { chunks: ['one ', more.opened, 'two'] }));
  await page.getByText('text: one', { exact: true }).waitFor();
  // the page has the run in its address
  await page.reload();
  await page.getByText('text: one', { exact: true }).waitFor();
  between.breakAll();
  more.open();
  await page.getByText('text: one two', { exact: true }).waitFor();
  await status('completed');
  await page.getByText('runs of the session: 1').waitFor();

  await say(book.write('Refund', { toolCalls: [{ name: 'refund', arguments: {} }] }, 'Done.'));
  await status('paused');
  await page.getByRole('button', { name: 'Confirm refund' }).click();
  await status('completed');
  await page.getByText('text: Done.', { exact: true }).waitFor();

  await say(book.write('Pay', { toolCalls: [{ name: 'pay', arguments: {} }] }, 'Paid.'));
  await status('paused');
  await page.getByRole('button', { name: 'Approve pay' }).click();
  await page.getByText('approvals: 0').waitFor();
  await page.getByRole('button', { name: 'Continue' }).click();
  await status('completed');

  await say(book.write('Endless', { chunks: ['one', new Promise(() => {})] }));
  await page.getByText('text: one', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await status('cancelled');
  expect(faults).toEqual([]);
});

test(
  'ten thousand events are all shown, and the page is not rendered more often than the screen',
  async () => {
    const between = await ServerBetween.before(service.url);
    const page = await chromium.browser.newPage();
    await page.goto(new URL('/react', between.url).href);
    const message = book.write('Many', { toolCalls: [{ name: 'emit', arguments: {} }] }, 'Done.');
    await page.getByLabel('Message').fill(message);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText(/^events: \d{3,}$/).waitFor();
    between.breakAll();
    const completed = page.getByText('status: completed', { exact: true });
    await completed.waitFor({ timeout: installMs });
    const shown = () => page.getByText(/^events: \d+$/).textContent();
    const live = await page.evaluate(() => ({ ...updates, now: performance.now() }));
    const count = Number((await shown())?.slice('events: '.length));
    expect(count).toBeGreaterThan(manyEvents);
    // development mode runs the first effect twice
    expect(live.count).toBeLessThanOrEqual((live.now - live.since) / 16 + 2);

    // again from the service, as after a reload
    await page.reload();
    await completed.waitFor({ timeout: installMs });
    expect(await shown()).toBe(`events: ${count}`);
    const run = new URL(page.url()).hash.slice(1);
    await page.goto(new URL('/page', between.url).href);
    const indices = await page.evaluate(async (runId) => {
      const read: number[] = [];
      for await (const { event_index } of createClient({ baseUrl: '' }).agents.follow('clerk', runId))
        read.push(event_index);
      return read;
    }, run);
    expect(indices).toEqual(Array.from({ length: count }, (_one, at) => at));
  },
  installMs,
);
