import { expect, test } from 'vitest';
import { framesOf } from './event-stream.js';

async function read(pieces: Iterable<string>) {
  async function* body() {
    for (const piece of pieces) yield Buffer.from(piece);
  }
  const frames = [];
  for await (const frame of framesOf(body())) frames.push(frame);
  return frames;
}

test('lines end in three ways, wherever a stream is cut', async () => {
  expect(
    await read(['eve', 'nt: a\r', '\nda', 'ta: 1\r', '\n\r\n: still here\n\ndata:2\r', 'data:3\r\r']),
  ).toEqual([
    { event: 'a', data: '1' },
    { event: '', data: '2\n3' },
  ]);
});

test('an event without end is refused: one long line, or ever more of them', async () => {
  const pieces = (text: string) => Array.from({ length: 600 }, () => text);
  await expect(read(pieces(`data: ${'x'.repeat(64_000)}\n`))).rejects.toThrow('33554432');
  await expect(read(pieces('x'.repeat(64_000)))).rejects.toThrow('33554432');
});
