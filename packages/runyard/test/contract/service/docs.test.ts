import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agent, type RunyardOptions, step, team, workflow } from '../../../src/index.js';
import { launchChromium } from '../../support/clients/chromium.js';
import { type Body, startService, TestService } from '../../support/service.js';

const installMs = 300_000;
let service: TestService;
let browser: Browser;
/** One page for all tests: loading it takes long. */
let opened: Awaited<ReturnType<typeof open>>;

beforeAll(async () => {
  const assistant = agent({ id: 'assistant', model: 'offline' });
  service = await TestService.start({
    name: 'Yard',
    agents: [assistant],
    teams: [team({ id: 'crew', model: 'offline', members: [assistant] })],
    workflows: [workflow({ id: 'flow', steps: [step({ name: 'answer', agent: assistant })] })],
  });
  browser = await launchChromium();
  opened = await open(`${service.url}/docs`);
}, installMs);
afterAll(async () => {
  await browser?.close();
  await service.stop();
});

test('the API browser works without a network and can call the service', async () => {
  const { page, elsewhere, faults } = opened;
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
});

describe('a click on Execute works at the first try', () => {
  let page: Page;
  beforeAll(() => {
    page = opened.page;
  });
  const ran = { status: 200, body: { status: 'completed', content: expect.stringContaining('17 * 25') } };

  test('for runs of agents, in each content type, and for what can be done with them', async () => {
    const create = await operation(page, 'POST', '/agents/{agent_id}/runs');
    const sent: Body[] = [];
    for (const type of ['multipart/form-data', 'application/x-www-form-urlencoded', 'application/json']) {
      await chooseType(create, type);
      sent.push(await execute(page, create));
    }
    expect(sent).toMatchObject([ran, ran, ran]);
    for (const [method, path] of [
      ['GET', 'runs'],
      ['POST', 'runs/{run_id}/continue'],
    ] as const) {
      const block = await operation(page, method, `/agents/{agent_id}/${path}`);
      const run = block.locator('tr[data-param-name="run_id"] input');
      if ((await run.count()) > 0) await run.fill(sent[0].body.run_id);
      expect(await execute(page, block), path).toMatchObject({ status: 200 });
    }
  });

  test.each(['teams/{team_id}', 'workflows/{workflow_id}'])('for runs of %s', async (kind) => {
    expect(await execute(page, await operation(page, 'POST', `/${kind}/runs`))).toMatchObject(ran);
  });

  test('with a file that is chosen there', async () => {
    const create = await operation(page, 'POST', '/agents/{agent_id}/runs');
    await chooseType(create, 'multipart/form-data');
    const notes = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Ada was here.') };
    await create.locator('tr[data-property-name="files"] input[type=file]').setInputFiles(notes);
    const { status, body } = await execute(page, create);
    expect({ status, body }).toMatchObject({ status: 200, body: { status: 'completed' } });
    const { body: run } = await service.get(`/agents/assistant/runs/${body.run_id}`);
    expect(JSON.stringify(run)).toContain('notes.txt');
  });

  test('for a list', async () => {
    expect(await execute(page, await operation(page, 'GET', '/sessions'))).toMatchObject({ status: 200 });
  });
});

test('the open description of a closed service names no ids', async () => {
  const named = async (settings: RunyardOptions) => {
    const started = await startService({ agents: [agent({ id: 'hidden', model: 'offline' })], ...settings });
    return (await started.get('/openapi.json')).text.includes('hidden');
  };
  expect(await named({})).toBe(true);
  expect(await named({ securityKey: 'x'.repeat(32) })).toBe(false);
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

/** The block of an operation, the only one that is open among those of its tag: each other one makes every click slower. */
async function operation(page: Page, method: string, path: string): Promise<Locator> {
  const [tag] = service.api.description.paths[path]![method.toLowerCase()]!.tags as string[];
  await page.locator('.operation-filter-input').fill(tag!);
  const block = page.locator(`.opblock-${method.toLowerCase()}`, {
    has: page.locator(`.opblock-summary-path[data-path="${path}"]`),
  });
  const open = page.locator('.opblock.is-open .opblock-summary-path');
  while ((await open.count()) > 0) await open.first().click();
  await block.locator('.opblock-summary-path').click();
  await block.getByRole('button', { name: 'Execute' }).waitFor();
  return block;
}

async function chooseType(block: Locator, type: string): Promise<void> {
  await block.locator('.opblock-section-request-body select.content-type').selectOption(type);
}

async function execute(page: Page, block: Locator): Promise<Body> {
  const answered = page.waitForResponse((response) => !response.url().includes('/docs'));
  await block.getByRole('button', { name: 'Execute' }).click();
  const response = await answered;
  const text = await response.text();
  return { status: response.status(), body: text.startsWith('{') ? JSON.parse(text) : text };
}

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
