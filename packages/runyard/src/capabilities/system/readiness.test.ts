import { expect, onTestFinished, test, vi } from 'vitest';
import { gate } from '../../../test/support/until.js';
import { silentLog } from '../../core/log.js';
import { RunSlots } from '../../core/runs/leases/run-slots.js';
import type { DatabaseProbe } from '../../platform/storage/probe.js';
import { Readiness } from './readiness.js';

const slots = new RunSlots({ executing: 1, waiting: 1 });
const inOrder: DatabaseProbe = { schema: { current: 9, latest: 9, pending: [] }, readOnly: false };

/** A database that answers when it is let, and counts how often it was asked. */
function slowDatabase() {
  const answers = gate<DatabaseProbe>();
  const part = { databaseId: 'slow', asked: 0, engine: () => 'ok' as const, probe: () => probe() };
  const probe = () => {
    part.asked += 1;
    return answers.opened;
  };
  return { part, answer: () => answers.open(inOrder) };
}

test('concurrent requests query a database once, and so does one that follows within a second', async () => {
  // a slow machine takes longer than that for this test
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { part, answer } = slowDatabase();
  const readiness = new Readiness(silentLog);
  readiness.serve([part], slots);
  const asked = Array.from({ length: 1_000 }, () => readiness.report());
  answer();
  for (const { status } of await Promise.all(asked)) expect(status).toBe('ready');
  expect((await readiness.report()).status).toBe('ready');
  expect(part.asked).toBe(1);
});

test('a database that does not answer is unavailable, and not queried again before it has answered', async () => {
  const { part, answer } = slowDatabase();
  const readiness = new Readiness(silentLog);
  readiness.serve([part], slots);
  const states = async () => (await readiness.report()).checks.database.databases.slow;
  expect(await states()).toBe('unavailable');
  await expect.poll(states, { timeout: 20_000, interval: 1_100 }).toBe('unavailable');
  expect(part.asked).toBe(1);
  answer();
  await expect.poll(states, { timeout: 20_000 }).toBe('ok');
});

test('no database is queried before the service is open or once it stops', async () => {
  const { part } = slowDatabase();
  const readiness = new Readiness(silentLog);
  expect(await readiness.report()).toMatchObject({
    status: 'not_ready',
    checks: { database: { status: 'unknown', databases: {} }, stopping: { status: 'ok' } },
  });
  readiness.serve([part], slots);
  readiness.stop();
  expect(await readiness.report()).toMatchObject({ checks: { stopping: { status: 'failed' } } });
  expect(part.asked).toBe(0);
});
