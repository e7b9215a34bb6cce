import { expect, it } from 'vitest';
import { isTransientStorageError } from './transient.js';

it.each([
  ['a deadlock', { code: '40P01' }],
  ['a lost race', { code: '40001' }],
  ['a broken connection', { code: '08006' }],
  ['a server that stops', { code: '57P01' }],
  ['a refused connection', { code: 'ECONNREFUSED' }],
  ['a connection that ended', new Error('Connection terminated unexpectedly')],
  ['a busy SQLite file', { code: 'ERR_SQLITE_ERROR', errcode: 5 }],
  ['a busy SQLite snapshot', { code: 'ERR_SQLITE_ERROR', errcode: 517 }],
])('takes %s for passing', (_, error) => {
  expect(isTransientStorageError(error)).toBe(true);
});

it.each([
  ['a broken constraint', { code: '23505' }],
  ['a missing table', { code: '42P01' }],
  ['a full SQLite disk', { code: 'ERR_SQLITE_ERROR', errcode: 13 }],
  ['a bug', new TypeError('x is not a function')],
  ['nothing', undefined],
])('does not take %s for passing', (_, error) => {
  expect(isTransientStorageError(error)).toBe(false);
});
