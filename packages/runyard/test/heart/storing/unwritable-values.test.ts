import { expect, test } from 'vitest';
import type { Executable } from '../../../src/core/runs/executable.js';
import { type AgentSettings, agent, type Model, step, tool, workflow } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { allEvents, begin, engineOver, freshStore } from '../harness.js';

/** What application code may hand over by mistake, and no journal can hold. */
const circular: Record<string, unknown> = { text: 'x' };
circular.self = { inner: [circular] };
const unwritable: Record<string, unknown> = {
  'a value inside itself': circular,
  'an error that is its own cause': Object.assign(new Error('own'), { self: circular }),
  'a BigInt': { amount: 1n },
  'a getter that throws': {
    get amount() {
      throw new Error('trap');
    },
  },
};

async function ran(component: Executable) {
  const store = await freshStore();
  const handle = await begin(engineOver(store, [component]), component);
  await handle.ended;
  const events = (await allEvents(handle)).map(({ data }) => JSON.parse(data));
  return { run: (await store.load(handle.runId))!.run, events };
}

const agentWith = (settings: Partial<AgentSettings>) =>
  agent({ id: 'a', model: scriptedModel(['said']), ...settings });

function modelWith(providerData: unknown): Model {
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  const answer = { content: 'said', toolCalls: [], usage, finishReason: 'stop', providerData } as never;
  return {
    id: 'own',
    provider: 'Own',
    name: 'Own',
    capabilities: { structuredOutput: 'prompted', tools: true },
    generate: async () => answer,
    async *stream() {
      yield { type: 'response', response: answer };
    },
  };
}

test.each(Object.entries(unwritable))('%s that is sent as an event is left out', async (_name, value) => {
  const sends = tool({
    name: 'sends',
    description: 'x',
    execute: async (_args, { emit }) => {
      await emit({ value } as never).catch(() => {});
      await emit({ after: true });
      return 'sent';
    },
  });
  const model = scriptedModel([{ toolCalls: [{ name: 'sends' }] }, 'said']);
  const { run, events } = await ran(agentWith({ model, tools: [sends] }));
  expect(run).toMatchObject({ status: 'completed', result: { content: 'said' } });
  expect(events.filter(({ event }) => event === 'CustomEvent')).toMatchObject([{ after: true }]);
});

test.each(Object.entries(unwritable))(
  '%s that a hook returns is a crash of the hook',
  async (name, value) => {
    // JSON holds of an error what was added to it
    if (value instanceof Error) Object.assign(value, { self: circular });
    for (const stage of ['preHooks', 'postHooks'] as const) {
      const { run } = await ran(agentWith({ [stage]: [() => value as never] }));
      expect({ name, stage, run }).toMatchObject({
        run: { status: 'completed', result: { content: 'said' } },
      });
    }
  },
);

test.each(Object.entries(unwritable))('%s in the answer of a model ends the run', async (_name, value) => {
  const { run } = await ran(agentWith({ model: modelWith({ value }) }));
  expect(run.status).toBe('error');
});

test('what a hook returned and changes later stays as it was recorded', async () => {
  const changed = { text: 'first' };
  const { run } = await ran(
    agentWith({
      postHooks: [
        () => changed as never,
        () => {
          changed.text = 'second';
        },
      ],
    }),
  );
  expect(JSON.stringify(run.result?.content)).toContain('first');
});

test.each(Object.entries(unwritable))('%s that a step returns fails the step', async (_name, value) => {
  const made = workflow({
    id: 'w',
    steps: [step({ name: 's', onError: 'fail', run: () => value as never })],
  });
  expect((await ran(made)).run.status).toBe('error');
});
