import { expect, test } from 'vitest';
import { ComponentsService } from '../../src/capabilities/components/service.js';
import { RunSpaces } from '../../src/capabilities/runs/run-spaces.js';
import { continueRunForm, createRunForm } from '../../src/capabilities/runs/schema.js';
import { RunsService } from '../../src/capabilities/runs/service.js';
import { silentLog } from '../../src/core/log.js';
import { RunSlots } from '../../src/core/runs/run-slots.js';
import { administrator, person } from '../support/callers.js';
import { freshSqlite } from '../support/databases.js';
import { payCall, payingAgent } from '../support/run-life.js';
import { ScriptBook } from '../support/script-book.js';

const ada = person('ada');
const bob = person('bob');
const admin = administrator();

/** The rules without HTTP, for callers whom a token names. */
async function pausedRunOfAda() {
  const book = new ScriptBook();
  const { agent, paid } = payingAgent(book, 'a');
  const components = new ComponentsService({ agents: [agent] });
  const spaces = new RunSpaces({
    databases: [await (await freshSqlite()).open()],
    leaseMs: 60_000,
    log: silentLog,
    prices: {},
    traces: true,
    slots: new RunSlots({ executing: 10, waiting: 10 }),
    orphans: { components: () => components.keys(), endAfterMs: 0 },
    resolve: (run, state) => components.executableOf(run, state),
  });
  await spaces.open();
  const runs = new RunsService({ components, spaces, onDisconnect: 'continue', log: silentLog });
  book.write('pay', { toolCalls: [payCall(5)] }, { text: 'paid' });
  const form = createRunForm.parse({ message: 'pay', stream: 'false', run_id: 'r', session_id: 's' });
  const { run } = await runs.ended(await runs.create(ada, 'agent', 'a', form));
  expect(run).toMatchObject({ status: 'paused', userId: 'ada' });
  const answer = continueRunForm.parse({
    tools: JSON.stringify([{ tool_call_id: 'pay-5', confirmed: true }]),
    stream: 'false',
  });
  return { runs, paid, answer, stop: () => spaces.stop(0) };
}

const notFound = { status: 404, message: 'Run not found' };

test('what belongs to somebody else is not there', async () => {
  const { runs, paid, answer, stop } = await pausedRunOfAda();
  const place = { kind: 'agent', componentId: 'a', runId: 'r' } as const;
  await expect(runs.get(bob, 'agent', 'a', 'r')).rejects.toMatchObject(notFound);
  await expect(runs.continueRun(bob, 'agent', 'a', 'r', answer)).rejects.toMatchObject(notFound);
  await expect(runs.checkpoints(bob, place)).rejects.toMatchObject(notFound);
  await expect(runs.checkpoint(bob, place, 1)).rejects.toMatchObject(notFound);
  await expect(runs.forkSession(bob, 'agent', 'a', 's')).rejects.toMatchObject({ status: 400 });
  expect(await runs.follow(bob, 'agent', 'a', 'r', { after: -1 })).toBeUndefined();
  expect(await runs.componentOf(bob, 'agent', 'r')).toBeUndefined();
  for await (const seen of await runs.list(bob, 'agent', 'a', {})) expect(seen).toBeUndefined();
  await runs.cancel(bob, 'agent', 'a', 'r');
  const { run } = await runs.get(ada, 'agent', 'a', 'r');
  expect([run.status, paid]).toEqual(['paused', []]);
  await stop();
});

test('its owner, and whoever may act for everybody, go on with it as the same user', async () => {
  const { runs, paid, answer, stop } = await pausedRunOfAda();
  expect(await runs.componentOf(ada, 'agent', 'r')).toBe('a');
  const { run } = await runs.ended(await runs.continueRun(admin, 'agent', 'a', 'r', answer));
  expect(run).toMatchObject({ status: 'completed', userId: 'ada' });
  const copy = await runs.continueRun(admin, 'agent', 'a', 'r', continueRunForm.parse({ input: 'more' }));
  expect((await runs.ended(copy)).run).toMatchObject({ userId: 'ada', sessionId: 's' });
  expect((await runs.get(ada, 'agent', 'a', copy.handle.runId)).run.status).toBe('completed');
  expect(paid).toHaveLength(1);
  await stop();
});

test('a wish of somebody else does not end the run that comes later', async () => {
  const { runs, stop } = await pausedRunOfAda();
  await runs.cancel(bob, 'agent', 'a', 'later');
  const form = createRunForm.parse({ message: 'hello', stream: 'false', run_id: 'later' });
  const { run } = await runs.ended(await runs.create(ada, 'agent', 'a', form));
  expect(run.status).toBe('completed');
  await stop();
});
