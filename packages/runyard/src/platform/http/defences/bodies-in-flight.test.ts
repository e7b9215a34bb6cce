import { AsyncLocalStorage } from 'node:async_hooks';
import { PassThrough } from 'node:stream';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { type RawClient, rawClient, startServer } from '../../../../test/support/clients/http-server.js';
import { intervalContexts } from '../../../../test/support/interval-contexts.js';
import { until } from '../../../../test/support/until.js';
import { anonymousCaller } from '../../auth/caller.js';
import type { Exchange } from '../exchange.js';
import { readBody } from '../request/body.js';
import { uploadedFiles } from '../request/fields.js';
import { defineRoute } from '../route.js';
import { BodiesInFlight, type BodyReading } from './bodies-in-flight.js';

const facts = { method: 'POST', scope: null, tag: 'T', summary: 't', responses: {} } as const;
const routes = [
  defineRoute({
    ...facts,
    path: '/files',
    operationId: 'files',
    accepts: 'form',
    body: z.object({ files: uploadedFiles().optional() }),
    handler: (_services, { body }) => ({ sizes: body.files?.map(({ size }) => size) }),
  }),
  defineRoute({
    ...facts,
    path: '/json',
    operationId: 'json',
    body: z.object({ text: z.string() }),
    handler: (_services, { body }) => ({ length: body.text.length }),
  }),
];

const opening = '--B\r\ncontent-disposition: form-data; name="files"; filename="f"\r\n\r\n';
const closing = '\r\n--B--\r\n';
const settings = { maxUploadBytes: 400_000, maxBodiesBytes: 1_000_000 };

/** A client that sends a file and stops before its end. */
class Upload {
  readonly #client: RawClient;

  constructor(
    port: number,
    readonly size: number,
    sent: number,
    who = '',
  ) {
    this.#client = rawClient(port);
    this.#client.socket.write(
      `POST /files HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: ${who || 'nobody'}\r\n` +
        'content-type: multipart/form-data; boundary=B\r\n' +
        `content-length: ${opening.length + size + closing.length}\r\n\r\n${opening}${'x'.repeat(sent)}`,
    );
    this.sent = sent;
  }

  sent: number;

  get status(): string | undefined {
    return /^HTTP\/1\.1 (\d+)/.exec(this.#client.received())?.[1];
  }

  get text(): string {
    return this.#client.received();
  }

  /** Ends the connection in the middle of the body, after all that was sent. */
  leave(): void {
    this.#client.socket.end();
  }

  async finish(): Promise<string> {
    this.#client.socket.write('x'.repeat(this.size - this.sent) + closing);
    return this.#client.closed();
  }
}

const users = {
  resolveCaller: ({ headers }: { headers: { authorization?: string } }) =>
    headers.authorization?.startsWith('user')
      ? { ...anonymousCaller, userId: headers.authorization, proven: true }
      : anonymousCaller,
};

describe('bodies that are being received', () => {
  test('stay within their bound: the largest is rejected, with 503 and the time to wait', async () => {
    const { port, url } = await startServer(routes, { settings });
    const uploads = [350_000, 340_000, 330_000].map((sent) => new Upload(port, 360_000, sent));
    const [largest, ...others] = uploads as [Upload, Upload, Upload];
    await until('one is refused', () => uploads.some(({ status }) => status !== undefined));
    const refused = uploads.filter(({ status }) => status !== undefined);
    expect(refused).toHaveLength(1);
    expect(refused[0]!.status).toBe('503');
    expect(refused[0]!.text).toMatch(/retry-after: 5\r\n/);
    expect(refused[0]!.text).toContain('"error_code":"too_many_bodies"');
    expect(refused[0]!.text).toContain('(setting maxBodiesBytes)');
    for (const upload of [largest, ...others].filter((upload) => upload !== refused[0]))
      expect(await upload.finish()).toContain('{"sizes":[360000]}');
    const after = new Upload(port, 390_000, 380_000);
    expect(await after.finish()).toContain('{"sizes":[390000]}');
    expect((await fetch(`${url}/files`, { method: 'POST' })).status).toBe(200);
  });

  test('leave room for small ones', async () => {
    const { port, url } = await startServer(routes, { settings });
    const uploads = [330_000, 330_000, 330_000].map((sent) => new Upload(port, 390_000, sent));
    for (let at = 0; at < 20; at++) {
      const answer = await fetch(`${url}/json`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ text: 'x'.repeat(50_000) }),
      });
      expect(answer.status).toBe(200);
    }
    expect(uploads.filter(({ status }) => status !== undefined).length).toBeLessThanOrEqual(1);
  });

  test('are given up for the caller who holds most, and not for those who come after', async () => {
    const { port } = await startServer(routes, {
      settings: { ...settings, maxBodiesBytes: 600_000 },
      ...users,
    });
    const greedy = [
      new Upload(port, 390_000, 150_000, 'user a'),
      new Upload(port, 390_000, 160_000, 'user a'),
    ];
    const modest = new Upload(port, 390_000, 180_000, 'user b');
    const late = new Upload(port, 390_000, 180_000, 'user c');
    await until('one is refused', () => greedy.some(({ status }) => status === '503'));
    for (const upload of [modest, late]) expect(upload.status).toBeUndefined();
  });

  test('of one known caller hold no more than half of it, or one upload', async () => {
    const { port } = await startServer(routes, { settings, ...users });
    const own = [300_000, 290_000].map((sent) => new Upload(port, 390_000, sent, 'user a'));
    await until('one is refused', () => own.some(({ status }) => status === '503'));
    expect(own.filter(({ status }) => status === undefined)).toHaveLength(1);
    const other = new Upload(port, 390_000, 380_000, 'user b');
    expect(await other.finish()).toContain('{"sizes":[390000]}');
  });

  test('are not counted when their clients have left', async () => {
    const { port, logged } = await startServer(routes, { settings });
    for (let count = 1; count <= 5; count++) {
      new Upload(port, 390_000, 350_000).leave();
      await until('the client is known to have left', () => {
        return logged.filter(({ fields }) => fields.client_gone).length === count;
      });
    }
    const uploads = [new Upload(port, 390_000, 380_000), new Upload(port, 390_000, 380_000)];
    for (const upload of uploads) expect(await upload.finish()).toContain('{"sizes":[390000]}');
  });

  test('may come in any number of pieces', async () => {
    const { port } = await startServer(routes);
    const client = rawClient(port);
    client.socket.write(
      'POST /json HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ntransfer-encoding: chunked\r\ncontent-type: application/json\r\n\r\n',
    );
    const long = 'y'.repeat(10_000);
    const body = `{"text":"${'x'.repeat(5_000)}`;
    client.socket.write([...body].map((sign) => `1\r\n${sign}\r\n`).join(''));
    client.socket.write(`${long.length.toString(16)}\r\n${long}\r\n2\r\n"}\r\n0\r\n\r\n`);
    expect(await client.closed()).toContain('{"length":15000}');
  });
});

