import { expect, onTestFinished, test, vi } from 'vitest';
import { agent } from '../../runyard/src/index.js';
import { Gatehouse } from '../../runyard/test/support/clients/tokens.js';
import { ScriptBook } from '../../runyard/test/support/providers/script-book.js';
import { startService } from '../../runyard/test/support/service.js';
import { gate } from '../../runyard/test/support/until.js';
import { AuthenticationError, createClient, RateLimitError, UnavailableError } from '../src/index.js';
import { frame, stream } from './support/scripted-service.js';

const book = new ScriptBook();
const clerk = agent({ id: 'clerk', model: book.model });

async function tokenOf(house: Gatehouse, claims: object): Promise<string> {
  const { headers } = await house.holder({ sub: 'ada', scopes: ['agents:run', 'agents:read'], ...claims });
  return headers.authorization!.slice('Bearer '.length);
}

test('a token is asked for once, and once more after it was refused', async () => {
  const house = await Gatehouse.open({ agents: [clerk] });
  const baseUrl = house.service.url;
  const old = await tokenOf(house, { exp: 1 });
  const fresh = await tokenOf(house, {});
  const given: string[] = [];
  const token = () => {
    given.push(given.length === 0 ? old : fresh);
    return Promise.resolve(given.at(-1)!);
  };
  const client = createClient({ baseUrl, token });
  const runs = ['Hello', 'Hello too'].map((message) => client.agents.run('clerk', { message }));
  expect((await Promise.all(runs)).map(({ status, user_id }) => [status, user_id])).toEqual([
    ['completed', 'ada'],
    ['completed', 'ada'],
  ]);
  expect(given).toEqual([old, fresh]);

  const refused = createClient({ baseUrl, token: () => old });
  await expect(refused.agents.list()).rejects.toThrow(AuthenticationError);
  await expect(createClient({ baseUrl, token: old }).agents.list()).rejects.toMatchObject({ status: 401 });
  expect(await createClient({ baseUrl, token: fresh }).agents.list()).toMatchObject([{ id: 'clerk' }]);
  const failure = new Error('logged out');
  const out = createClient({ baseUrl, token: () => Promise.reject(failure) });
  await expect(out.agents.list()).rejects.toBe(failure);
  let attempts = 0;
  const later = createClient({
    baseUrl,
    token: () => {
      attempts += 1;
      return attempts === 1 ? Promise.reject(failure) : Promise.resolve(fresh);
    },
  });
  await expect(later.agents.list()).rejects.toBe(failure);
  expect(await later.agents.list()).toMatchObject([{ id: 'clerk' }]);
});

test('a stream whose token expires continues with the next one', async () => {
  const house = await Gatehouse.open({ agents: [clerk], jwtLeewaySeconds: 0 });
  const more = gate();
  let asked = 0;
  const token = () => {
    asked += 1;
    if (asked > 1) more.open();
    return tokenOf(house, asked > 1 ? {} : { exp: Math.floor(Date.now() / 1000) + 5 });
  };
  const client = createClient({ baseUrl: house.service.url, token });
  const message = book.write('Long', { chunks: ['one', more.opened, 'two'] });
  const stream = client.agents.stream('clerk', { message });
  const indices: number[] = [];
  for await (const { event_index } of stream) indices.push(event_index);
  expect(indices).toEqual(indices.map((_index, at) => at));
  expect((await stream.result()).content).toBe('onetwo');
  expect(asked).toBe(2);
});

test('a client waits as long as a limit of the service says, and no longer than that is sensible', async () => {
  const { url } = await startService({ agents: [clerk], rateLimit: 60, rateLimitBurst: 1 });
  const statuses: number[] = [];
  const fetch: typeof globalThis.fetch = async (...words) => {
    const response = await globalThis.fetch(...words);
    statuses.push(response.status);
    return response;
  };
  const client = createClient({ baseUrl: url, fetch });
  await client.agents.list();
  await client.agents.list();
  expect(statuses[0]).toBe(200);
  expect(statuses.slice(1, -1).every((status) => status === 429)).toBe(true);
  expect(statuses.at(-1)).toBe(200);
  expect(statuses.length).toBeGreaterThan(2);

  const slow = await startService({ agents: [clerk], rateLimit: 1, rateLimitBurst: 1 });
  const hasty = createClient({ baseUrl: slow.url });
  await hasty.agents.list();
  const refusal = hasty.agents.list({ retries: 0 });
  await expect(refusal).rejects.toThrow(RateLimitError);
  await expect(refusal).rejects.toMatchObject({ retryAfterMs: 60_000, errorCode: 'rate_limited' });
  // nothing was sent again: this request changes something
  await expect(hasty.sessions.create({})).rejects.toThrow(RateLimitError);

  const away: typeof globalThis.fetch = () =>
    Promise.resolve(Response.json({ detail: 'Later' }, { status: 503, headers: { 'retry-after': '3600' } }));
  const patient = createClient({ baseUrl: url, fetch: away });
  await expect(patient.agents.list()).rejects.toThrow(UnavailableError);
});

test('a token may take longer than the service may be silent', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const given = [gate(), gate()];
  let asked = 0;
  const token = async () => {
    asked += 1;
    await given[asked - 1]!.opened;
    return `token ${asked}`;
  };
  const sent: (string | null)[] = [];
  const fetch: typeof globalThis.fetch = async (url, init) => {
    sent.push(new Headers(init?.headers).get('authorization'));
    if (sent.length === 1) return new Response(null, { status: 401 });
    if (String(url).endsWith('/r')) return Response.json({ run_id: 'r', status: 'completed' });
    return new Response(frame(0, 'RunStarted') + frame(1, 'RunCompleted'), { headers: stream });
  };
  const reasons: unknown[] = [];
  const onReconnect = (reason: unknown) => reasons.push(reason);
  const client = createClient({ baseUrl: 'http://service', fetch, token });
  const run = client.agents.follow('a', 'r', { onReconnect }).result();
  for (const { open } of given) {
    // a person looks for it
    await vi.advanceTimersByTimeAsync(3_600_000);
    open();
  }
  expect(await run).toMatchObject({ status: 'completed' });
  expect(reasons).toEqual([]);
  expect(sent).toEqual(['Bearer token 1', 'Bearer token 2', 'Bearer token 2']);
});
