// Writes runs, eight at a time, and prints the id of each one that is durable, until it is killed.
import { randomUUID } from 'node:crypto';
import { writeSync } from 'node:fs';

const built = (path) => import(new URL(`../../dist/${path}`, import.meta.url));
const { migrations } = await built('capabilities/capabilities.js');
const { openDatabase } = await built('platform/storage/open.js');
const { migrate } = await built('platform/storage/migrations/migrate.js');
const { RunStore } = await built('capabilities/runs/storage/store.js');

const [url, durability] = process.argv.slice(2);
const log = { debug() {}, info() {}, warn() {}, error() {} };
const database = await openDatabase({ id: 'test', url, durability, migrations, log });
await migrate(database);
const runs = new RunStore(database);

async function writeRuns() {
  for (;;) {
    const runId = randomUUID();
    const now = Date.now();
    const session = { sessionId: 's', kind: 'agent', componentId: 'a', userId: null, name: null, now };
    const input = { content: 'hello', media: [], options: { stream: false } };
    const names = {
      componentName: null,
      userId: null,
      parentRunId: null,
      model: null,
      modelProvider: null,
      lineage: null,
      traceParent: null,
    };
    const lease = { leaseOwner: null, leaseExpiresAt: null };
    const end = {
      status: 'completed',
      result: null,
      nextEventIndex: 1,
      updatedAt: now,
      wakeAt: null,
      definition: null,
      askers: [],
      ...lease,
    };
    const run = {
      runId,
      kind: 'agent',
      componentId: 'a',
      sessionId: 's',
      input,
      createdAt: now,
      attempt: 1,
      askers: [],
      ...names,
      ...end,
    };
    const step = (seq) => ({
      ...{
        runId,
        seq,
        key: `k${seq}`,
        kind: 'model',
        name: 'm',
        parentKey: null,
        status: 'completed',
        attempt: 1,
      },
      ...{ input: null, output: 'x'.repeat(2000), error: null, startedAt: now, endedAt: now },
    });
    const insert = { ...run, status: 'running', nextEventIndex: 0 };
    await runs.commit([{ runId, attempt: 1, session, insert, steps: [step(0)] }]);
    const events = { firstIndex: 0, count: 1, payload: 'y'.repeat(2000) };
    await runs.commit([{ runId, attempt: 1, update: end, steps: [step(1)], events }]);
    writeSync(1, `${runId}\n`);
  }
}

await Promise.all(Array.from({ length: 8 }, writeRuns));
