import { expect, test } from 'vitest';
import { agent, type MadeMedia, type Message, tool } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { allEvents, begin, engineOver, freshStore, gate } from '../harness.js';

test('a generator that its process died in is executed again, and ends once', async () => {
  const reached = gate();
  let executions = 0;
  const keys = new Set<string>();
  const count = tool({
    name: 'count',
    description: 'Counts',
    execute: async function* (_args, { idempotencyKey }) {
      executions += 1;
      keys.add(idempotencyKey);
      yield { execution: executions };
      if (executions === 1) {
        reached.open();
        await new Promise(() => {});
      }
      return `counted in execution ${executions}`;
    },
  });
  const model = scriptedModel([{ toolCalls: [{ name: 'count' }] }, 'Done.']);
  const component = agent({ id: 'a', model, tools: [count] });
  const store = await freshStore();
  const dead = engineOver(store, [component], { owner: 'dead', leaseMs: 1 });
  const { runId } = await begin(dead, component, { background: true });
  await reached.promise;
  await expect.poll(async () => (await store.load(runId))?.steps.length).toBe(3);
  await expect.poll(async () => (await store.leases.expired(10, 0)).length).toBe(1);
  const next = engineOver(store, [component]);
  await next.recover();
  const events = await allEvents({ events: () => next.events(runId, 0) });
  const named = (name: string) =>
    events.filter((event) => event.name === name).map(({ data }) => JSON.parse(data));
  expect(named('CustomEvent').at(-1)).toMatchObject({ partial_result: { execution: 2 } });
  expect(named('ToolCallCompleted')).toMatchObject([{ tool: { result: 'counted in execution 2' } }]);
  expect(named('RunCompleted')).toHaveLength(1);
  expect([executions, keys.size]).toEqual([2, 1]);
});

test('a call knows what the model was given, and the files of the caller and of earlier calls', async () => {
  const seen: { media: readonly MadeMedia[]; messages: readonly Message[] }[] = [];
  const bytes = new Uint8Array([1, 2, 3]);
  const look = tool({
    name: 'look',
    description: 'Looks',
    execute: (_args, { media, messages }) => {
      seen.push({ media, messages });
      // a copy: what the model sees next stays as it is
      Object.assign(messages[0]!, { content: 'forged' });
      return 'seen';
    },
  });
  const turn = { toolCalls: [{ name: 'look' }] };
  const model = scriptedModel([turn, turn, 'Done.']);
  const component = agent({ model, tools: [look], name: 'Viewer', instructions: 'Look.' });
  await component.run('What is this?', { files: [{ bytes, mimeType: 'text/plain', filename: 'a.txt' }] });
  const [first, second] = seen;
  expect(first!.media).toMatchObject([{ kind: 'file', filename: 'a.txt' }]);
  expect(await first!.media[0]!.bytes()).toEqual(bytes);
  expect(first!.messages.map(({ role }) => role)).toEqual(['system', 'user']);
  expect(second!.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool']);
  for (const { messages } of model.requests) expect(messages[0]!.content).toBe('Look.');
});
