import { expect, it, onTestFinished } from 'vitest';
import { McpSessionsService, newMcpSession } from '../../../src/capabilities/mcp-sessions/service.js';
import { McpSessionStore } from '../../../src/capabilities/mcp-sessions/store.js';
import { RetentionService } from '../../../src/capabilities/retention/service.js';
import { silentLog } from '../../../src/core/log.js';
import { anonymousCaller } from '../../../src/platform/auth/caller.js';
import { systemTimers } from '../../../src/platform/engine/local/timers.js';
import type { Database } from '../../../src/platform/storage/database.js';
import { forEachDatabase } from '../../support/databases.js';

const hour = 3_600_000;
const ada = { ...anonymousCaller, userId: 'ada' };
const served = { receive() {}, lose() {} };

function serviceOver(database: Database): McpSessionsService {
  const service = new McpSessionsService(database, { leaseMs: 30_000 });
  onTestFinished(() => service.requests.close());
  return service;
}

async function sweptAt(database: Database, at: number): Promise<void> {
  const settings = { eventRetentionHours: 24, traceRetentionDays: 30, mcpSessionHours: 168 };
  const timers = { ...systemTimers, now: () => at };
  const retention = new RetentionService(database, { settings, timers, log: silentLog });
  await retention.sweep();
  await retention.end();
}

forEachDatabase((_dialect, freshPlace) => {
  it('removes sessions that are not used, and requests that nobody resumes', async () => {
    const database = await (await freshPlace()).open();
    const service = serviceOver(database);
    const session = newMcpSession(ada, [{ method: 'initialize' }]);
    await service.begin(session);
    const { sessionId } = session;
    const request = (requestKey: string) => ({
      requestKey,
      sessionId,
      messageId: '1',
      message: '{}',
      runId: `run of ${requestKey}`,
    });
    await service.requests.add(request('answered'), [{ position: 1, message: '{"a":1}' }], served);
    await service.requests.append('answered', [{ position: 2, message: '{"a":2}' }], true);
    // what is answered takes no more, and is not the one that a client cancels
    const late = [{ position: 3, message: '{"a":3}' }];
    expect(await service.requests.append('answered', late, true)).toBe(false);
    expect(await service.requests.openRequest(sessionId, '1')).toBeUndefined();
    await service.requests.add(request('held'), [], served);
    expect(await service.requests.openRequest(sessionId, '1')).toBe('held');
    expect(await service.requests.find('held', 'another session')).toBeUndefined();
    const there = async (requestKey: string) =>
      (await service.requests.find(requestKey, sessionId)) !== undefined;

    const now = Date.now();
    await sweptAt(database, now + 23 * hour);
    expect([await there('answered'), await there('held')]).toEqual([true, true]);
    expect(await service.requests.events('answered', 0)).toHaveLength(2);
    // its lease has ended by then, too
    await sweptAt(database, now + 25 * hour);
    expect([await there('answered'), await there('held')]).toEqual([false, false]);
    expect(await service.requests.events('answered', 0)).toEqual([]);
    expect(await service.find(ada, sessionId)).toMatchObject({ handshake: [{ method: 'initialize' }] });
    expect(await service.find(anonymousCaller, sessionId)).toBeUndefined();
    await sweptAt(database, now + 169 * hour);
    expect(await service.find(ada, sessionId)).toBeUndefined();
  });

  it('lets as many messages wait for a request as it may, however many arrive at once', async () => {
    const database = await (await freshPlace()).open();
    const session = newMcpSession(ada, []);
    await serviceOver(database).begin(session);
    const { sessionId } = session;
    const store = new McpSessionStore(database);
    const request = { requestKey: 'key', sessionId, messageId: '1', message: '{}', runId: 'run' };
    await store.insertRequest(request, 'a process elsewhere', 60_000, []);
    const arrived = Array.from({ length: 130 }, (_, n) => store.leave(sessionId, 'key', `${n}`, '{}'));
    expect((await Promise.all(arrived)).filter((left) => left)).toHaveLength(100);
    expect((await countOf(database)).rows).toBe(100);
    expect(await store.leave(sessionId, 'another key', 'x', '{}')).toBe(false);
    expect(await store.leave('another session', 'key', 'x', '{}')).toBe(false);
  });

  it('lets one process serve a request, and bounds the messages that wait for it', async () => {
    const place = await freshPlace();
    const database = await place.open();
    const [one, two] = [serviceOver(database), serviceOver(database)];
    const session = newMcpSession(ada, []);
    await one.begin(session);
    const { sessionId } = session;
    const requestKey = 'key';
    const request = { requestKey, sessionId, messageId: '1', message: '{}', runId: 'run' };
    expect(await one.requests.add(request, [], served)).toBe(true);
    const found = await two.requests.find(requestKey, sessionId);
    expect(found && (await two.requests.takeOver(found, served))).toBeUndefined();
    await Promise.all(Array.from({ length: 105 }, (_, n) => two.requests.leave(sessionId, requestKey, n)));
    await one.requests.release(requestKey);
    expect(await one.requests.append(requestKey, [{ position: 1, message: '{}' }], true)).toBe(false);
    const free = await two.requests.find(requestKey, sessionId);
    expect(free && (await two.requests.takeOver(free, served))).toBe(0);
    // what was free is not any longer
    expect(free && (await one.requests.takeOver(free, served))).toBeUndefined();
    const { rows } = await countOf(database);
    expect(rows).toBeLessThanOrEqual(100);
    // a session that has ended takes no requests
    expect(await one.end(sessionId)).toBe(true);
    expect(await one.find(ada, sessionId)).toBe('ended');
    expect(await one.requests.find(requestKey, sessionId)).toBeUndefined();
    expect(await one.requests.add({ ...request, requestKey: 'later' }, [], served)).toBe(false);
  });
});

async function countOf(database: Database): Promise<{ rows: number }> {
  const { count } = await database.query
    .selectFrom('mcp_inbox')
    .select((select) => select.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return { rows: Number(count) };
}
