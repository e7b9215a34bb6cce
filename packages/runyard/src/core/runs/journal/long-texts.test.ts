import { expect, test } from 'vitest';
import { decodeBlock, encodeBlock, serialiseEvent } from '../events/logged-event.js';
import {
  holdsLongText,
  isPacked,
  joinedParts,
  LongTexts,
  longTextLength,
  packed,
  partsOf,
  unpacked,
  unpackedPieces,
  weigh,
} from './long-texts.js';

const long = (text: string) => text.repeat(Math.ceil((3 * longTextLength) / text.length));
/** The smile stands on the boundary of two parts. */
const tricky = `${'x'.repeat(longTextLength - 1)}🙂 "quoted" \\ \u0000 \u2028 \ud800 ${long('words ')}`;

async function joined(pieces: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}

test('a text is restored from its parts, and no character is split', () => {
  const parts = [...partsOf(tricky)];
  expect(parts.length).toBeGreaterThan(3);
  expect(joinedParts(parts)).toBe(tricky);
  for (const part of parts) expect(part).not.toMatch(/\u2028|\\ud83d|\\ude42/);
});

test('packed JSON refers to each long text once, whatever else is in it', async () => {
  const texts = new LongTexts(1);
  const value = {
    content: tricky,
    again: [tricky, { nested: long('other') }],
    '\u00011-0': '\u00011-0',
    '\u0001\u0001key': '\u0001\u0001twice',
    fooling: '"\u00011-0","\u0001\u0001',
    short: 'text',
    none: null,
  };
  const json = packed(value, (text) => texts.idOf(text));
  expect(isPacked(json)).toBe(true);
  expect(json.length).toBeLessThan(500);
  const added = texts.takeNew();
  expect(added).toHaveLength(2);
  const stored = new Map(added.map(({ id, text }) => [id, text]));
  expect(unpacked(json, (id) => stored.get(id)!)).toEqual(value);
  const source = { parts: (id: string) => partsOf(stored.get(id)!) };
  expect(JSON.parse(await joined(unpackedPieces(json, source)))).toEqual(value);
});

test('an event with a long text is stored as a reference, and sent as if it held the text', async () => {
  const texts = new LongTexts(1);
  const event = { event: 'RunCompleted', content: tricky, content_type: 'str' } as const;
  const head = { event: 'RunCompleted', run_id: 'r' } as const;
  const logged = serialiseEvent(7, event, head, 'end', texts);
  expect(await logged.decoded()).toEqual({ ...head, ...event, event_index: 7 });
  expect(logged.size).toBeGreaterThanOrEqual(tricky.length);

  const block = encodeBlock([logged]);
  expect(block.length).toBeLessThan(200);
  const [added] = texts.takeNew();
  const [read] = decodeBlock(7, block, { parts: () => partsOf(added!.text) });
  expect(read).toMatchObject({ index: 7, name: 'RunCompleted', key: 'end' });
  expect(await joined(read!.pieces!())).toBe(await joined(logged.pieces!()));
  expect(await read!.decoded()).toEqual(await logged.decoded());
});

test('a value holds a long text, or is heavy without one', () => {
  expect(holdsLongText({ texts: ['x'.repeat(longTextLength - 1), 'y'.repeat(longTextLength - 1)] })).toBe(
    false,
  );
  expect(holdsLongText('x'.repeat(longTextLength - 1))).toBe(false);
  expect(holdsLongText('x'.repeat(longTextLength))).toBe(true);
  expect(holdsLongText({ texts: ['short', 'x'.repeat(longTextLength)] })).toBe(true);
});

test('a text of the journal keeps its id, one that only an event holds is forgotten once it is stored', () => {
  const texts = new LongTexts(2);
  const [said, emitted] = [long('said'), long('emitted')];
  texts.keep(said);
  const ids = [texts.idOf(said), texts.idOf(emitted)];
  expect(texts.takeNew().map(({ id, kept }) => ({ id, kept }))).toEqual([
    { id: ids[0], kept: true },
    { id: ids[1], kept: false },
  ]);
  expect(texts.idOf(said)).toBe(ids[0]);
  expect(texts.takeNew()).toEqual([]);
  expect(texts.idOf(emitted)).not.toBe(ids[1]);
});

test('a value that is there twice counts twice, and one that JSON cannot hold is rejected', () => {
  const shared = { text: 'x'.repeat(100) };
  expect(weigh([shared, shared]) - weigh([shared])).toBeGreaterThan(100);
  const circular: unknown[] = [shared];
  circular.push({ inner: circular });
  expect(() => weigh({ circular })).toThrow('circular reference');
  expect(() => weigh({ amount: 1n })).toThrow('BigInt');
  // as text it would be longer than a text can be
  let doubled: unknown = 'x'.repeat(1_000_000);
  for (let depth = 0; depth < 60; depth += 1) doubled = [doubled, doubled];
  expect(() => weigh(doubled)).toThrow('too large');
});
