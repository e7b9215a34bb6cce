import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { fetchContent } from './fetch-content.js';
import { FetchRefused } from './guarded-fetch.js';

async function serve(answer: RequestListener): Promise<URL> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}

const limits = { allowedHosts: [] as string[], maxBytes: 1_000, timeoutMs: 5_000 };
const allowing = (url: URL) => ({ ...limits, allowedHosts: [url.host] });

async function refusal(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(FetchRefused);
  return (error as Error).message;
}

test('fetches from a host that is allowed by name', async () => {
  const url = await serve((_request, response) => {
    response.setHeader('content-type', 'Text/Plain; charset=utf-8');
    response.end('hello');
  });
  const fetched = await fetchContent(url.href, allowing(url));
  expect(fetched).toEqual({ contentType: 'text/plain', bytes: Buffer.from('hello') });
});

test('reaches no private address, however it is written', async () => {
  let asked = 0;
  const url = await serve((_request, response) => {
    asked += 1;
    response.end('secret');
  });
  const { port } = url;
  for (const host of [
    '127.0.0.1',
    'localhost',
    '[::1]',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '127.1',
    '0',
  ]) {
    expect(await refusal(fetchContent(`http://${host}:${port}/`, limits))).toContain(
      'is not a public address',
    );
  }
  expect(asked).toBe(0);
});

test('checks where a redirect leads', async () => {
  const inner = await serve((_request, response) => response.end('secret'));
  const outer = await serve((_request, response) => {
    response.writeHead(302, { location: inner.href });
    response.end();
  });
  expect(await refusal(fetchContent(outer.href, allowing(outer)))).toContain('is not a public address');
  const both = { ...limits, allowedHosts: [outer.host, inner.host] };
  expect((await fetchContent(outer.href, both)).bytes).toEqual(Buffer.from('secret'));
});

test('does not follow redirects forever, nor to other protocols', async () => {
  const loop = await serve((_request, response) => response.writeHead(302, { location: '/again' }).end());
  expect(await refusal(fetchContent(loop.href, allowing(loop)))).toContain('more than 5 times');
  const file = await serve((_request, response) =>
    response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
  );
  expect(await refusal(fetchContent(file.href, allowing(file)))).toContain('only http: and https:');
});

test.each([
  'file:///etc/passwd',
  'ftp://example.com/x',
  'gopher://example.com',
  'not a url',
  'data:text/plain,x',
])('refuses %s', async (address) => {
  await refusal(fetchContent(address, limits));
});

test('sends no credentials', async () => {
  expect(await refusal(fetchContent('http://user:secret@example.com/', limits))).not.toContain('secret');
});

test('stops reading at the limit', async () => {
  const url = await serve((_request, response) => {
    response.on('error', () => {});
    const more = () => {
      if (!response.destroyed) response.write(Buffer.alloc(500), more);
    };
    more();
  });
  expect(await refusal(fetchContent(url.href, allowing(url)))).toContain('1000 bytes');
});

test('waits only so long for an answer, and for the rest of it', async () => {
  const silent = await serve(() => {});
  const short = { ...allowing(silent), timeoutMs: 50 };
  expect(await refusal(fetchContent(silent.href, short))).toContain('within 50 ms');
  const slow = await serve((_request, response) => void response.write('a'));
  expect(await refusal(fetchContent(slow.href, { ...allowing(slow), timeoutMs: 50 }))).toContain('50 ms');
});

test('reveals nothing about the server behind an address', async () => {
  const url = await serve((request) => request.socket.destroy());
  expect(await refusal(fetchContent(url.href, allowing(url)))).toBe('The address could not be reached.');
  const failing = await serve((_request, response) => response.writeHead(500).end('stack trace'));
  expect(await refusal(fetchContent(failing.href, allowing(failing)))).toBe(
    'The address answered with status 500.',
  );
});
