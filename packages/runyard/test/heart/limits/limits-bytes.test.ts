import { expect, test } from 'vitest';
import { messagesOf } from '../../../src/core/agents/transcript.js';
import type { Executable } from '../../../src/core/runs/executable.js';
import type { AnyLimits } from '../../../src/core/runs/limits/run-limits.js';
import { agent, step, tool, workflow } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { allEvents, begin, engineOver, freshStore } from '../harness.js';

const kilobyte = 1024;
const piece = 'x'.repeat(32 * kilobyte);

async function ran(component: Executable, stream = true, limits: AnyLimits = {}) {
  const store = await freshStore();
  const engine = engineOver(store, [component], { limits });
  const handle = await begin(engine, component, {
    input: { content: 'go', media: [], options: { stream } },
  });
  await handle.ended;
  return { ...(await store.load(handle.runId))!, events: await allEvents(handle) };
}

function stopped(bound: number, source: string) {
  const additionalData = { limit: 'bytes', bound, used: expect.any(Number), source };
  return { status: 'error', result: { error: { type: 'limit_exceeded', additionalData } } };
}

test('an answer that grows beyond the limit ends the run, and what was said up to there is kept', async () => {
  const bound = 300 * kilobyte;
  let pieces = 0;
  const model = scriptedModel(() => ({ chunks: Array(1000).fill(piece) }));
  const counted = {
    ...model,
    async *stream(...args: Parameters<typeof model.stream>) {
      for await (const chunk of model.stream(...args)) {
        pieces += 1;
        yield chunk;
      }
    },
  };
  const { run, steps } = await ran(agent({ id: 'a', model: counted, limits: { bytes: bound } }));
  expect(run).toMatchObject(stopped(bound, 'own'));
  expect(run.result?.content).toMatch(
    /^The run of agent 'a' was stopped: it may hold 307200 bytes, and came to \d+ \(limits\.bytes of agent 'a'\)\. Raise/,
  );
  // the model is not read to its end
  expect(pieces).toBeLessThan(20);
  const said = messagesOf(run, steps).at(-1)!;
  expect(said.role).toBe('assistant');
  expect(said.content.length).toBeGreaterThan(bound - 100 * kilobyte);
  expect(said.content.length).toBeLessThan(bound + 100 * kilobyte);
});

test('an answer that comes whole and is too large is not stored', async () => {
  const model = scriptedModel(() => 'x'.repeat(400 * kilobyte));
  const { run, steps, events } = await ran(agent({ id: 'a', model }), false, { bytes: 300 * kilobyte });
  expect(run).toMatchObject(stopped(300 * kilobyte, 'service'));
  expect(run.result?.content).toContain('Raise the service setting maxRunBytes');
  expect(JSON.stringify(steps).length).toBeLessThan(100 * kilobyte);
  expect(JSON.stringify(events).length).toBeLessThan(100 * kilobyte);
});

test('a piece of an answer that is too large is not stored', async () => {
  const model = scriptedModel(() => ({ chunks: ['x'.repeat(400 * kilobyte)] }));
  const { run, events } = await ran(agent({ id: 'a', model, limits: { bytes: 300 * kilobyte } }));
  expect(run).toMatchObject(stopped(300 * kilobyte, 'own'));
  expect(JSON.stringify({ run, events }).length).toBeLessThan(100 * kilobyte);
});

test('results of many tool calls add up', async () => {
  const fetches = tool({ name: 'fetch', description: 'Fetches', execute: () => 'x'.repeat(90_000) });
  const model = scriptedModel(() => ({ toolCalls: [{ name: 'fetch' }] }));
  const { run, steps } = await ran(
    agent({ id: 'a', model, tools: [fetches], limits: { bytes: 500 * kilobyte } }),
  );
  expect(run).toMatchObject(stopped(500 * kilobyte, 'own'));
  expect(steps.filter(({ kind, status }) => kind === 'tool' && status === 'completed')).toHaveLength(5);
});

test('a session state that is too large ends the run, in an agent and in a workflow', async () => {
  const fill = tool({
    name: 'fill',
    description: 'Fills the state',
    execute: (_args, { state }) => {
      state.set('rows', Array(1000).fill('x'.repeat(kilobyte)));
      return 'filled';
    },
  });
  const model = scriptedModel([{ toolCalls: [{ name: 'fill' }] }, 'done']);
  const limits = { bytes: 500 * kilobyte };
  const { run } = await ran(agent({ id: 'a', model, tools: [fill], limits }));
  expect(run).toMatchObject(stopped(500 * kilobyte, 'own'));
  const press = workflow({
    id: 'w',
    steps: [step({ name: 's', run: () => 'x'.repeat(600 * kilobyte) })],
    limits,
  });
  expect((await ran(press)).run).toMatchObject({
    status: 'error',
    result: { error: { type: 'limit_exceeded' } },
  });
});
