import { expect, test } from 'vitest';
import { messagesOf } from '../../../src/core/agents/transcript.js';
import type { EndedRun } from '../../../src/core/runs/run.js';
import { agent, tool } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { begin, engineOver, freshStore, gate } from '../harness.js';

function texts({ run, steps }: EndedRun): string[] {
  return messagesOf(run, steps).map(({ role, content }) => `${role}: ${content}`);
}

test('a cancelled run ends with what its model had said so far', async () => {
  const held = gate();
  const model = scriptedModel([{ chunks: ['The an', held.promise, 'swer'] }]);
  const component = agent({ id: 'a', model });
  const store = await freshStore();
  const handle = await begin(engineOver(store, [component]), component);
  const reader = handle.events();
  for (let said = ''; said !== 'The an'; ) {
    for (const { data } of (await reader.next())!) said += JSON.parse(data).content ?? '';
  }
  handle.cancel('enough');
  const ended = await handle.ended;
  expect(ended.run).toMatchObject({ status: 'cancelled', result: { content: 'The an', partial: true } });
  expect(texts(ended)).toEqual(['user: hello', 'assistant: The an']);
  held.open();
});

test('a run that is cancelled while its model is silent does not repeat what it said before', async () => {
  const look = tool({ name: 'look', description: 'Looks', execute: () => 'seen' });
  const reached = gate();
  const model = scriptedModel((_request, call) => {
    if (call === 0) return { text: 'Let me look', toolCalls: [{ name: 'look' }] };
    reached.open();
    return { waitFor: new Promise(() => {}) };
  });
  const component = agent({ id: 'a', model, tools: [look] });
  const input = { content: 'hello', media: [], options: { stream: false } };
  const store = await freshStore();
  const handle = await begin(engineOver(store, [component]), component, { input });
  await reached.promise;
  handle.cancel('enough');
  const ended = await handle.ended;
  expect(ended.run).toMatchObject({ status: 'cancelled', result: { content: 'enough' } });
  expect(texts(ended)).toEqual(['user: hello', 'assistant: Let me look', 'tool: seen']);
});
