import { expect, it, onTestFinished, test, vi } from 'vitest';
import { newId } from '../../src/core/ids.js';
import { Runyard } from '../../src/index.js';
import { type LogLine, recordingLog } from '../support/clients/http-server.js';
import { freshPostgres } from '../support/databases.js';
import { openRedis, redisServer } from '../support/redis.js';
import { ServerBetween } from '../support/server-between.js';

test('a service that stores in SQLite alone refuses a Redis and says why', async () => {
  const app = new Runyard({ database: 'sqlite:unused.db', redis: 'redis://:hidden@127.0.0.1:1/0' });
  const refused = app.listen();
  await expect(refused).rejects.toThrow(/redis.*PostgreSQL.*SQLite alone/);
  await expect(refused).rejects.not.toThrow(/hidden/);
});

test('all processes of a database use the same names, and those of another database others', async () => {
  const [place, foreign] = [await freshPostgres(), await freshPostgres()];
  const nameOf = async (one: typeof place) =>
    (await one.openUnprepared(redisServer())).redis?.name('events', 'run');
  const name = await nameOf(place);
  expect(name).toMatch(/^runyard:\{[0-9a-f]{32}\}:events:run$/);
  expect(await nameOf(place)).toBe(name);
  expect(await nameOf(foreign)).not.toBe(name);
});

it('opens where nothing is, says so once and without the password, and connects later', async () => {
  const between = await ServerBetween.before(redisServer());
  await between.refuse();
  const logged: LogLine[] = [];
  const url = new URL(between.url);
  const connection = await openRedis(url.href, recordingLog(logged));
  expect(connection.isReachable).toBe(false);
  expect(logged).toMatchObject([
    { level: 'warn', fields: { reason: expect.stringContaining('ECONNREFUSED') } },
  ]);
  await expect(connection.client.ping()).rejects.toThrow();
  await between.open();
  await expect.poll(() => connection.isReachable).toBe(true);
  expect(logged.map(({ level }) => level)).toEqual(['warn', 'info']);
});

it('names what is wrong with a user, and never the password', async () => {
  const url = new URL(redisServer());
  url.username = 'nobody-of-this-name';
  url.password = 'hidden';
  const logged: LogLine[] = [];
  const connection = await openRedis(url.href, recordingLog(logged));
  expect(connection.isReachable).toBe(false);
  expect(logged).toMatchObject([{ fields: { reason: expect.stringContaining('WRONGPASS') } }]);
  expect(JSON.stringify(logged)).not.toContain('hidden');
});

it('logs once, and not to the console, that a server needs no password', async () => {
  const written = vi.spyOn(console, 'warn').mockReturnValue();
  onTestFinished(() => written.mockRestore());
  const between = await ServerBetween.before(redisServer());
  const url = new URL(between.url);
  url.password = 'hidden';
  const logged: LogLine[] = [];
  const connection = await openRedis(url.href, recordingLog(logged));
  expect(connection.isReachable).toBe(true);
  between.breakAll();
  const lines = (text: string) => logged.filter(({ message }) => message.includes(text));
  // a slow machine may lose it more than once
  await expect.poll(() => lines('Redis is back').length).toBeGreaterThan(0);
  expect(lines('needs no password')).toMatchObject([{ level: 'warn' }]);
  expect(JSON.stringify(logged)).not.toContain('hidden');
  expect(written).not.toHaveBeenCalled();
});

it('listens to its channels again after its connections broke', async () => {
  const between = await ServerBetween.before(redisServer());
  const connection = await openRedis(between.url);
  const channel = `test:${Math.random()}`;
  const heard: string[] = [];
  await connection.listen(channel, (message) => void heard.push(message)).begun;
  const { client } = await openRedis();
  expect(await client.publish(channel, 'before')).toBe(1);
  between.breakAll();
  await expect
    .poll(async () => {
      await client.publish(channel, 'after');
      return heard;
    })
    .toContain('after');
});

it('does not use a server that refuses writes, and looks for another one on new connections', async () => {
  const { client: admin } = await openRedis();
  const user = `writer-${newId()}`;
  await admin.call('ACL', 'SETUSER', user, 'on', '>word', '~*', '&*', '+@all');
  onTestFinished(async () => void (await admin.call('ACL', 'DELUSER', user)));
  const url = new URL(redisServer());
  url.username = user;
  url.password = 'word';
  const logged: LogLine[] = [];
  const connection = await openRedis(url.href, recordingLog(logged));
  expect(connection.isReachable).toBe(true);
  const connectionsOf = async () =>
    String(await admin.call('CLIENT', 'LIST'))
      .split('\n')
      .flatMap((line) => (line.includes(`user=${user} `) ? (/^id=(\d+)/.exec(line)?.[1] ?? []) : []));
  const before = await connectionsOf();
  expect(before).toHaveLength(2);
  await admin.call('ACL', 'SETUSER', user, '-set');
  await expect.poll(() => connection.isReachable).toBe(false);
  await expect
    .poll(async () => {
      const now = await connectionsOf();
      return now.length === 2 && !now.some((id) => before.includes(id));
    })
    .toBe(true);
  const warnings = logged.filter(({ level }) => level === 'warn');
  expect(warnings).toMatchObject([{ fields: { reason: expect.stringContaining('NOPERM') } }]);
  await admin.call('ACL', 'SETUSER', user, '+set');
  await expect.poll(() => connection.isReachable).toBe(true);
});
