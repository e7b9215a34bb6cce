import { expect, it } from 'vitest';
import { webFetch } from '../../src/platform/tools/web-fetch.js';
import { callTool } from './tool-call.js';
import { startWebServer } from './web-server.js';

const pages: Record<string, [type: string, body: string | Buffer]> = {
  '/page': [
    'text/html; charset=utf-8',
    '<title>Cats</title><h1>Cats</h1><p>They <a href="/dogs">hate dogs</a>.',
  ],
  '/latin': ['text/html', Buffer.from('<meta charset="iso-8859-1"><p>Käse', 'latin1')],
  '/data': ['application/json', '{"a":1}'],
  '/image': ['image/png', 'binary'],
  '/long': ['text/plain', `${'a'.repeat(30)}${'b'.repeat(30)}`],
};

async function fetchPage(path: string, args = {}, options = {}) {
  const server = await startWebServer((request, response) => {
    const [type, body] = pages[request.url!] ?? ['', ''];
    response.writeHead(type ? 200 : 404, { 'content-type': type || 'text/plain' }).end(body);
  });
  const used = webFetch({ allowedHosts: [server.host], ...options });
  const outcome = await callTool(used, { url: server.url + path, ...args });
  return { ...outcome, content: outcome.content.replaceAll(server.url, 'http://site') };
}

it('reads a page as text', async () => {
  expect(await fetchPage('/page')).toMatchObject({
    error: false,
    content: 'URL: http://site/page\nTitle: Cats\n\n# Cats\n\nThey [hate dogs](http://site/dogs).',
  });
});

it('reads other encodings and other texts', async () => {
  expect((await fetchPage('/latin')).content).toContain('Käse');
  expect((await fetchPage('/data')).content).toContain('\n\n{"a":1}');
});

it('reads a long text in parts', async () => {
  const options = { maximumCharacters: 30 };
  expect((await fetchPage('/long', {}, options)).content).toContain(
    `${'a'.repeat(30)}\n\n[30 more characters. Go on with offset 30.]`,
  );
  expect((await fetchPage('/long', { offset: 30 }, options)).content).toMatch(/\n\nb{30}$/);
  expect((await fetchPage('/long', { offset: 60 }, options)).content).toContain('nothing at offset 60');
});

it('reports to the model what it could not read', async () => {
  expect(await fetchPage('/image')).toMatchObject({
    error: true,
    content: expect.stringContaining('image/png with 6 bytes'),
  });
  expect((await fetchPage('/missing')).content).toContain('answered with status 404');
  expect((await fetchPage('/page', {}, { onlyHosts: ['example.com'] })).content).toContain(
    '127.0.0.1 is not among the hosts',
  );
  expect((await fetchPage('/page', {}, { allowedHosts: [] })).content).toContain('is not a public address');
});
