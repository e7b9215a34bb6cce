import { createHash, randomFillSync } from 'node:crypto';

/** Random bytes are fetched for many identifiers at once: asking the system for each would cost more than the rest. */
const pool = new Uint8Array(8 * 512);
let used = pool.length;
let lastTime = 0;
let counter = 0;

const digits = Buffer.from('0123456789abcdef');
const text = Buffer.from('00000000-0000-7000-8000-000000000000');

/** Writes two digits. Texts put together from pieces would take several times as long, and keep the pieces. */
function put(place: number, byte: number): void {
  text[place] = digits[byte >> 4] ?? 0;
  text[place + 1] = digits[byte & 0xf] ?? 0;
}

/**
 * A new identifier: a UUID (version 7) that sorts by the time it was made, also within one millisecond of this
 * process.
 */
export function newId(): string {
  const now = Date.now();
  if (now > lastTime) {
    lastTime = now;
    counter = 0;
  } else {
    counter += 1;
    // more than the 12 bits hold: borrow the next millisecond
    if (counter > 0xfff) {
      lastTime += 1;
      counter = 0;
    }
  }
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const high = Math.floor(lastTime / 2 ** 32);
  const low = lastTime % 2 ** 32;
  put(0, (high >>> 8) & 0xff);
  put(2, high & 0xff);
  put(4, (low >>> 24) & 0xff);
  put(6, (low >>> 16) & 0xff);
  put(9, (low >>> 8) & 0xff);
  put(11, low & 0xff);
  put(14, 0x70 | (counter >> 8));
  put(16, counter & 0xff);
  put(19, ((pool[used] ?? 0) & 0x3f) | 0x80);
  put(21, pool[used + 1] ?? 0);
  for (let byte = 2; byte < 8; byte += 1) put(20 + 2 * byte, pool[used + byte] ?? 0);
  used += 8;
  return text.toString('latin1');
}

/** A new identifier of a call of a tool. Providers take no more than 40 characters. */
export function newCallId(): string {
  return `call_${newId().replaceAll('-', '')}`;
}

/** The same identifier for the same text, in the form of a UUID. */
export function idFrom(text: string): string {
  const hash = createHash('sha256').update(text).digest('hex');
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `5${hash.slice(13, 16)}`,
    `a${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ].join('-');
}

/** What all identifiers that are made from this time on come after, and all earlier ones before. */
export function lowestIdAt(time: number): string {
  const hex = Math.floor(time).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
