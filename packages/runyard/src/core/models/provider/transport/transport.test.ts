import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ask, collect, modelFor, open } from '../../../../../test/support/providers/model-calls.js';
import { finishChunk, textChunk } from '../../../../../test/support/providers/model-server.js';
import { fetchTransport } from './fetch-transport.js';
import type { Exchange, OutgoingRequest, Transport } from './transport.js';
import { usualTransport } from './usual-transport.js';

const ends: (() => void)[] = [];

afterEach(() => {
  for (const end of ends.splice(0)) end();
});

async function serve(listener: RequestListener) {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const request: OutgoingRequest = {
    url: `http://127.0.0.1:${port}/v1/x?y=1`,
    headers: { 'content-type': 'application/json', 'x-key': 'grüße' },
    body: '{"a":"ü"}',
    streamed: false,
  };
  return { server, request };
}

async function bodyOf(exchange: Exchange): Promise<Buffer> {
  await exchange.head;
  const parts: Uint8Array[] = [];
  for (let bytes = await exchange.read(); bytes !== undefined; bytes = await exchange.read())
    parts.push(bytes);
  return Buffer.concat(parts);
}

const ways: [string, () => Transport][] = [
  ['the dispatcher below fetch', usualTransport],
  ['a fetch', () => fetchTransport(globalThis.fetch)],
];

