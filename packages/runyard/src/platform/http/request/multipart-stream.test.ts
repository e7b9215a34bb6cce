import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { startServer } from '../../../../test/support/clients/http-server.js';
import { gate, until } from '../../../../test/support/until.js';
import { defineRoute } from '../route.js';
import { streamedFiles } from './fields.js';
import { parseMultipart } from './multipart.js';
import { streamMultipart } from './multipart-stream.js';

const limits = { maxBodyBytes: 10_000, maxFiles: 3, maxFields: 3 };
const type = 'multipart/form-data; boundary=edge';

/** Texts before and after files, one of which holds what looks like a boundary. */
const body = Buffer.from(
  [
    'a preamble\r\n--edge\r\nContent-Disposition: form-data; name="title"\r\n\r\nfirst\r\n',
    '--edge  \r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain; x=y\r\n\r\n',
    'one\r\n--edgewise\r\n--edge-\r\n--\r\n',
    '--edge\r\nContent-Disposition: form-data; name="file"; filename="empty"\r\n\r\n\r\n',
    '--edge\r\nContent-Disposition: form-data; name="file"; filename=""\r\n\r\n\r\n',
    '--edge\r\nContent-Disposition: form-data; name="note"\r\n\r\nlä\u00dft\r\n--edge--\r\nan epilogue',
  ].join(''),
);

function sourceOf(pieces: readonly Buffer[]) {
  const left = [...pieces];
  return { next: async () => left.shift() };
}

function inPieces(whole: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(whole.length / size) }, (_, at) =>
    whole.subarray(at * size, (at + 1) * size),
  );
}

async function streamed(pieces: readonly Buffer[]): Promise<unknown[]> {
  const parts: unknown[] = [];
  await streamMultipart(sourceOf(pieces), type, limits, {
    addText: (name, value) => parts.push([name, value]),
    addFile: async (name, filename, mimeType, bytes) => {
      const got: Buffer[] = [];
      for await (const piece of bytes) got.push(Buffer.from(piece));
      parts.push([name, filename, mimeType, Buffer.concat(got).toString()]);
    },
  });
  return parts;
}

test('a form that comes in pieces of any size has the parts that it has as a whole', async () => {
  const whole: unknown[] = [];
  parseMultipart(body, type, limits, {
    addText: (name, value) => whole.push([name, value]),
    addFile: (name, filename, mimeType, bytes) =>
      whole.push([name, filename, mimeType, Buffer.from(bytes).toString()]),
  });
  expect(whole).toHaveLength(4);
  for (let size = 1; size <= body.length; size += 1)
    expect(await streamed(inPieces(body, size))).toEqual(whole);
});

test('a form that is cut off anywhere is refused', async () => {
  const end = body.lastIndexOf('--edge--') + 8;
  for (let length = 0; length < end; length += 1)
    await expect(streamed(inPieces(body.subarray(0, length), 7))).rejects.toMatchObject({ status: 422 });
});

test('a receiver that takes only a part of a file does not lose the rest of the form', async () => {
  const parts: string[] = [];
  await streamMultipart(sourceOf(inPieces(body, 5)), type, limits, {
    addText: (name) => parts.push(name),
    addFile: async (_name, filename, _type, bytes) => {
      for await (const _piece of bytes) break;
      parts.push(filename);
    },
  });
  expect(parts).toEqual(['title', 'a.txt', 'empty', 'note']);
});

/** Keeps what is written, and counts what is left. */
class Shelf {
  readonly kept = new Map<number, Buffer>();
  failures = 0;
  ready: Promise<unknown> = Promise.resolve();

  async write(bytes: AsyncIterable<Uint8Array>): Promise<number> {
    const pieces: Uint8Array[] = [];
    try {
      for await (const piece of bytes) {
        pieces.push(Buffer.from(piece));
        await this.ready;
      }
    } catch (error) {
      this.failures += 1;
      throw error;
    }
    const id = this.kept.size + 1;
    this.kept.set(id, Buffer.concat(pieces));
    return id;
  }

