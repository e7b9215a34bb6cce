import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { guardedFetch } from '../../src/platform/net/guarded-fetch.js';
import { isPublicAddress } from '../../src/platform/net/public-address.js';
import { gate } from '../support/until.js';
import { startWebServer } from './web-server.js';

describe('public addresses', () => {
  it.each(['8.8.8.8', '93.184.216.34', '172.32.0.1', '2606:4700::1111', '2a00:1450:4001::1'])(
    '%s is one',
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );
  it.each([
    ...['127.0.0.1', '127.255.255.254', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
    ...['169.254.169.254', '100.64.0.1', '0.0.0.0', '224.0.0.1', '255.255.255.255', '198.18.0.1'],
    ...['::1', '::', 'fe80::1', 'fc00::1', 'fd00::1', 'ff02::1', '::ffff:127.0.0.1', '::ffff:8.8.8.8'],
    ...['64:ff9b::7f00:1', '2002:7f00:1::', '2001::1', '2001:db8::1', 'localhost', ''],
  ])('%s is not one', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe('guardedFetch', () => {
  it.each([
    ['file:///etc/passwd', 'file: is not fetched'],
    ['ftp://example.com/', 'ftp: is not fetched'],
    ['data:text/plain,hello', 'data: is not fetched'],
    ['http://user:secret@example.com/', 'user name or a password'],
    ['nonsense', "'nonsense' is not a URL"],
    ['http://127.0.0.1/', '127.0.0.1 is not a public address'],
    ['http://2130706433/', '127.0.0.1 is not a public address'],
    ['http://0x7f.1/', '127.0.0.1 is not a public address'],
    ['http://[::1]/', '::1 is not a public address'],
    ['http://[::ffff:127.0.0.1]/', 'is not a public address'],
    ['http://169.254.169.254/latest/meta-data', '169.254.169.254 is not a public address'],
  ])('refuses %s', async (url, message) => {
    await expect(guardedFetch(url)).rejects.toThrow(message);
  });

  it('refuses a name that leads inside, at the moment of the connection', async () => {
    const server = await startWebServer((_, response) => response.end('secret'));
    await expect(guardedFetch(`http://localhost:${server.port}/`)).rejects.toThrow(
      'localhost is not a public address',
    );
    expect(server.requests).toHaveLength(0);
  });

  it('gives the same answer for an internal name and for an unknown one, after a redirect too', async () => {
    const server = await startWebServer((request, response) =>
      response.writeHead(302, { location: `http://${request.url!.slice(1)}/` }).end(),
    );
    // the one resolves to this machine, the others to nothing
    const names = ['localhost', 'db.internal.invalid', 'nothing.invalid', `${'a'.repeat(64)}.invalid`];
    const refusal = async (name: string, url: string) =>
      guardedFetch(url, { allowedHosts: [server.host] }).then(
        () => 'fetched',
        (error: Error) => `${error.name}: ${error.message.replaceAll(name, 'NAME')}`,
      );
    const refusals = await Promise.all(
      names.flatMap((name) => [
        refusal(name, `http://${name}:${server.port}/`),
        refusal(name, `https://${name}/`),
        refusal(name, `${server.url}/${name}`),
      ]),
    );
    const same =
      'FetchRefused: NAME is not a public address, or does not exist. A private host must be allowed by name.';
    expect(new Set(refusals)).toEqual(new Set([same]));
  });

  it('reaches internal addresses that are allowed by name, and only those', async () => {
    const server = await startWebServer((_, response) => response.end('inside'));
    const { status, body, url } = await guardedFetch(`${server.url}/a`, { allowedHosts: ['127.0.0.1'] });
    expect({ status, url, text: Buffer.from(body).toString() }).toEqual({
      status: 200,
      url: `${server.url}/a`,
      text: 'inside',
    });
    await guardedFetch(server.url, { allowedHosts: [server.host] });
    await expect(
      guardedFetch(server.url, { allowedHosts: [`127.0.0.1:${server.port + 1}`] }),
    ).rejects.toThrow('is not a public address');
  });

  it('checks every redirect again', async () => {
    const server = await startWebServer((request, response) => {
      if (request.url === '/next') return response.end('here');
      const location = new URL(request.url!, 'http://x').searchParams.get('to')!;
      return response.writeHead(302, { location }).end();
    });
    const redirected = (to: string, options = {}) =>
      guardedFetch(`${server.url}/?to=${encodeURIComponent(to)}`, {
        allowedHosts: [server.host],
        ...options,
      });
    expect((await redirected('/next')).url).toBe(`${server.url}/next`);
    await expect(redirected(`http://localhost:${server.port}/next`)).rejects.toThrow(
      'is not a public address',
    );
    await expect(redirected('http://10.0.0.1/')).rejects.toThrow('10.0.0.1 is not a public address');
    await expect(redirected('file:///etc/passwd')).rejects.toThrow('file: is not fetched');
    await expect(redirected('/?to=/')).rejects.toThrow(/more than 5 times|is not a URL/);
    await expect(redirected('http://example.com/', { onlyHosts: ['127.0.0.1'] })).rejects.toThrow(
      'example.com is not among the hosts that may be fetched: 127.0.0.1',
    );
  });

  it('ends a circle of redirects', async () => {
    const server = await startWebServer((_, response) => response.writeHead(302, { location: '/' }).end());
    await expect(guardedFetch(server.url, { allowedHosts: [server.host] })).rejects.toThrow(
      'more than 5 times',
    );
    expect(server.requests).toHaveLength(6);
  });

  it('keeps secrets from the origin that it is redirected to', async () => {
    const other = await startWebServer((_, response) => response.end());
    const server = await startWebServer((request, response) => {
      const location = request.url === '/' ? '/same' : other.url;
      response.writeHead(307, { location }).end();
    });
    await guardedFetch(server.url, {
      allowedHosts: ['127.0.0.1'],
      headers: { authorization: 'Bearer secret', 'x-key': 'secret', accept: 'text/plain' },
    });
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer secret',
      'Bearer secret',
    ]);
    expect(other.requests[0]!.headers).toMatchObject({ accept: 'text/plain', host: other.host });
    expect(JSON.stringify(other.requests[0]!.headers)).not.toContain('secret');
  });

  it('stops at a size, announced or not, packed or not', async () => {
    const server = await startWebServer((request, response) => {
      if (request.url === '/announced') response.writeHead(200, { 'content-length': '1000000' }).write('x');
      else if (request.url === '/packed')
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'.repeat(1_000_000)));
      else {
        response.on('error', () => {});
        const more = () => {
          while (!response.destroyed && response.write('x'.repeat(10_000)));
        };
        response.on('drain', more);
        more();
      }
    });
    const options = { allowedHosts: [server.host], maximumBytes: 100_000 };
    for (const path of ['/announced', '/packed', '/endless'])
      await expect(guardedFetch(server.url + path, options)).rejects.toThrow('larger than 100000 bytes');
  });

  it('unpacks an answer and refuses one that breaks off', async () => {
    const packed = gzipSync('hello');
    const server = await startWebServer((request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.end(request.url === '/' ? packed : packed.subarray(0, 10));
    });
    const options = { allowedHosts: [server.host] };
    expect(Buffer.from((await guardedFetch(server.url, options)).body).toString()).toBe('hello');
    await expect(guardedFetch(`${server.url}/broken`, options)).rejects.toThrow();
  });

  it('gives up after its time, also in the middle of the body', async () => {
    const server = await startWebServer((request, response) => {
      if (request.url === '/body') response.writeHead(200).write('x');
    });
    const options = { allowedHosts: [server.host], timeoutMs: 50 };
    for (const path of ['/head', '/body'])
      await expect(guardedFetch(server.url + path, options)).rejects.toThrow('did not answer within 50 ms');
  });

  it('closes the connection when its signal is aborted', async () => {
    const arrived = gate();
    const closed = gate();
    const server = await startWebServer((request, response) => {
      request.socket.on('close', () => closed.open());
      response.writeHead(200).write('x');
      arrived.open();
    });
    const controller = new AbortController();
    const fetched = guardedFetch(server.url, { allowedHosts: [server.host], signal: controller.signal });
    await arrived.opened;
    controller.abort(new Error('cancelled'));
    await expect(fetched).rejects.toThrow('cancelled');
    await closed.opened;
  });
});
