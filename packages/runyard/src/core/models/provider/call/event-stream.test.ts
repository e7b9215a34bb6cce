import { describe, expect, it } from 'vitest';
import { EventStreamParser } from './event-stream.js';

interface Seen {
  data: string;
  event: string;
}

function parse(...parts: Uint8Array[]): Seen[] {
  const seen: Seen[] = [];
  const parser = new EventStreamParser((data, event) => seen.push({ data, event }));
  for (const part of parts) parser.push(part);
  parser.end();
  return seen;
}

const bytes = (text: string) => new TextEncoder().encode(text);
const dataOf = (text: string) => parse(bytes(text)).map(({ data }) => data);

describe('EventStreamParser', () => {
  const text =
    '\uFEFF: hello\r\nevent: note\r\ndata: Grüße, 世界 🌍\r\n\r\ndata:one\ndata: two\n\n:\rdata: three\r\rid: 7\ndata\n\ndata: last';
  const expected: Seen[] = [
    { data: 'Grüße, 世界 🌍', event: 'note' },
    { data: 'one\ntwo', event: '' },
    { data: 'three', event: '' },
    { data: '', event: '' },
    { data: 'last', event: '' },
  ];

  it('reads every kind of line end, comment and field', () => {
    expect(parse(bytes(text))).toEqual(expected);
  });

  it('reads the same whichever byte the stream is cut at', () => {
    const whole = bytes(text);
    for (let cut = 0; cut <= whole.length; cut++) {
      expect(parse(whole.subarray(0, cut), whole.subarray(cut))).toEqual(expected);
    }
    expect(parse(...Array.from(whole, (byte) => Uint8Array.of(byte)))).toEqual(expected);
  });

  it('hands an event on as soon as its blank line is there, also with bare carriage returns', () => {
    const seen: string[] = [];
    const parser = new EventStreamParser((data) => seen.push(data));
    parser.push(bytes('data: a\r\n\r\n'));
    expect(seen).toEqual(['a']);
    parser.push(bytes('data: b\r\r'));
    expect(seen).toEqual(['a', 'b']);
    parser.push(bytes('\ndata: c\n\n'));
    expect(seen).toEqual(['a', 'b', 'c']);
  });

  it('takes away one space after the colon, not more', () => {
    expect(dataOf('data:  x\n\ndata:x \n\n')).toEqual([' x', 'x ']);
  });

  it('passes over events without data and fields it does not know', () => {
    expect(dataOf('event: ping\n\nretry: 10\n\ndatabase: x\n\ndata: y\n\n')).toEqual(['y']);
  });

  it('forgets the name of an event that had no data', () => {
    expect(parse(bytes('event: ping\n\ndata: y\n\n'))).toEqual([{ data: 'y', event: '' }]);
  });

  it('refuses an event without end', () => {
    const parser = new EventStreamParser(() => {});
    const block = bytes('x'.repeat(4 * 1024 * 1024));
    expect(() => {
      for (let count = 0; count < 6; count++) parser.push(block);
    }).toThrow(/an event of more than/);
  });
});
