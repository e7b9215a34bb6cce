import { expect, it } from 'vitest';
import { errors } from '../../core/errors/errors.js';
import { isTransientStorageError } from './transient.js';

it.each([
  ['a deadlock', { code: '40P01' }],
  ['a lost race', { code: '40001' }],
  ['a broken connection', { code: '08006' }],
  ['a server that stops', { code: '57P01' }],
  ['a refused connection', { code: 'ECONNREFUSED' }],
  ['a connection that ended', new Error('Connection terminated unexpectedly')],
  ['a busy SQLite file', { code: 'ERR_SQLITE_ERROR', errcode: 5 }],
  ['a full disk of the server', { code: '53100' }],
  ['a server that has become a standby', { code: '25006' }],
  ['a pool without a free connection', new Error('timeout exceeded when trying to connect')],
  ['a full SQLite disk', { code: 'ERR_SQLITE_ERROR', errcode: 13 }],
  [
    'a full SQLite disk, recognised by its text',
    { code: 'ERR_SQLITE_ERROR', message: 'database or disk is full' },
  ],
  ['an SQLite file that was removed', { code: 'ERR_SQLITE_ERROR', errcode: 1032 }],
  ['what callers are answered with', errors.databaseOutage('lost')],
  ['a busy SQLite snapshot', { code: 'ERR_SQLITE_ERROR', errcode: 517 }],
])('takes %s for passing', (_, error) => {
  expect(isTransientStorageError(error)).toBe(true);
});

it.each([
  ['a broken constraint', { code: '23505' }],
  ['a missing table', { code: '42P01' }],
  ['a broken SQLite constraint', { code: 'ERR_SQLITE_ERROR', errcode: 787 }],
  ['a bug', new TypeError('x is not a function')],
  ['a database that cannot be opened', errors.databaseUnavailable('wrong password')],
  ['nothing', undefined],
])('does not take %s for transient', (_, error) => {
  expect(isTransientStorageError(error)).toBe(false);
});
