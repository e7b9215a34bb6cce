import { expect, test } from 'vitest';
import { errors } from '../errors/errors.js';
import { reasonOf } from '../errors/reason.js';
import { ModelError } from '../models/model-error.js';
import { RunFailed } from './executable.js';
import { failureOf } from './run-failure.js';

const error = (message: string, fields: object = {}) => Object.assign(new Error(message), fields);

const unreachable: Record<string, Error> = {
  'a refused connection': error('connect ECONNREFUSED 10.0.0.5:5432', { code: 'ECONNREFUSED' }),
  'a name that nobody knows': error('getaddrinfo ENOTFOUND db.intern', { code: 'ENOTFOUND' }),
  'words of the system in those of a driver': error('Redis: connect ECONNREFUSED 10.0.0.5:6379'),
  'several addresses': new AggregateError(
    [error('connect ECONNREFUSED ::1:5432', { code: 'ECONNREFUSED' })],
    '',
  ),
  'a fetch': new TypeError('fetch failed', {
    cause: error('x 10.0.0.5', { code: 'UND_ERR_CONNECT_TIMEOUT' }),
  }),
  'a database that stops': error('terminating at 10.0.0.5', { code: '57P01', severity: 'FATAL' }),
  'a connection that ended': error('Connection terminated unexpectedly'),
  'a busy file': error('database is locked: /data/x.db', { code: 'ERR_SQLITE_ERROR', errcode: 5 }),
};

test.each(Object.entries(unreachable))('%s is hidden as something that could not be reached', (_, thrown) => {
  const { type, message } = failureOf(thrown);
  expect({ type, message }).toEqual({
    type: 'service_unavailable',
    message: 'A resource that the run needs could not be reached. Run it again.',
  });
  expect(reasonOf(thrown)).toMatch(/^a resource that it needs could not be reached/);
  expect(reasonOf(thrown)).not.toMatch(/10\.0\.0\.5|intern|::1|data/);
});

const refused: Record<string, Error> = {
  'a statement': error('relation "secret_orders" does not exist', { code: '42P01', severity: 'ERROR' }),
  'a file': error("ENOENT: no such file, open '/etc/secret'", { code: 'ENOENT', syscall: 'open' }),
  'a full disk': error('secret disk is full', { code: 'ERR_SQLITE_ERROR', errcode: 13 }),
  'a MySQL statement': error("Table 'secret' ...", { code: 'ER_NO_SUCH_TABLE', sqlMessage: 'secret' }),
};

test.each(Object.entries(refused))('the words of a driver about %s are hidden', (_, thrown) => {
  expect(failureOf(thrown).type).toBe('internal_error');
  expect(failureOf(thrown).message + reasonOf(thrown)).not.toContain('secret');
});

test('what the application says is shown, and a code keeps its meaning', () => {
  expect(failureOf(new Error('Order 17 not found'))).toEqual({
    type: 'Error',
    message: 'Order 17 not found',
  });
  expect(failureOf(new RangeError('')).message).toBe('RangeError');
  expect(failureOf(error('no such order', { code: 'ORDER' }))).toMatchObject({ message: 'no such order' });
  expect(failureOf(error('the order EXPRESS 17 is late'))).toMatchObject({ type: 'Error' });
  expect(failureOf(errors.runNotFound())).toEqual({ type: 'run_not_found', message: 'Run not found' });
  expect(failureOf(new RunFailed({ type: 't', id: 'i', message: 'm' }))).toEqual({
    type: 't',
    id: 'i',
    message: 'm',
  });
  const model = new ModelError('no credit', { provider: 'p', kind: 'refused', status: 402 });
  expect(failureOf(model)).toMatchObject({
    type: 'model_provider_error',
    additionalData: { provider_status: 402 },
  });
});

class Unreadable extends Error {
  override get message(): string {
    throw new Error('no');
  }
}
const trap = () => {
  throw new Error('trap');
};

test.each<[string, unknown, string]>([
  ['nothing', undefined, 'it threw undefined instead of an Error'],
  ['null', null, 'it threw null instead of an Error'],
  ['a text', 'words', 'words'],
  ['a symbol', Symbol('x'), 'it threw Symbol(x) instead of an Error'],
  ['an object without prototype', Object.create(null), 'it threw an object instead of an Error'],
  ['a frozen object', Object.freeze({ message: 'frozen' }), 'frozen'],
  ['an object whose toString throws', { toString: trap }, 'it threw an object instead of an Error'],
  ['a proxy', new Proxy({}, { get: trap, getPrototypeOf: trap }), 'it threw an object instead of an Error'],
  ['an error that cannot be read', new Unreadable(), 'it threw an object instead of an Error'],
])('%s that is thrown becomes a failure that can be read', (_, thrown, message) => {
  expect(failureOf(thrown)).toEqual({ type: 'Error', message });
});
