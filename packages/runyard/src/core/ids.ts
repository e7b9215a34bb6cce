import { createHash, randomFillSync } from 'node:crypto';

/** Random bytes are fetched for many identifiers at once: asking the system for each would cost more than the rest. */
const pool = Buffer.alloc(8 * 512);
const text = Buffer.alloc(36);
let used = pool.length;
let lastTime = 0;
let counter = 0;

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
  const time = lastTime.toString(16).padStart(12, '0');
  const sequence = counter.toString(16).padStart(3, '0');
  const variant = ((pool.readUInt8(used) & 0x3f) | 0x80).toString(16);
  const random = variant + pool.toString('hex', used + 1, used + 8);
  used += 8;
  // through bytes: a string put together from pieces keeps the pieces, and ids live as long as their runs
  text.write(
    `${time.slice(0, 8)}-${time.slice(8)}-7${sequence}-${random.slice(0, 4)}-${random.slice(4)}`,
    'latin1',
  );
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
