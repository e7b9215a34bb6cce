import { expect, test } from 'vitest';
import { InProcessMedia } from '../../../src/core/media/in-process-media.js';
import { agent, type GivenAnswer, ModelError, tool } from '../../../src/index.js';
import { type ScriptedModel, scriptedModel } from '../../../src/testing.js';
import { begin, engineOver, freshStore } from '../harness.js';

const broken = new ModelError('gone', { provider: 'P', kind: 'refused' });

function asking(model: ScriptedModel) {
  const sent: string[] = [];
  const send = tool({
    name: 'send',
    description: 'Sends',
    requiresConfirmation: true,
    execute: () => {
      sent.push('mail');
      return 'sent';
    },
  });
  const measure = tool({ name: 'measure', description: 'Measures', externalExecution: true });
  return { sent, clerk: agent({ id: 'clerk', model, tools: [send, measure] }) };
}

const twoCalls = {
  toolCalls: [
    { name: 'send', id: 'one' },
    { name: 'measure', id: 'two' },
  ],
};

test('a paused run takes its answers one after the other; messages stay in the order of the calls', async () => {
  const model = scriptedModel([twoCalls, 'done']);
  const { clerk, sent } = asking(model);
  const paused = await clerk.run('hello');
  expect(paused).toMatchObject({
    status: 'paused',
    requirements: [
      { callId: 'one', kind: 'confirmation' },
      { callId: 'two', kind: 'external_execution' },
    ],
  });
  const half = await clerk.continue(paused.runId, { answers: { two: { result: '20 cm' } } });
  expect(half).toMatchObject({ status: 'paused', requirements: [{ callId: 'one' }] });
  expect(sent).toEqual([]);
  const done = await clerk.continue(paused.runId, {
    answers: { one: { confirmed: true } },
    input: 'and be quick',
  });
  expect(done).toMatchObject({
    status: 'completed',
    runId: paused.runId,
    content: 'done',
  });
  expect(sent).toEqual(['mail']);
  expect(done.messages.map(({ role, content }) => `${role}: ${content}`)).toEqual([
    'user: hello',
    'assistant: ',
    'tool: sent',
    'tool: 20 cm',
    'user: and be quick',
    'assistant: done',
  ]);
  expect(model.requests[1]?.messages.at(-1)).toMatchObject({ role: 'user', content: 'and be quick' });
});

test('an invalid answer is refused, and the run keeps waiting', async () => {
  const { clerk, sent } = asking(scriptedModel([twoCalls, 'fine']));
  const { runId } = await clerk.run('hello');
  const none: Record<string, GivenAnswer>[] = [{}, { one: { result: 'x' } }, { three: { confirmed: true } }];
  for (const answers of none) {
    await expect(clerk.continue(runId, { answers })).rejects.toMatchObject({ status: 400 });
  }
  const rejected = { one: { confirmed: false, note: 'not today' }, two: { result: '1' } };
  const done = await clerk.continue(runId, { answers: rejected });
  expect(done.status).toBe('completed');
  expect(done.tools[0]?.result).toContain('not today');
  expect(sent).toEqual([]);
  await expect(clerk.continue(runId, { answers: rejected })).rejects.toMatchObject({ status: 409 });
});

test('a failed run is retried, a completed one is continued or answered anew', async () => {
  const model = scriptedModel([{ error: broken }, 'hi', 'better', 'bye', 'once more']);
  const talker = agent({ id: 'talker', model });
  const failed = await talker.run('hello');
  expect(failed.status).toBe('error');
  const done = await talker.continue(failed.runId);
  expect(done).toMatchObject({ runId: failed.runId, content: 'hi' });
  const better = await talker.continue(done.runId, { regenerate: true });
  expect(better).toMatchObject({ sessionId: done.sessionId, content: 'better' });
  expect(better.messages).toHaveLength(2);
  const last = await talker.continue(better.runId, { input: 'good bye' });
  expect(last.messages.map(({ content }) => content)).toEqual(['hello', 'better', 'good bye', 'bye']);
  const first = await talker.continue(done.runId, { input: 'and you?' });
  expect(first.runId).not.toBe(done.runId);
  expect(first.messages.map(({ content }) => content)).toEqual(['hello', 'hi', 'and you?', 'once more']);
  await expect(talker.continue(last.runId, { from: 9 })).rejects.toThrow(
    'continue_from must be between 0 and 4',
  );
  await expect(talker.continue('unknown')).rejects.toThrow('Run not found');
});

test('what needs an approval is not answered in code', async () => {
  const pay = tool({ name: 'pay', description: 'Pays', approval: 'required', execute: () => 'paid' });
  const model = scriptedModel([{ toolCalls: [{ name: 'pay', id: 'one' }] }]);
  const payer = agent({ id: 'payer', model, tools: [pay] });
  const { runId, status } = await payer.run('pay');
  expect(status).toBe('paused');
  await expect(payer.continue(runId, { answers: { one: { confirmed: true } } })).rejects.toThrow(
    'waits for an approval',
  );
});

test('a copy does not bring the state of its original back', async () => {
  const note = tool({
    name: 'note',
    description: 'Notes',
    execute: (_args, { state }) => {
      state.set('city', 'Porto');
      return 'noted';
    },
  });
  const model = scriptedModel(['hi', { toolCalls: [{ name: 'note' }] }, 'noted', 'bye']);
  const talker = agent({ id: 'talker', model, tools: [note] });
  const first = await talker.run('hello', { sessionState: { city: 'Lisbon' } });
  await talker.run('note', { sessionId: first.sessionId });
  const copy = await talker.continue(first.runId, { input: 'bye' });
  expect(copy.sessionState).toEqual({ city: 'Porto' });
});

test('a run that its process left behind continues in place, and a run in progress does not', async () => {
  const store = await freshStore();
  const stuck = agent({ id: 'clerk', model: scriptedModel([{ waitFor: () => new Promise(() => {}) }]) });
  const dead = engineOver(store, [stuck], { owner: 'dead', leaseMs: 1 });
  const { runId } = await begin(dead, stuck, { background: true });
  const clerk = agent({ id: 'clerk', model: scriptedModel(['done']) });
  const spaceOver = (engine: typeof dead) => async () => ({
    engine,
    journal: store,
    media: new InProcessMedia(),
  });
  stuck.attach(spaceOver(dead));
  await expect(stuck.continue(runId)).rejects.toMatchObject({ code: 'cannot_continue' });
  await expect.poll(async () => (await store.leases.expired(10, 0)).length).toBe(1);
  clerk.attach(spaceOver(engineOver(store, [clerk])));
  await expect(clerk.continue(runId, { input: 'quick' })).rejects.toMatchObject({
    code: 'cannot_continue',
  });
  expect(await clerk.continue(runId)).toMatchObject({
    runId,
    status: 'completed',
    content: 'done',
  });
});
