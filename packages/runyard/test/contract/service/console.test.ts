import { get } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agent } from '../../../src/index.js';
import { call } from '../../support/clients/call.js';
import { TestService } from '../../support/service.js';

const agents = () => [agent({ id: 'a', name: 'A', model: 'offline' })];
const page = { accept: 'text/html' };

let service: TestService;
let behindProxy: TestService;

beforeAll(async () => {
  service = await TestService.start({ agents: agents(), trustedProxies: [] });
  behindProxy = await TestService.start({ agents: agents(), trustedProxies: ['127.0.0.1', '::1'] });
});

afterAll(async () => {
  await service.stop();
  await behindProxy.stop();
});

const baseIn = (text: string) => /<base href="([^"]*)">/.exec(text)?.[1];
const script = (text: string) => /src="\.\/(assets\/[^"]+\.js)"/.exec(text)?.[1] ?? 'no script';

describe('where the console is', () => {
  test('each of its addresses returns the page, with the same base', async () => {
    for (const path of ['', '/', '/runs', '/chat/agent/a', '/traces/x.y/z', '/a%2Fb', '/chat/agent/ä'])
      expect([path, baseIn((await service.get(`/console${path}`)).text)]).toEqual([path, '/console/']);
  });

  test('below a path of another server', async () => {
    const handler = await service.app.fetchHandler({ basePath: '/deep/yard' });
    const ask = async (path: string) =>
      handler(new Request(`https://host.example${path}`, { headers: page }));
    expect(baseIn(await (await ask('/deep/yard/console/runs')).text())).toBe('/deep/yard/console/');
    expect((await ask('/deep/yard/')).headers.get('location')).toBe('/deep/yard/console');
  });

  test('below a path that a proxy names', async () => {
    const headers = { ...page, 'x-forwarded-prefix': '/ai/' };
    expect(baseIn((await behindProxy.get('/console/runs', headers)).text)).toBe('/ai/console/');
    const { headers: home } = await call(`${behindProxy.url}/`, { headers, redirect: 'manual' });
    expect(home.get('location')).toBe('/ai/console');
  });

  test.each([
    '"><script>alert(1)</script>',
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    'javascript:alert(1)',
    '/a"onload="x',
    '/a b',
    '/%22%3E',
    '/a//b',
    '/../..',
    '/a/../../b',
    `/${'a'.repeat(3_000)}?x#y`,
  ])('never where a proxy passes on a hostile prefix: %s', async (prefix) => {
    const headers = { ...page, 'x-forwarded-prefix': prefix };
    const { text } = await behindProxy.get('/console', headers);
    expect(baseIn(text)).toMatch(/^(?:\/b)?\/console\/$/);
    const home = await call(`${behindProxy.url}/`, { headers, redirect: 'manual' });
    expect(home.headers.get('location')).toMatch(/^(?:\/b)?\/console$/);
  });

  test('what a client says of itself as a proxy does not count', async () => {
    const { text } = await service.get('/console', { 'x-forwarded-prefix': '/elsewhere' });
    expect(baseIn(text)).toBe('/console/');
  });

  test('pages at many prefixes do not add up', async () => {
    for (let at = 0; at < 50; at += 1) {
      const { text } = await behindProxy.get('/console', { 'x-forwarded-prefix': `/p${at}` });
      expect(baseIn(text)).toBe(`/p${at}/console/`);
    }
  });
});

describe('its files', () => {
  test('are compressed for those who take it', async () => {
    const { text } = await service.get('/console');
    const url = `${service.url}/console/${script(text)}`;
    const plain = await call(url, { headers: { 'accept-encoding': 'identity' } });
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(plain.headers.get('vary')).toContain('accept-encoding');
    const refused = await call(url, { headers: { 'accept-encoding': 'gzip;q=0, br' } });
    expect(refused.headers.get('content-encoding')).toBeNull();
    const packed = await rawGet(url, { 'accept-encoding': 'br, gzip' });
    expect(packed.encoding).toBe('gzip');
    expect(gunzipSync(packed.bytes).toString()).toBe(plain.text);
  });

  test('may be kept for ever if their names change with them, and the page never', async () => {
    const { text, headers } = await service.get('/console');
    expect(headers.get('cache-control')).toBe('no-cache');
    const asset = await call(`${service.url}/console/${script(text)}`);
    expect(asset.headers.get('cache-control')).toContain('immutable');
    expect(asset.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(asset.headers.get('x-content-type-options')).toBe('nosniff');
    expect((await call(`${service.url}/console/theme.js`)).headers.get('cache-control')).toBe('no-cache');
  });

  test('are not sent again to those who have them', async () => {
    const etag = (await service.get('/console')).headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]{22}"$/);
    const status = async (tags: string) =>
      (await call(`${service.url}/console`, { headers: { 'if-none-match': tags } })).status;
    for (const tags of [etag, `W/${etag}`, `"other", ${etag}`, '*'])
      expect([tags, await status(tags)]).toEqual([tags, 304]);
    for (const tags of ['"other"', etag.slice(1, -1), ''])
      expect([tags, await status(tags)]).toEqual([tags, 200]);
    // another prefix is another page
    const other = await behindProxy.get('/console', { 'x-forwarded-prefix': '/ai', 'if-none-match': etag });
    expect(other.status).toBe(200);
  });

  test.each([
    'assets/none.js',
    'assets/..%2f..%2findex.js',
    'assets/%2e%2e/index.html',
    'assets/',
    'assets',
    'index.html',
    'none.css',
    '.modules.json',
    'assets/..%5cindex.html',
    'assets/a%00.js',
  ])('nothing else is sent: %s', async (path) => {
    const { status } = await call(`${service.url}/console/${path}`);
    expect([400, 404]).toContain(status);
  });
});

/** As it comes over the network: fetch() would decompress it. */
async function rawGet(url: string, headers: Record<string, string>) {
  return new Promise<{ bytes: Buffer; encoding: string | undefined }>((resolve, reject) => {
    get(url, { headers }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      resolve({ bytes: Buffer.concat(chunks), encoding: response.headers['content-encoding'] });
    }).on('error', reject);
  });
}