/** The body of a caller, and why it was abandoned. */
function readingOf(key: string): BodyReading & { readonly cuts: string[] } {
  const cuts: string[] = [];
  return {
    exchange: { bodyOwner: { key, isKnown: true } },
    received: 0,
    looked: undefined,
    cut: (why) => cuts.push(why),
    cuts,
  };
}

test('one body has room however small the bound is, and what has gone is counted once', () => {
  const bodies = new BodiesInFlight({ slowClientMs: 1_000, maxUploadBytes: 5_000, maxBodiesBytes: 1_024 });
  expect(bodies.most).toBe(5_000);
  for (let at = 0; at < 10; at++) {
    const reading = readingOf('a');
    bodies.add(reading);
    bodies.grow(reading, 5_000);
    bodies.delete(reading);
    bodies.delete(reading);
    expect(reading.cuts).toEqual([]);
  }
  // bytes released twice would be room that does not exist
  const [larger, smaller] = [readingOf('b'), readingOf('c')];
  for (const [reading, bytes] of [[larger, 3_000] as const, [smaller, 2_500] as const]) {
    bodies.add(reading);
    bodies.grow(reading, bytes);
  }
  expect([larger.cuts, smaller.cuts]).toEqual([['crowded'], []]);
});

test('a body that is stored as it arrives counts for a few megabytes, and is not slow while this side takes its time', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const megabyte = 1_048_576;
  const bodies = new BodiesInFlight({ slowClientMs: 1_000, maxUploadBytes: 9 * megabyte });
  expect(bodies.most).toBe(64 * megabyte);
  const stored = Array.from({ length: 9 }, () => ({ ...readingOf('a'), awaits: false }));
  for (const reading of stored) {
    bodies.add(reading);
    bodies.grow(reading, 100 * megabyte);
  }
  // those of one caller may hold half of all
  expect(stored.map(({ cuts }) => cuts)).toEqual([...Array.from({ length: 8 }, () => []), ['crowded']]);
  const [busy, waiting] = [stored[0]!, stored[1]!];
  waiting.awaits = true;
  vi.advanceTimersByTime(5_000);
  expect(busy.cuts).toEqual([]);
  expect(waiting.cuts[0]).toBe('slow');
  for (const reading of stored) bodies.delete(reading);
  const next = readingOf('b');
  bodies.add(next);
  bodies.grow(next, 32 * megabyte);
  expect(next.cuts).toEqual([]);
});

test.each([
  ['whole', ['abc'], 0],
  ['in pieces', ['a', 'bc'], 1],
])('a body that comes %s: its owner is found when it is counted, and once', async (_, pieces, found) => {
  let asked = 0;
  const request = Object.assign(new PassThrough(), { headers: { 'content-length': '3' } });
  const exchange = {
    request,
    bodies: new BodiesInFlight({ slowClientMs: 1_000, maxUploadBytes: 5_000 }),
    get bodyOwner() {
      asked += 1;
      return { key: 'a', isKnown: true };
    },
  } as unknown as Exchange;
  const body = readBody(exchange, { bytes: 10, setting: 'maxBodyBytes' });
  for (const piece of pieces) request.write(piece);
  request.end();
  expect(String(await body)).toBe('abc');
  expect(asked).toBe(found);
});

test('the timer of all bodies belongs to the request of none', () => {
  const requests = new AsyncLocalStorage<string>();
  const seen = intervalContexts(requests);
  const bodies = new BodiesInFlight({ slowClientMs: 1_000, maxUploadBytes: 5_000 });
  requests.run('the first', () => bodies.add(readingOf('a')));
  expect(seen).toEqual([undefined]);
});
