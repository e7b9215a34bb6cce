import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { createClient, NetworkError, RateLimitError, UnavailableError } from '../src/index.js';
import { frame, stream } from './support/scripted-service.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: 0 });
  // the longest waits of those that are chosen at random
  vi.spyOn(Math, 'random').mockReturnValue(1);
  onTestFinished(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });
});

/** A client of a service that responds like this, and the times of its requests. */
function timed(
  respond: (count: number) => Response,
  options: { reconnectMs?: number; retries?: number } = {},
) {
  const times: number[] = [];
  const fetch: typeof globalThis.fetch = async () => {
    times.push(Date.now());
    return respond(times.length);
  };
  return { times, client: createClient({ baseUrl: 'http://service', fetch, ...options }) };
}

const away = () => {
  throw new TypeError('fetch failed');
};

async function ended<T>(work: Promise<T>): Promise<unknown> {
  const outcome = work.catch((error: unknown) => error);
  await vi.runAllTimersAsync();
  return outcome;
}

test('a request is repeated after waits that double', async () => {
  const { client, times } = timed(away);
  expect(await ended(client.agents.list())).toBeInstanceOf(NetworkError);
  expect(times).toEqual([0, 250, 750, 1750]);
});

test('the number of repetitions is that of the call, or else of the client', async () => {
  const { client, times } = timed(away, { retries: 1 });
  await ended(client.agents.list());
  expect(times).toHaveLength(2);
  await ended(client.agents.list({ retries: 2 }));
  expect(times).toHaveLength(5);
  await ended(client.agents.run('a', { message: 'Hello' }));
  expect(times).toHaveLength(7);
});

test('a stream tries every five seconds at least, until its time is over', async () => {
  const { client, times } = timed(away, { reconnectMs: 20_000 });
  expect(await ended(client.agents.follow('a', 'r').result())).toBeInstanceOf(NetworkError);
  expect(times).toEqual([0, 250, 750, 1750, 3750, 7750, 12_750, 17_750, 22_750]);
});

test('a stream that had connected has its whole time again, and begins with short waits', async () => {
  const { client, times } = timed(
    (count) => (count === 5 ? new Response(frame(0, 'RunStarted'), { headers: stream }) : away()),
    { reconnectMs: 5000 },
  );
  expect(await ended(client.agents.follow('a', 'r').result())).toBeInstanceOf(NetworkError);
  expect(times.slice(0, 5)).toEqual([0, 250, 750, 1750, 3750]);
  expect(times.slice(5).map((time) => time - 3750)).toEqual([250, 750, 1750, 3750, 7750]);
});

test.each([
  [429, '7', 7000],
  [503, '60', 60_000],
  [502, new Date(9000).toUTCString(), 9000],
  [504, '0', 0],
])('%i with retry-after %s is repeated then', async (status, value, afterMs) => {
  const { client, times } = timed((count) =>
    count === 1 ? new Response(null, { status, headers: { 'retry-after': value } }) : Response.json([]),
  );
  expect(await ended(client.agents.list())).toEqual([]);
  expect(times).toEqual([0, afterMs + 250]);
});

test.each([
  [429, '61', RateLimitError],
  [503, new Date(61_000).toUTCString(), UnavailableError],
])('%i with retry-after %s is given up at once', async (status, value, kind) => {
  const { client, times } = timed(() => new Response(null, { status, headers: { 'retry-after': value } }));
  expect(await ended(client.agents.list())).toBeInstanceOf(kind);
  expect(times).toEqual([0]);
});

test('a stream waits as long as the service asks, within its time', async () => {
  const respond = (count: number) =>
    count === 1 ? new Response(null, { status: 503, headers: { 'retry-after': '300' } }) : away();
  const { client, times } = timed(respond);
  await ended(client.agents.follow('a', 'r').result());
  expect(times.slice(0, 2)).toEqual([0, 300_250]);
  const hasty = timed(respond, { reconnectMs: 299_000 });
  expect(await ended(hasty.client.agents.follow('a', 'r').result())).toBeInstanceOf(UnavailableError);
  expect(hasty.times).toHaveLength(1);
});
