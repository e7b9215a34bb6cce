import { expect, test } from 'vitest';
import type { Availability } from '../availability.js';
import type { SqliteConnection } from './library.js';
import { SqliteReader } from './reader.js';

/** A connection that fails in this way before it answers, and what was asked of it. */
function opened(...failures: string[]) {
  const asked: string[] = [];
  const all = () => {
    asked.push('read');
    const failure = failures.shift();
    if (failure !== undefined) throw Object.assign(new Error(failure), { code: 'ERR_SQLITE_ERROR' });
    return [{ id: 'a' }];
  };
  const connection = { prepare: () => ({ all }), exec: (sql: string) => void asked.push(sql) };
  const availability = { failure: (error: unknown) => error };
  const reader = new SqliteReader(
    connection as unknown as SqliteConnection,
    availability as unknown as Availability,
  );
  return { asked, read: () => reader.query('SELECT id FROM runs', []) };
}

const busy = 'database is locked';
const waits = 'PRAGMA busy_timeout = 1000';
const waitsNoMore = 'PRAGMA busy_timeout = 0';

test('a read that finds the file busy is made once more with time to wait, which writes do not get', () => {
  const { asked, read } = opened(busy);
  expect(read()).toEqual([{ id: 'a' }]);
  expect(asked).toEqual(['read', waits, 'read', waitsNoMore]);
});

test('a file that stays busy fails the read, and the next write does not wait either', () => {
  const { asked, read } = opened(busy, busy);
  expect(read).toThrow(busy);
  expect(asked).toEqual(['read', waits, 'read', waitsNoMore]);
});

test('a read that fails for another reason is not repeated', () => {
  const { asked, read } = opened('database disk image is malformed');
  expect(read).toThrow('malformed');
  expect(asked).toEqual(['read']);
});
