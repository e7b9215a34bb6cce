import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { startWebServer, type WebServer } from '../../../../test/tools/web-server.js';
import { type FoundPage, type OpenUrlOptions, openUrl } from './open-url.js';

type Pages = Readonly<Record<string, string | { readonly type?: string; readonly body: string | Buffer }>>;

/** A site; what is not among its pages does not exist. */
function site(pages: Pages | ((url: string) => Pages)): Promise<WebServer> {
  return startWebServer((request, response) => {
    const found = (typeof pages === 'function' ? pages(`http://${request.headers.host}`) : pages)[
      request.url!
    ];
    if (found === undefined) return response.writeHead(404).end();
    const { type = 'text/html', body } = typeof found === 'string' ? { body: found } : found;
    if (type.startsWith('to ')) return response.writeHead(302, { location: type.slice(3) }).end();
    return response
      .writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(body) })
      .end(body);
  });
}

async function read(server: WebServer, path: string, options: Partial<OpenUrlOptions> = {}) {
  const all: FoundPage[] = [];
  const settings = {
    signal: AbortSignal.timeout(20_000),
    pauseMs: 0,
    retryMs: 1,
    allowedHosts: [server.host],
  };
  for await (const page of openUrl(path.startsWith('/') ? server.url + path : path, {
    ...settings,
    ...options,
  }))
    all.push(page);
  return all;
}

const paths = (server: WebServer, pages: readonly FoundPage[]) =>
  pages.map(
    ({ url, failure }) => url.replace(server.url, '') + (failure === undefined ? '' : `: ${failure}`),
  );

async function textOf(page: FoundPage | undefined): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of page!.content!.open()) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const links = (...addresses: readonly string[]) => addresses.map((one) => `<a href="${one}">x</a>`).join('');

it('follows the links of a site, each page once, within its depth and its domain', async () => {
  const server = await site({
    '/': links(
      '/a#top',
      '/a?utm_source=x',
      '/b',
      'http://other.example/',
      'mailto:x@y',
      '/picture.png',
      '/gone',
    ),
    '/a': `<link rel="canonical" href="/a"><base href="/deep/">${links('one', '/')}<!-- <a href="/no"> -->`,
    '/b': { type: 'to /a', body: '' },
    '/deep/one': `<script>'<a href="/no">'</script><a href='/deep/two' >`,
    '/deep/two': 'too deep',
    '/data': { type: 'application/zip', body: 'PK' },
  });
  const pages = await read(server, '/#start');
  expect(paths(server, pages)).toEqual([
    '/',
    '/a',
    '/gone: The address answered with status 404.',
    '/deep/one',
  ]);
  expect(server.requests.map(({ url }) => url)).not.toContain('/no');
  expect(await textOf(pages[3])).toContain('/deep/two');
  expect(pages[1]!.content).toMatchObject({ name: 'a', mediaType: 'text/html', url: `${server.url}/a` });
});

it('reads no more pages than it may, and continues after those of an earlier attempt', async () => {
  const all = Array.from({ length: 30 }, (_, index) => `/p${index}`);
  const server = await site(Object.fromEntries(['/', ...all].map((path) => [path, links(...all)] as const)));
  const first = await read(server, '/');
  expect(first).toHaveLength(10);
  const visited = first.slice(0, 4).map(({ url, links }) => ({ url, links }));
  server.requests.length = 0;
  const rest = await read(server, '/', { visited });
  expect(paths(server, rest)).toEqual(paths(server, first.slice(4)));
  expect(server.requests.map(({ url }) => url)).not.toContain('/p1');
  expect(await read(server, '/', { maxPages: 1 })).toHaveLength(1);
});

it('does not follow links that robots.txt or the page forbids', async () => {
  const server = await site({
    '/robots.txt': {
      type: 'text/plain',
      body: 'User-agent: other\nDisallow: /\n\nUser-agent: *\nDisallow: /private\nDisallow: /*.php$\nAllow: /private/open\n',
    },
    '/': `${links('/private/a', '/private/open', '/x.php', '/x.php?y')}<a rel="nofollow" href="/n">`,
    '/private/open': `<meta name="robots" content="nofollow">${links('/n')}`,
    '/x.php?y': 'y',
    '/n': 'n',
  });
  expect(paths(server, await read(server, '/'))).toEqual(['/', '/private/open', '/x.php?y']);
});