  async remove(id: number): Promise<void> {
    this.kept.delete(id);
  }
}

function uploadRoute(shelf: Shelf) {
  return defineRoute({
    ...({ method: 'POST', public: true, tag: 'Test', summary: 'x', responses: {} } as const),
    path: '/upload',
    operationId: 'upload',
    accepts: 'form',
    query: z.object({ place: z.enum(['here', 'there']).default('here') }),
    body: z.object({ title: z.string(), file: streamedFiles<number>().optional() }),
    uploads: () => shelf,
    handler: (_services, { body: { title, file = [] } }) => {
      if (title === 'unwanted') return { ids: [] };
      return { title, ids: file.map((one) => one.take()), files: file };
    },
  });
}

function form(title: string | undefined, titleFirst = true, bytes = 'content'): FormData {
  const fields = new FormData();
  if (title !== undefined && titleFirst) fields.set('title', title);
  fields.append('file', new File([bytes], 'a.txt', { type: 'text/plain' }));
  fields.append('other', new File(['ignored'], 'b.txt'));
  if (title !== undefined && !titleFirst) fields.set('title', title);
  return fields;
}

test('files are stored while they arrive, and nothing of a refused request is left', async () => {
  const shelf = new Shelf();
  const settings = { maxStreamedBytes: 2_000 };
  const { url } = await startServer([uploadRoute(shelf)], { settings });
  const post = async (given: RequestInit['body'], query = '') => {
    const response = await fetch(`${url}/upload${query}`, { method: 'POST', body: given });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  for (const first of [true, false]) {
    const { status, body: answer } = await post(form('hello', first));
    expect({ status, answer }).toMatchObject({ status: 200, answer: { title: 'hello', ids: [1] } });
    expect(answer.files).toEqual([{ filename: 'a.txt', mime_type: 'text/plain', size: 7 }]);
    expect(shelf.kept.get(1)?.toString()).toBe('content');
    shelf.kept.clear();
  }
  expect(await post(form(undefined))).toMatchObject({ status: 422 });
  expect(await post(form('unwanted'))).toMatchObject({ status: 200, body: { ids: [] } });
  expect(await post(form('hello'), '?place=nowhere')).toMatchObject({ status: 422 });
  const large = await post(form('hello', true, 'x'.repeat(2_000)));
  expect(large).toMatchObject({ status: 413, body: { detail: expect.stringContaining('maxStreamedBytes') } });
  expect(await post(new URLSearchParams({ title: 'no file' }))).toMatchObject({
    status: 200,
    body: { ids: [] },
  });
  expect(shelf.kept.size).toBe(0);
  expect(shelf.failures).toBe(0);
});

test('a client sends no faster than its file is stored, and leaves nothing behind when it disconnects', async () => {
  const shelf = new Shelf();
  const held = gate();
  shelf.ready = held.opened;
  const { port } = await startServer([uploadRoute(shelf)]);
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const size = 40_000_000;
  socket.write(
    `POST /upload HTTP/1.1\r\nhost: localhost\r\ncontent-type: ${type}\r\ncontent-length: ${size}\r\n\r\n`,
  );
  socket.write('--edge\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n');
  const piece = Buffer.alloc(1_000_000);
  for (let at = 0; at < 30; at += 1) socket.write(piece);
  // what is not taken stays with the client, but for what the two sockets hold
  await until('the sockets are full', async () => {
    const { writableLength } = socket;
    await new Promise((resolve) => setTimeout(resolve, 50));
    return writableLength === socket.writableLength;
  });
  expect(socket.writableLength).toBeGreaterThan(15_000_000);
  held.open();
  await until('all is taken', () => socket.writableLength === 0);
  socket.destroy();
  await until('the sink is notified', () => shelf.failures === 1);
  expect(shelf.kept.size).toBe(0);
});
