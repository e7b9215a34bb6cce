import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { agent, tool } from '../../src/index.js';
import { agui, aiSdk } from '../../src/interfaces.js';
import { sharedChromium } from '../support/clients/chromium.js';
import { ScriptBook } from '../support/providers/script-book.js';
import { TestService } from '../support/service.js';
import { gate, until } from '../support/until.js';

/** The pages of the examples, with the real clients, in a real browser. */
const examples = new URL('../../../../examples/', import.meta.url);
const book = new ScriptBook();

const chromium = sharedChromium();
let service: TestService;

const colours = z.enum(['white', 'green', 'yellow', 'pink']);

const look = tool({
  name: 'look',
  description: 'Looks something up',
  inputSchema: z.object({ what: z.string() }),
  execute: ({ what }) => `${what} is blue`,
});

const refund = tool({
  name: 'refund',
  description: 'Refunds',
  inputSchema: z.object({ euros: z.number() }),
  sideEffects: true,
  requiresConfirmation: true,
  execute: ({ euros }) => `refunded ${euros}`,
});

/** The page of the AI SDK executes it. The page of AG-UI brings its own. */
const paintPage = tool({
  name: 'paint_page',
  description: 'Paints the page',
  inputSchema: z.object({ colour: colours }),
  externalExecution: true,
});

const addToList = tool({
  name: 'add_to_list',
  description: 'Adds to the list',
  inputSchema: z.object({ item: z.string() }),
  execute: ({ item }, { state }) => {
    state.set('list', [item]);
    return 'added';
  },
});

beforeAll(async () => {
  const [sdk, ui] = await Promise.all([pageOf('ai-sdk/', 'page.tsx'), pageOf('ag-ui/', 'page.ts')]);
  service = await TestService.start({
    agents: [
      agent({ id: 'shop', model: book.model, tools: [look, refund, paintPage] }),
      agent({ id: 'shopper', model: book.model, tools: [look, refund, addToList] }),
    ],
    interfaces: [aiSdk({ agent: 'shop' }), agui({ agent: 'shopper' })],
    routes: (server) => {
      for (const [name, { html, script }] of Object.entries({ 'ai-sdk': sdk, 'ag-ui': ui })) {
        const source = html.replace('/page.js', `/${name}.js`);
        server.get(`/${name}`, (_request, reply) => reply.type('text/html').send(source));
        server.get(`/${name}.js`, (_request, reply) => reply.type('text/javascript').send(script));
      }
    },
  });
});

afterAll(() => service?.stop());

async function pageOf(folder: string, entry: string): Promise<{ html: string; script: string }> {
  const place = new URL(folder, examples);
  const bundle = await rolldown({
    input: new URL(entry, place).pathname,
    platform: 'browser',
    onLog: () => {},
  });
  const { output } = await bundle.generate({ format: 'esm' });
  await bundle.close();
  return { html: await readFile(new URL('page.html', place), 'utf8'), script: output[0].code };
}

/** A page, with what it and the browser complain about. */
async function open(path: string): Promise<{ page: Page; faults: string[] }> {
  const page = await chromium.browser.newPage({ viewport: { width: 900, height: 700 } });
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  await page.goto(service.url + path);
  return { page, faults };
}

async function send(page: Page, message: string): Promise<void> {
  await page.getByLabel('Message').fill(message);
  await page.getByRole('button', { name: 'Send' }).click();
}

async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env.RUNYARD_TEST_SCREENSHOTS;
  if (folder) await page.screenshot({ path: `${folder}/${name}.png` });
}

/** The statuses of the runs of a session, and what they answered. */
async function runsOf(agentId: string, sessionId: string) {
  const { body } = await service.get(`/agents/${agentId}/runs?session_id=${sessionId}`);
  return body.map(({ status, content }: { status: string; content: unknown }) => [status, content]);
}

const idOf = (page: Page) => new URL(page.url()).hash.slice(1);