describe.each(ways)('%s', (_, transport) => {
  it('sends the request and answers with status, headers and bytes', async () => {
    const seen: { request: IncomingMessage; body: string }[] = [];
    const { request } = await serve(async (incoming, response) => {
      let body = '';
      for await (const part of incoming.setEncoding('utf8')) body += part;
      seen.push({ request: incoming, body });
      response.writeHead(418, 'Teapot', { 'content-type': 'text/x', 'x-twice': ['a', 'b'] }).end('ü');
    });
    const exchange = transport()(request);
    const head = await exchange.head;
    expect(head).toMatchObject({ status: 418, statusText: 'Teapot', contentType: 'text/x' });
    expect(head.headers().get('x-twice')).toBe('a, b');
    expect((await bodyOf(exchange)).toString()).toBe('ü');
    expect(exchange.ended).toBe(true);
    expect(seen[0]).toMatchObject({
      body: '{"a":"ü"}',
      request: {
        method: 'POST',
        url: '/v1/x?y=1',
        headers: { 'content-length': '10', 'x-key': 'grüße', 'content-type': 'application/json' },
      },
    });
  });

  it.each([
    ['gzip', gzipSync('text')],
    ['deflate', deflateSync('text')],
    ['BR', brotliCompressSync('text')],
    ['gzip, br', brotliCompressSync(gzipSync('text'))],
    ['identity', Buffer.from('text')],
    ['rot13', Buffer.from('text')],
  ])('reads a body with the content coding %s', async (coding, bytes) => {
    const { request } = await serve((_incoming, response) => {
      response.writeHead(200, { 'content-encoding': coding }).end(bytes);
    });
    expect((await bodyOf(transport()(request))).toString()).toBe('text');
  });

  it('fails with what is wrong with a compressed body', async () => {
    const { request } = await serve((_incoming, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end('not gzip');
    });
    await expect(bodyOf(transport()(request))).rejects.toThrow();
  });

  it('does not follow redirects', async () => {
    const { request } = await serve((_incoming, response) => {
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    const head = await transport()(request).head;
    expect(head.status).toBe(302);
    expect(head.headers().get('location')).toBe('/elsewhere');
  });

  it('passes bytes on as they arrive, also compressed ones', async () => {
    const { request } = await serve((_incoming, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      // A whole member, and no end of the answer.
      response.write(gzipSync('first'));
    });
    const exchange = transport()(request);
    await exchange.head;
    expect(Buffer.from((await exchange.read()) ?? []).toString()).toBe('first');
    exchange.abort(new Error('enough'));
  });

  it('keeps the server waiting while nobody reads, and loses nothing', async () => {
    const block = Buffer.alloc(1024 * 1024, 'x');
    const blocks = 32;
    let sent = 0;
    const { request } = await serve((_incoming, response) => {
      const next = () => {
        while (sent < blocks) {
          sent += 1;
          if (!response.write(block)) return void response.once('drain', next);
        }
        response.end();
      };
      next();
    });
    const exchange = transport()(request);
    await exchange.head;
    let size = (await exchange.read())?.length ?? 0;
    // Another answer through the same loop: whatever the server can send now, it has sent.
    expect((await bodyOf(transport()((await serve((_in, out) => out.end('other'))).request))).length).toBe(5);
    expect(sent).toBeLessThan(blocks);
    size += (await bodyOf(exchange)).length;
    expect(size).toBe(blocks * block.length);
  });

  it('closes the connection when it is aborted, and fails with the reason', async () => {
    const left = vi.fn();
    let arrived = () => {};
    const here = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const { request } = await serve((incoming, response) => {
      response.on('close', left);
      if (incoming.url?.endsWith('2')) response.write('x');
      else arrived();
    });
    const reason = new Error('cancelled');
    const silent = transport()(request);
    await here;
    silent.abort(reason);
    await expect(silent.head).rejects.toBe(reason);
    const begun = transport()({ ...request, url: `${request.url}2` });
    await begun.head;
    await begun.read();
    const rest = begun.read();
    begun.abort(reason);
    await expect(rest).rejects.toBe(reason);
    await vi.waitFor(() => expect(left).toHaveBeenCalledTimes(2));
  });

  it('sends nothing that was aborted before it had a connection', async () => {
    const listener = vi.fn();
    const { server, request } = await serve(listener);
    const exchange = transport()(request);
    exchange.abort(new Error('too late'));
    await expect(exchange.head).rejects.toThrow('too late');
    // A request after it arrives, so that the first one would have.
    server.on('request', (_incoming, response) => response.end());
    await transport()(request).head;
    expect(listener).toHaveBeenCalledTimes(1);
  });

  it('fails when the connection breaks in the middle of a body', async () => {
    const { request } = await serve((_incoming, response) => {
      response.writeHead(200, { 'content-length': 10 });
      response.write('half', () => response.destroy());
    });
    await expect(bodyOf(transport()(request))).rejects.toThrow();
  });
});

describe('the usual transport', () => {
  it('is the dispatcher that the application has set', async () => {
    const place = Symbol.for('undici.globalDispatcher.1');
    const usual = Reflect.get(globalThis, place);
    const dispatch = vi.fn((request: object, handler: object) => usual.dispatch(request, handler));
    ends.push(() => Reflect.set(globalThis, place, usual));
    Reflect.set(globalThis, place, { dispatch });
    const { model } = await modelFor([{ events: [textChunk('ok'), finishChunk()] }]);
    expect((await collect(model.stream(ask(), open()))).response.content).toBe('ok');
    expect(dispatch).toHaveBeenCalledTimes(1);
  });

  it('lets a dispatcher change the headers of one request, and of no other', async () => {
    const place = Symbol.for('undici.globalDispatcher.1');
    const usual = Reflect.get(globalThis, place);
    let calls = 0;
    ends.push(() => Reflect.set(globalThis, place, usual));
    Reflect.set(globalThis, place, {
      dispatch(request: { headers: Record<string, string> }, handler: object) {
        calls += 1;
        if (calls === 1) request.headers['x-first'] = 'yes';
        return usual.dispatch(request, handler);
      },
    });
    const whole = { body: { choices: [{ message: { content: 'ok' }, finish_reason: 'stop' }] } };
    const { model, server } = await modelFor([
      whole,
      whole,
      { events: [textChunk('ok'), finishChunk()] },
      whole,
    ]);
    await model.generate(ask(), open());
    await model.generate(ask(), open());
    await collect(model.stream(ask(), open()));
    await model.generate(ask(), open());
    const sent = server.requests.map(({ headers }) => [headers['x-first'], headers['accept-encoding']]);
    expect(sent).toEqual([
      ['yes', 'gzip, deflate, br'],
      [undefined, 'gzip, deflate, br'],
      [undefined, 'identity'],
      [undefined, 'gzip, deflate, br'],
    ]);
  });

  it('is a global fetch that the application has replaced', async () => {
    const { fetch } = globalThis;
    const replaced = vi.fn(fetch);
    ends.push(() => vi.unstubAllGlobals());
    vi.stubGlobal('fetch', replaced);
    const { model } = await modelFor([{ events: [textChunk('ok'), finishChunk()] }]);
    expect((await collect(model.stream(ask(), open()))).response.content).toBe('ok');
    expect(replaced).toHaveBeenCalledTimes(1);
  });

  it('keeps its connection from call to call, streamed or not', async () => {
    const { model, server } = await modelFor((_request, index) =>
      index % 2 === 0
        ? { events: [textChunk('ok'), finishChunk()] }
        : { body: { choices: [{ message: { content: 'ok' }, finish_reason: 'stop' }] } },
    );
    for (let round = 0; round < 3; round += 1) {
      expect((await collect(model.stream(ask(), open()))).response.content).toBe('ok');
      expect((await model.generate(ask(), open())).content).toBe('ok');
    }
    // The end of a stream may arrive after its last event: one more connection is open then.
    expect(server.connections()).toBeLessThanOrEqual(2);
  });

  it('lets headers of the application replace ours, however they are written', async () => {
    const { model, server } = await modelFor(
      [{ body: { choices: [{ message: { content: 'ok' }, finish_reason: 'stop' }] } }],
      { headers: { Authorization: ' Other key\n', 'User-Agent': 'mine' } },
    );
    await model.generate(ask(), open());
    expect(server.requests[0]?.headers).toMatchObject({ authorization: 'Other key', 'user-agent': 'mine' });
  });
});
