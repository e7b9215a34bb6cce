import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startServer } from '../../../../test/support/clients/http-server.js';
import { SseClient } from '../../../../test/support/clients/sse-client.js';
import { until } from '../../../../test/support/until.js';
import { errors } from '../../../core/errors/errors.js';
import { anonymousCaller, type Caller } from '../../auth/caller.js';
import { defineRoute } from '../route.js';
import type { StreamEvent } from './event-reader.js';
import { eventStream } from './results.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

const ada: Caller = { ...anonymousCaller, userId: 'ada', proven: true };

/** A stream that says something once and then waits, and what the authenticator says of its caller from then on. */
async function openStream(caller: Caller) {
  let closed = () => {};
  const end = new Promise<null>((resolve) => {
    closed = () => resolve(null);
  });
  const first: StreamEvent = { index: 0, name: 'RunStarted', data: '{"event":"RunStarted"}' };
  const batches: (readonly StreamEvent[])[] = [[first]];
  const route = defineRoute({
    method: 'GET',
    path: '/events',
    operationId: 'events',
    scope: null,
    tag: 'Test',
    summary: 'x',
    responses: { 200: { events: 'Events.' } },
    handler: () => eventStream({ next: async () => batches.shift() ?? end, close: closed }),
  });
  const authenticator = { looks: 0, answer: (): Caller | Promise<Caller> => caller };
  const { url } = await startServer([route], {
    resolveCaller: async () => {
      authenticator.looks++;
      return authenticator.answer();
    },
  });
  const stream = new SseClient(await fetch(`${url}/events`));
  await stream.event('RunStarted');
  /** Lets the time pass until the authenticator was asked again. */
  const look = async () => {
    const before = authenticator.looks;
    await until('the authenticator is asked', () => {
      vi.advanceTimersByTime(1_000);
      return authenticator.looks > before;
    });
  };
  return { stream, authenticator, look };
}

const refusing = (error: Error) => () => {
  throw error;
};

test('a stream lasts while its token is valid or cannot be checked, and ends when it is refused', async () => {
  const { stream, authenticator, look } = await openStream(ada);
  await look();
  for (const error of [
    errors.authenticationUnavailable(),
    errors.databaseUnavailable('away'),
    new Error('?'),
  ]) {
    authenticator.answer = refusing(error);
    await look();
  }
  authenticator.answer = () => ada;
  await look();
  expect(stream.names).toEqual(['RunStarted']);
  authenticator.answer = refusing(errors.tokenExpired());
  await look();
  await stream.end();
  expect(stream.frames.at(-1)).toMatchObject({ event: 'error', payload: { error_code: 'token_expired' } });
});

test('a stream ends when its token has become that of another user', async () => {
  const { stream, authenticator, look } = await openStream(ada);
  authenticator.answer = () => ({ ...ada, userId: 'eve' });
  await look();
  await stream.end();
  expect(stream.frames.at(-1)!.event).toBe('error');
});

test('the stream of an anonymous caller is not checked again', async () => {
  const { authenticator } = await openStream(anonymousCaller);
  vi.advanceTimersByTime(60_000);
  expect(authenticator.looks).toBe(1);
});

test('while a check of the caller takes its time, no other begins', async () => {
  const { stream, authenticator, look } = await openStream(ada);
  let answered = (_: Caller): void => {};
  const slow = new Promise<Caller>((resolve) => {
    answered = resolve;
  });
  authenticator.answer = () => slow;
  await look();
  const before = authenticator.looks;
  vi.advanceTimersByTime(20_000);
  expect(authenticator.looks).toBe(before);
  answered({ ...ada, userId: 'eve' });
  await stream.end();
  expect(stream.frames.at(-1)!.event).toBe('error');
});
