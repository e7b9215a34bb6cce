import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPair } from '../../../../scripts/lib/postgres.mjs';
import { agent } from '../../src/index.js';
import { openaiApi } from '../../src/interfaces.js';
import { RunLife } from '../support/components/run-life.js';
import { ScriptBook } from '../support/providers/script-book.js';
import { ServerBetween } from '../support/server-between.js';
import { startService, type TestService } from '../support/service.js';
import { gate, until } from '../support/until.js';

/** A primary and its standby. The tests follow each other: the last one ends the primary. */
let pair: Awaited<ReturnType<typeof startPair>>;

beforeAll(async () => {
  pair = await startPair(new AbortController().signal, { shared_buffers: '16MB' });
  // from now on, what was acknowledged is on both
  await on(pair.primary, `ALTER SYSTEM SET synchronous_standby_names = '*'`);
  await on(pair.primary, 'SELECT pg_reload_conf()');
  await until('the standby is synchronous', async () => {
    const [row] = await on(pair.primary, 'SELECT sync_state FROM pg_stat_replication');
    return row?.sync_state === 'sync';
  });
});

afterAll(async () => {
  await pair?.standby.stop();
  await pair?.primary.stop();
});

async function on({ url }: { readonly url: string }, sql: string): Promise<pg.QueryResultRow[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

function serviceAt(database: string, book: ScriptBook, more: object = {}): Promise<TestService> {
  return startService({
    database,
    autoMigrate: true,
    leaseMs: 2_000,
    agents: [agent({ id: 'a', model: book.model })],
    ...more,
  });
}

const linesOf = ({ logged }: TestService, text: string) =>
  logged.filter(({ message }) => message.includes(text));
const sessions = async (service: TestService) => (await service.get('/sessions?type=agent')).body?.data ?? [];

test('lists are read from a replica, and from the primary while it is behind or away', async () => {
  const { primary, standby } = pair;
  const replica = await ServerBetween.before(standby.url);
  const book = new ScriptBook();
  const service = await serviceAt(primary.url, book, {
    databaseReplicaUrl: replica.url,
    interfaces: [openaiApi()],
  });
  await service.run('a', { message: 'x', session_id: 'replicated' });
  const listed = `SELECT query FROM pg_stat_activity WHERE query LIKE '%from "sessions"%' AND pid <> pg_backend_pid()`;
  await until('a list is read there', async () => {
    await sessions(service);
    return (await on(standby, listed)).length > 0;
  });
  expect(linesOf(service, 'lists are read from the replica')).not.toHaveLength(0);
  expect(service.app.settings.databaseReplicaUrl).toBe(replica.url);

  await on(standby, 'SELECT pg_wal_replay_pause()');
  const { body } = await service.run('a', { message: 'y', session_id: 'not there' });
  // what a caller asks for by its id is never too old
  expect((await service.get(`/agents/a/runs/${body.run_id}`)).status).toBe(200);
  // nor what a request is answered with
  let previous: string | undefined;
  for (const input of ['one', 'two', 'three']) {
    const response = await fetch(`${service.url}/v1/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'a', input, previous_response_id: previous }),
    });
    expect(response.status).toBe(200);
    previous = ((await response.json()) as { id: string }).id;
  }
  const asked = book.model.requests.at(-1)?.messages.filter(({ role }) => role === 'user');
  expect(asked?.map(({ content }) => content)).toEqual(['one', 'two', 'three']);
  await until('the list is not older than the bound', async () =>
    (await sessions(service)).some((one: { session_id: string }) => one.session_id === 'not there'),
  );
  expect(linesOf(service, 'the replica is not used')).not.toHaveLength(0);
  await on(standby, 'SELECT pg_wal_replay_resume()');
  const used = () => linesOf(service, 'lists are read from the replica').length;
  const before = used();
  await until('it is used again', () => used() > before);

  replica.silence();
  for (let times = 0; times < 5; times += 1) expect((await sessions(service)).length).toBe(3);
});

test('leaves a server that takes no writes, and comes back when it does', async () => {
  const { primary, standby } = pair;
  const between = await ServerBetween.before(primary.url);
  const service = await serviceAt(between.url, new ScriptBook());
  expect((await service.run('a', { message: 'x' })).status).toBe(200);
  const [{ here }] = (await on(primary, connected)) as [{ here: number }];
  expect(here).toBeGreaterThan(0);

  // fenced, as before a switch-over: the connections lead to what was the primary
  between.leadTo(standby.url);
  await on(primary, 'ALTER SYSTEM SET default_transaction_read_only = on');
  await on(primary, 'SELECT pg_reload_conf()');
  const refused = await until('a write is refused', async () => {
    const answer = await service.run('a', { message: 'x' });
    return answer.status === 503 && answer;
  });
  expect(refused.body.error_code).toBe('database_unavailable');
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
  await until('no connection leads to it', async () => {
    await service.run('a', { message: 'x' });
    const [row] = await on(primary, connected);
    return row?.here === 0;
  });
  // a standby still answers reads
  await until('reads are answered', async () => (await sessions(service)).length > 0);

  await on(primary, 'ALTER SYSTEM RESET default_transaction_read_only');
  await on(primary, 'SELECT pg_reload_conf()');
  between.leadTo(primary.url);
  await until('it writes again', async () => (await service.run('a', { message: 'x' })).status === 200);
});

/** How many connections lead to a server, but for that of this query and those that listen. */
const connected = `SELECT count(*)::int AS here FROM pg_stat_activity
  WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND query NOT LIKE 'LISTEN%'`;

test('a service that starts on a standby refuses runs before it calls a model, and executes them once it is led to a primary', async () => {
  const { primary, standby } = pair;
  const between = await ServerBetween.before(standby.url);
  const book = new ScriptBook();
  const service = await serviceAt(between.url, book);
  const begun = performance.now();
  // longer than any pause after which a run is let through to find out
  for (let asked = 0; asked < 10 || performance.now() - begun < 3_000; asked += 1) {
    const answer = await service.run('a', { message: 'x' });
    expect([answer.status, answer.body.error_code]).toEqual([503, 'database_unavailable']);
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(book.model.requests).toEqual([]);
  expect((await sessions(service)).length).toBeGreaterThan(0);
  expect(linesOf(service, 'the database does not accept writes')).not.toHaveLength(0);

  between.leadTo(primary.url);
  await until('it writes', async () => (await service.run('a', { message: 'x' })).status === 200);
});

test('runs in progress resume on the standby that is promoted, and nothing acknowledged is lost', async () => {
  const { primary, standby } = pair;
  const between = await ServerBetween.before(primary.url);
  const rest = gate();
  const book = new ScriptBook();
  const byProxy = await serviceAt(between.url, book);
  // the same servers by one URL
  const several = primary.url.replace(/@[^/]*/, (host) => `${host},${new URL(standby.url).host}`);
  const byHosts = await serviceAt(`${several}?target_session_attrs=read-write`, book);
  const onStandby = await serviceAt(standby.url, book);
  expect((await onStandby.run('a', { message: 'early' })).status).toBe(503);
  const messages = Array.from({ length: 20 }, (_, index) => `message ${index}`);
  for (const message of messages) {
    // a run whose lease ended in the outage calls its model once more
    const turn = { text: `done ${message}`, waitFor: rest.opened };
    book.write(message, turn, turn, turn, turn, turn);
  }
  const begun = await Promise.all(
    messages.map((message, index) =>
      (index % 2 === 0 ? byProxy : byHosts).run('a', { message, background: true }),
    ),
  );
  expect(new Set(begun.map(({ status }) => status))).toEqual(new Set([202]));
  await until('all models are called', () => book.model.requests.length >= messages.length);

  await primary.stop();
  rest.open();
  for (const service of [byProxy, byHosts]) {
    const refused = await until('the outage is noticed', async () => {
      const answer = await service.run('a', { message: 'new' });
      return answer.status !== 200 && answer;
    });
    expect([refused.status, refused.body.error_code]).toEqual([503, 'database_unavailable']);
  }
  await on(standby, 'SELECT pg_promote()');
  between.leadTo(standby.url);
  for (const service of [byProxy, byHosts]) {
    const life = new RunLife(service, 'a');
    for (const [index, { body }] of begun.entries())
      expect(await life.rested(body.run_id)).toMatchObject({
        status: 'completed',
        content: `done message ${index}`,
      });
    expect((await service.run('a', { message: 'after' })).status).toBe(200);
  }
  expect(book.requests('early')).toEqual([]);
  await until(
    'it writes to the server that it began with',
    async () => (await onStandby.run('a', { message: 'after' })).status === 200,
  );
});