it('streams a file, under the type and the encoding that the server names', async () => {
  const server = await site({
    '/report.pdf': { type: 'application/pdf', body: '%PDF-1.7' },
    '/latin': { type: 'text/plain; charset=iso-8859-1', body: Buffer.from('Grüße', 'latin1') },
    '/page': { type: 'text/html; charset=iso-8859-1', body: Buffer.from('<p>Grüße', 'latin1') },
  });
  const [file] = await read(server, '/report.pdf');
  expect(file!.content).toMatchObject({ name: 'report.pdf', mediaType: 'application/pdf', size: 8 });
  // its first stream is closed: it asks again, as for every further one
  expect(await textOf(file)).toBe('%PDF-1.7');
  expect(await textOf((await read(server, '/page'))[0])).toBe('<p>Grüße');
  for await (const page of openUrl(`${server.url}/latin`, {
    signal: AbortSignal.timeout(20_000),
    allowedHosts: [server.host],
  })) {
    expect(await textOf(page)).toBe('Grüße');
    expect(await textOf(page)).toBe('Grüße');
  }
});

it('reads the pages of a sitemap, of an index of sitemaps, and of a packed one, and says what it leaves out', async () => {
  const urlset = (...urls: readonly string[]) =>
    `<?xml version="1.0"?><urlset>${urls.map((url) => `<url><loc>${url}</loc></url>`).join('')}</urlset>`;
  const server = await site((url) => ({
    '/sitemap.xml': {
      type: 'application/xml',
      body: `<sitemapindex xmlns="x"><sitemap><loc>${url}/one.xml</loc></sitemap><sitemap><loc>${url}/sitemap2.xml.gz</loc></sitemap><sitemap><loc>${url}/bomb.xml</loc></sitemap></sitemapindex>`,
    },
    '/one.xml': { type: 'text/xml', body: urlset(`${url}/a?x=1&amp;y=2`, 'http://victim.example/') },
    '/sitemap2.xml.gz': { type: 'application/gzip', body: gzipSync(urlset(`${url}/b`, `${url}/gone`)) },
    '/bomb.xml': {
      type: 'text/xml',
      body: `<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>${urlset('&b;')}`,
    },
    '/a?x=1&y=2': 'a',
    '/b': links('/not-followed'),
  }));
  expect(paths(server, await read(server, '/sitemap.xml'))).toEqual([
    '/bomb.xml: The sitemap cannot be read: The XML declares a document type.',
    '/sitemap.xml: 1 of its pages belong to other sites and are not read.',
    '/a?x=1&y=2',
    '/b',
    '/gone: The address answered with status 404.',
  ]);
  expect(paths(server, await read(server, '/sitemap2.xml.gz', { maxPages: 1 }))).toEqual([
    '/sitemap2.xml.gz: It names 2 pages; the first 1 are read (maxPages).',
    '/b',
  ]);
});

it('reads an llms.txt with the pages that it names', async () => {
  const server = await site({
    '/llms.txt': { type: 'text/plain', body: '# Docs\n- [Start](/start.md): begin\n- [Start](/start.md)\n' },
    '/start.md': { type: 'text/markdown', body: '# Start' },
  });
  const pages = await read(server, '/llms.txt');
  expect(paths(server, pages)).toEqual(['/llms.txt', '/start.md']);
});

it('reports what it cannot read: addresses inside the network, videos, pages that never end', async () => {
  const server = await startWebServer((request, response) => {
    if (request.url === '/inside') response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    else if (request.url === '/slow') response.writeHead(200, { 'content-type': 'text/html' }).write('<p>');
    else if (request.url === '/cut')
      response.writeHead(200, { 'content-type': 'text/html', 'content-length': '9' }).end('<p>');
    else response.writeHead(200, { 'content-type': 'text/html' }).end('x'.repeat(500));
    if (request.url === '/cut') response.destroy();
  });
  const failureOf = async (path: string, options: Partial<OpenUrlOptions> = {}) =>
    (await read(server, path, options)).map(({ failure }) => failure?.replaceAll(server.url, ''));
  expect(await failureOf('http://127.0.0.1:1/')).toEqual([
    expect.stringContaining('127.0.0.1 is not a public address'),
  ]);
  expect(await failureOf('/inside')).toEqual([expect.stringContaining('169.254.169.254 is not a public')]);
  expect(await failureOf('/slow', { idleMs: 50 })).toEqual(['/slow did not answer within 50 ms.']);
  expect(await failureOf('/cut')).toEqual(['The address could not be reached.']);
  expect(await failureOf('/large', { maxBytes: 100 })).toEqual(['The answer is larger than 100 bytes.']);
  expect(await failureOf('https://www.youtube.com/watch?v=1')).toEqual([
    expect.stringContaining('transcript'),
  ]);
  expect(await failureOf('file:///etc/passwd')).toEqual([expect.stringContaining('is not a web address')]);
});
