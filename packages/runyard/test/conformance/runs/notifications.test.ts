import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { InProcessNotifications } from '../../../src/core/runs/notifications/in-process-notifications.js';
import type { RunHint, RunNotifications } from '../../../src/core/runs/notifications/run-notifications.js';
import { PostgresNotifications } from '../../../src/platform/storage/postgres/notifications.js';
import { type DatabasePlace, freshPostgres } from '../../support/databases.js';
import { redisServer } from '../../support/redis.js';
import { ServerBetween } from '../../support/server-between.js';

/** A subscriber that records what it receives. It sends until it receives its own: a connection may be on its way. */
async function hearing(notifications: RunNotifications) {
  const heard: string[] = [];
  const end = notifications.subscribe(({ kind, runId }) => void heard.push(`${kind} ${runId}`));
  await expect
    .poll(() => {
      notifications.publish({ kind: 'queued', runId: 'hello' });
      return heard;
    })
    .toContain('queued hello');
  return { heard, end };
}

const hint: RunHint = { kind: 'cancel_requested', runId: 'run-1' };

/** The promises of `RunNotifications`; `replicas` makes what two processes have that share a database. */
function keepsItsPromises(replicas: () => Promise<readonly [RunNotifications, RunNotifications]>): void {
  it('notifies every subscriber of every process, until the subscription ends', async () => {
    const [one, other] = await replicas();
    const [here, there, second] = [await hearing(one), await hearing(other), await hearing(other)];
    one.publish(hint);
    for (const { heard } of [here, there, second])
      await expect.poll(() => heard).toContain('cancel_requested run-1');
    second.end();
    other.publish({ kind: 'claimed', runId: 'run-2' });
    for (const { heard } of [here, there]) await expect.poll(() => heard).toContain('claimed run-2');
    expect(second.heard).not.toContain('claimed run-2');
  });

  it('delivers hints to all subscribers when one throws, and throws nothing itself', async () => {
    const [one, other] = await replicas();
    other.subscribe(() => {
      throw new Error('a broken listener');
    });
    const { heard } = await hearing(other);
    one.publish(hint);
    await expect.poll(() => heard).toContain('cancel_requested run-1');
  });
}

describe('in process', () => {
  keepsItsPromises(async () => {
    const notifications = new InProcessNotifications();
    return [notifications, notifications];
  });
});

describe('on postgres', () => {
  it('keeps no process whose server does not answer once it is closed', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    onTestFinished(() => void silent.close());
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const open = () => process.getActiveResourcesInfo().filter((one) => one === 'TCPSocketWrap').length;
    const before = open();
    const notifications = new PostgresNotifications(
      () => `postgres://x@127.0.0.1:${port}/x`,
      async () => {},
    );
    const connected = once(silent, 'connection') as Promise<[Socket]>;
    notifications.subscribe(() => {});
    const [accepted] = await connected;
    accepted.unref();
    expect(open()).toBe(before + 1);
    notifications.close();
    expect(open()).toBe(before);
    accepted.destroy();
  });

  async function processesOf(place: DatabasePlace) {
    const databases = [await place.openUnprepared(), await place.openUnprepared()];
    return [databases[0]!.notifications, databases[1]!.notifications] as const;
  }

  keepsItsPromises(async () => processesOf(await freshPostgres()));

  it('receives again after its connection broke', async () => {
    const place = await freshPostgres();
    const [one, other] = await processesOf(place);
    const both = [await hearing(one), await hearing(other)];
    const client = new pg.Client({ connectionString: place.url });
    await client.connect();
    const { rowCount } = await client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE query = 'LISTEN runyard_' || md5(current_schema())`,
    );
    await client.end();
    expect(rowCount).toBe(2);
    await expect
      .poll(() => {
        one.publish(hint);
        return both.every(({ heard }) => heard.includes('cancel_requested run-1'));
      })
      .toBe(true);
  });

  it('does not receive those of another schema', async () => {
    const [one] = await processesOf(await freshPostgres());
    const [foreign] = await processesOf(await freshPostgres());
    const { heard } = await hearing(one);
    foreign.publish(hint);
    await hearing(foreign);
    one.publish({ kind: 'queued', runId: 'last' });
    await expect.poll(() => heard).toContain('queued last');
    expect(heard).not.toContain('cancel_requested run-1');
  });
});

describe('on redis', () => {
  async function processesOf(place: DatabasePlace, redis: readonly [string, string]) {
    const [one, other] = [await place.openUnprepared(redis[0]), await place.openUnprepared(redis[1])];
    return [one.notifications, other.notifications] as const;
  }

  const both = () => [redisServer(), redisServer()] as const;

  keepsItsPromises(async () => processesOf(await freshPostgres(), both()));

  it('does not receive those of another database', async () => {
    const [one] = await processesOf(await freshPostgres(), both());
    const [foreign] = await processesOf(await freshPostgres(), both());
    const { heard } = await hearing(one);
    foreign.publish(hint);
    await hearing(foreign);
    one.publish({ kind: 'queued', runId: 'last' });
    await expect.poll(() => heard).toContain('queued last');
    expect(heard).not.toContain('cancel_requested run-1');
  });

  it('sends a hint once', async () => {
    const [one, other] = await processesOf(await freshPostgres(), both());
    await hearing(one);
    const { heard } = await hearing(other);
    one.publish(hint);
    for (let number = 1; number <= 3; number++) {
      one.publish({ kind: 'queued', runId: `later ${number}` });
      await expect.poll(() => heard).toContain(`queued later ${number}`);
    }
    expect(heard.filter((one) => one === 'cancel_requested run-1')).toHaveLength(1);
  });

  describe.each([
    ['ended', (between: ServerBetween) => between.refuse()],
    ['gone silent', async (between: ServerBetween) => between.silence()],
  ] as const)('to a process for which Redis has %s', (_how, lose) => {
    it('hints come and go through PostgreSQL, and through Redis when it is back', async () => {
      const between = await ServerBetween.before(redisServer());
      const place = await freshPostgres();
      const [one, cut] = [await place.openUnprepared(redisServer()), await place.openUnprepared(between.url)];
      const [here, there] = [await hearing(one.notifications), await hearing(cut.notifications)];
      const reached = () => cut.redis?.connection.isReachable;
      await lose(between);
      await expect.poll(reached).toBe(false);
      for (const [from, heard] of [
        [one, there.heard],
        [cut, here.heard],
      ] as const)
        await expect
          .poll(() => {
            from.notifications.publish({ kind: 'claimed', runId: 'meanwhile' });
            return heard;
          })
          .toContain('claimed meanwhile');
      await between.open();
      await expect.poll(reached).toBe(true);
      cut.notifications.publish(hint);
      await expect.poll(() => here.heard).toContain('cancel_requested run-1');
    });
  });
});