describe.each([
  { path: '/ai-sdk', name: 'useChat of the AI SDK', agentId: 'shop' },
  { path: '/ag-ui', name: 'the client of AG-UI', agentId: 'shopper' },
])('a page with $name', ({ path, agentId }) => {
  test('shows an answer while it is written, and calls of tools with their results', async () => {
    const { page, faults } = await open(path);
    const more = gate();
    const asked = book.write(
      `${path}: what is the sky like?`,
      { toolCalls: [{ name: 'look', arguments: { what: 'the sky' } }] },
      { text: 'It is blue, indeed.', chunks: ['It is ', more.opened, 'blue, indeed.'] },
    );
    await send(page, asked);
    await page.getByText('It is', { exact: true }).waitFor();
    await page.getByText('the sky is blue').waitFor();
    more.open();
    await page.getByText('It is blue, indeed.').waitFor();
    await page.getByRole('button', { name: 'Send' }).and(page.locator(':enabled')).waitFor();
    await shoot(page, `${agentId}-tool`);
    expect(await runsOf(agentId, idOf(page))).toEqual([['completed', 'It is blue, indeed.']]);
    expect(faults).toEqual([]);
  });

  test('asks for an approval, and continues the same run with it', async () => {
    const { page, faults } = await open(path);
    const asked = book.write(
      `${path}: refund`,
      { toolCalls: [{ name: 'refund', arguments: { euros: 20 } }] },
      'You have it back.',
    );
    await send(page, asked);
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    await shoot(page, `${agentId}-approval`);
    // what the page shows outlives it: the run waits in the store
    await page.reload();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('You have it back.').waitFor();
    await page.getByText('refunded 20').waitFor();
    await shoot(page, `${agentId}-approved`);
    expect(await runsOf(agentId, idOf(page))).toEqual([['completed', 'You have it back.']]);
    expect(faults).toEqual([]);
  });

  test('executes a tool of its own, and the run continues with the result', async () => {
    const { page, faults } = await open(path);
    const asked = book.write(
      `${path}: paint`,
      { toolCalls: [{ name: 'paint_page', arguments: { colour: 'green' } }] },
      'Painted.',
    );
    await send(page, asked);
    await page.getByText('Painted.').waitFor();
    expect(await page.evaluate('document.body.style.background')).toBe('green');
    const [, second] = book.requests(asked);
    expect(second?.messages.at(-1)).toMatchObject({ role: 'tool', content: 'It is green now.' });
    expect(await runsOf(agentId, idOf(page))).toEqual([['completed', 'Painted.']]);
    expect(faults).toEqual([]);
  });

  test('that is loaded again follows the answer from its beginning to its end', async () => {
    const { page, faults } = await open(path);
    const more = gate();
    const asked = book.write(`${path}: slowly`, {
      text: 'One two three.',
      chunks: ['One ', 'two ', more.opened, 'three.'],
    });
    await send(page, asked);
    await page.getByText('One two', { exact: true }).waitFor();
    await page.reload();
    await page.getByText('One two', { exact: true }).waitFor();
    await shoot(page, `${agentId}-resumed`);
    more.open();
    await page.getByText('One two three.', { exact: true }).waitFor();
    expect(await page.getByText('One two').count()).toBe(1);
    expect(await page.getByText(asked).count()).toBe(1);
    expect(await runsOf(agentId, idOf(page))).toEqual([['completed', 'One two three.']]);
    expect(book.requests(asked)).toHaveLength(1);
    expect(faults).toEqual([]);
  });

  test('says that a run failed', async () => {
    const { page } = await open(path);
    await send(page, book.write(`${path}: fail`, { text: 'I beg', error: 'The model is out of order.' }));
    await page.getByText(/out of order/).waitFor();
    await until('the run has failed', async () => {
      const [run] = await runsOf(agentId, idOf(page));
      return run?.[0] === 'error';
    });
    await shoot(page, `${agentId}-failed`);
  });
});

test('the page of AG-UI shows the state that a tool wrote before the run ends', async () => {
  const { page } = await open('/ag-ui');
  const more = gate();
  const asked = book.write(
    'Add tea',
    { toolCalls: [{ name: 'add_to_list', arguments: { item: 'tea' } }] },
    { text: 'Done.', waitFor: more.opened },
  );
  await send(page, asked);
  await page.locator('#list', { hasText: 'tea' }).waitFor();
  more.open();
  await page.getByText('Done.').waitFor();
});

test('the page of the AI SDK cancels a run', async () => {
  const { page } = await open('/ai-sdk');
  const asked = book.write('Never end', { text: 'Never.', chunks: ['Ne', new Promise(() => {}), 'ver.'] });
  await send(page, asked);
  await page.getByText('Ne', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('button', { name: 'Send' }).waitFor();
  expect(await runsOf('shop', idOf(page))).toMatchObject([['cancelled', expect.anything()]]);
});
