import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Embedder, type Knowledge, knowledge } from '../../../src/index.js';
import { type Body, TestService } from '../../support/service.js';
import { gate } from '../../support/until.js';
import { startWebServer } from '../../tools/web-server.js';

const page = (text: string, ...links: string[]) =>
  `<html><body><main><h1>${text}</h1><p>${text} of the site.</p>${links.map((to) => `<a href="${to}">x</a>`).join('')}</main></body></html>`;

const pages: Readonly<Record<string, string>> = {
  '/': page('Start', '/apples', '/gone', '/bananas'),
  '/apples': page('Apples'),
  '/bananas': page('Bananas'),
  '/notes.txt': 'Notes about cherries',
};

function site() {
  return startWebServer((request, response) => {
    const { url = '' } = request;
    const body = pages[url];
    if (body === undefined) return response.writeHead(404).end();
    return response
      .writeHead(200, { 'content-type': url.endsWith('.txt') ? 'text/plain' : 'text/html' })
      .end(body);
  });
}

function dataFolder(): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'runyard-urls-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  return dataDir;
}

const vectors = (texts: readonly string[]) => texts.map((text) => Float32Array.from([text.length, 1, 2]));
const usage = { inputTokens: 1, outputTokens: 0, totalTokens: 1 };

async function found(base: Knowledge, query: string): Promise<(string | null)[]> {
  const chunks = await base.search(query, { type: 'keyword' });
  return chunks.map(({ metadata }) => new URL(String(metadata.url)).pathname).sort();
}

test('addresses are read as a file, a page, a site or a list, and deleted with all their pages', async () => {
  const server = await site();
  const base = knowledge({ name: 'Web' });
  const service = await TestService.start({ knowledge: [base], fetchAllowedHosts: [server.host] });
  onTestFinished(() => service.stop());
  const added = async (url: unknown) => {
    const { status, body } = await service.submit('/knowledge/content', { url: url as string });
    expect(status).toBe(202);
    await base.processed(body.id);
    return (await service.get(`/knowledge/content/${body.id}`)).body;
  };
  const list = async (): Promise<Body[]> =>
    (await service.get('/knowledge/content?sort_by=name&sort_order=asc')).body.data;

  const crawl = await added(`${server.url}/`);
  expect(crawl).toMatchObject({
    type: 'url',
    status: 'completed',
    status_message: `1 of 4 pages could not be read: ${server.url}/gone (The address answered with status 404.)`,
    metadata: { _agno: { source_type: 'url', source_url: `${server.url}/` } },
  });
  expect(await found(base, 'site')).toEqual(['/', '/apples', '/bananas']);
  await service.call('DELETE', `/knowledge/content/${crawl.id}`);
  expect(await found(base, 'site')).toEqual([]);

  const several = await added([`${server.url}/notes.txt`, `${server.url}/gone`, 'http://127.0.0.2:1/']);
  expect(several).toMatchObject({ status: 'completed', status_message: '1 of 3 files indexed, 2 failed' });
  const children = (await list()).filter(({ id }) => id !== several.id);
  expect(children.map(({ metadata }) => metadata._agno.parent_id)).toEqual(Array(3).fill(several.id));
  expect(children.map(({ status, status_message: message }) => [status, message])).toEqual([
    ['failed', `Error reading URL: ${server.url}/gone - The address answered with status 404.`],
    ['completed', ''],
    [
      'failed',
      expect.stringMatching(/^Error reading URL: http:\/\/127\.0\.0\.2:1\/ - .*not a public address/),
    ],
  ]);
  expect(await found(base, 'cherries')).toEqual(['/notes.txt']);
  await service.call('DELETE', `/knowledge/content/${several.id}`);
  expect([await list(), await found(base, 'cherries')]).toEqual([[], []]);
});

test('a site that a process leaves half read is continued: pages that are stored are not fetched again', async () => {
  const server = await site();
  const dataDir = dataFolder();
  const held = gate();
  const start = async (embed: Embedder['embed']) => {
    const base = knowledge({ name: 'Web', embedder: { id: 'e', provider: 'test', embed } });
    const options = { knowledge: [base], dataDir, fetchAllowedHosts: [server.host] };
    return { base, service: await TestService.start(options) };
  };
  const first = await start(async (texts, options) => {
    if (texts.some((text) => text.includes('Bananas'))) {
      held.open();
      await new Promise((_, reject) => options?.signal?.addEventListener('abort', reject));
    }
    return { vectors: vectors(texts), usage };
  });
  const { id } = await first.base.add({ from: { url: `${server.url}/` } });
  await held.opened;
  await first.service.stop();
  const before = server.requests.length;

  const second = await start(async (texts) => ({ vectors: vectors(texts), usage }));
  onTestFinished(() => second.service.stop());
  expect(await second.base.processed(id)).toMatchObject({
    status: 'completed',
    statusMessage: expect.stringMatching('^1 of 4 pages could not be read: .*/gone '),
  });
  const again = server.requests.slice(before).map(({ url }) => url);
  expect(again.filter((path) => path !== '/robots.txt')).toEqual(['/', '/bananas']);
  expect(await found(second.base, 'site')).toEqual(['/', '/apples', '/bananas']);
});
