import { expect, test } from 'vitest';
import { continueRunForm, createRunForm } from '../../../src/capabilities/runs/schema.js';
import { administrator, person } from '../../support/clients/callers.js';
import { payCall, payingAgent } from '../../support/components/run-life.js';
import { freshSqlite } from '../../support/databases.js';
import { openOver } from '../../support/open-services.js';
import { ScriptBook } from '../../support/providers/script-book.js';

const ada = person('ada');
const bob = person('bob');
const admin = administrator();
const component = { kind: 'agent', componentId: 'a' } as const;
const place = { ...component, runId: 'r' };

/** The rules without HTTP, for callers whom a token names. */
async function pausedRunOfAda() {
  const book = new ScriptBook();
  const { agent, paid } = payingAgent(book, 'a');
  const { services } = await openOver(await (await freshSqlite()).open(), { agents: [agent] });
  const { runs } = services;
  book.write('pay', { toolCalls: [payCall(5)] }, { text: 'paid' });
  const form = createRunForm.parse({ message: 'pay', stream: 'false', run_id: 'r', session_id: 's' });
  const { run } = await runs.ended(await runs.create(ada, component, form));
  expect(run).toMatchObject({ status: 'paused', userId: 'ada' });
  const answer = continueRunForm.parse({
    tools: JSON.stringify([{ tool_call_id: 'pay-5', confirmed: true }]),
    stream: 'false',
  });
  return { runs, paid, answer };
}

const notFound = { status: 404, message: 'Run not found' };

test('a run of another user does not exist for the caller', async () => {
  const { runs, paid, answer } = await pausedRunOfAda();
  await expect(runs.get(bob, place)).rejects.toMatchObject(notFound);
  await expect(runs.continueRun(bob, place, answer)).rejects.toMatchObject(notFound);
  await expect(runs.checkpoints(bob, place)).rejects.toMatchObject(notFound);
  await expect(runs.checkpoint(bob, place, 1)).rejects.toMatchObject(notFound);
  await expect(runs.forkSession(bob, { ...component, sessionId: 's' })).rejects.toMatchObject({
    status: 400,
  });
  expect(await runs.follow(bob, place, -1)).toBeUndefined();
  expect(await runs.componentOf(bob, 'agent', 'r')).toBeUndefined();
  for await (const seen of await runs.list(bob, component, {})) expect(seen).toBeUndefined();
  await runs.cancel(bob, place);
  const { run } = await runs.get(ada, place);
  expect([run.status, paid]).toEqual(['paused', []]);
});

test('its owner, and callers who may act for all users, continue it as the same user', async () => {
  const { runs, paid, answer } = await pausedRunOfAda();
  expect(await runs.componentOf(ada, 'agent', 'r')).toBe('a');
  const { run } = await runs.ended(await runs.continueRun(admin, place, answer));
  expect(run).toMatchObject({ status: 'completed', userId: 'ada' });
  const copy = await runs.continueRun(admin, place, continueRunForm.parse({ input: 'more' }));
  expect((await runs.ended(copy)).run).toMatchObject({ userId: 'ada', sessionId: 's' });
  expect((await runs.get(ada, { ...component, runId: copy.handle.runId })).run.status).toBe('completed');
  expect(paid).toHaveLength(1);
});

test('a cancellation by another user does not end the run that comes later', async () => {
  const { runs } = await pausedRunOfAda();
  await runs.cancel(bob, { ...component, runId: 'later' });
  const form = createRunForm.parse({ message: 'hello', stream: 'false', run_id: 'later' });
  const { run } = await runs.ended(await runs.create(ada, component, form));
  expect(run.status).toBe('completed');
});
