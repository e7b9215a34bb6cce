import { expect, test } from 'vitest';
import type { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { spansOf } from '../../../src/core/traces/spans-of-run.js';
import {
  agent,
  condition,
  loop,
  parallel,
  router,
  step,
  type Workflow,
  workflow,
} from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { begin, engineOver, freshStore } from '../harness.js';
import { workflowRun } from './workflow-runs.js';

async function traced(component: Workflow, stream = false) {
  const store = await freshStore();
  const engine = engineOver(store, [component]);
  const input = { content: 'hello', media: [], options: { stream } };
  const handle = await begin(engine, component, { input });
  await handle.ended;
  return { store, engine, runId: handle.runId, spans: await spansIn(store, handle.runId) };
}

async function spansIn(store: RunStore, runId: string) {
  const { run, steps } = (await store.load(runId))!;
  return spansOf({ run, steps });
}

type Spans = Awaited<ReturnType<typeof spansIn>>;

function drawn(spans: Spans): string[] {
  const inside = (parent: string | null, depth: number): string[] =>
    spans
      .filter(({ parentSpanId }) => parentSpanId === parent)
      .flatMap(({ spanId, name, kind, status }) => [
        `${'  '.repeat(depth)}${name} ${kind} ${status}`,
        ...inside(spanId, depth + 1),
      ]);
  return inside(null, 0);
}

const speaker = (id: string, said: string) => agent({ id, model: scriptedModel(() => said) });
const made = (name: string, run: () => string, more: object = {}) => step({ name, run, ...more });
const named = (spans: Spans, name: string) => spans.find((span) => span.name === name)!;

test('the content of a block is below it', async () => {
  const component = workflow({
    id: 'w',
    name: 'Big Flow',
    steps: [
      step({ name: 'first', agent: speaker('a', 'one') }),
      parallel({
        name: 'both',
        steps: [made('left', () => 'L'), step({ name: 'right', agent: speaker('b', 'R') })],
      }),
      loop({ name: 'again', steps: [made('round', () => 'round')], maxIterations: 2 }),
      condition({ name: 'maybe', when: () => true, steps: [made('yes', () => 'yes')] }),
      router({
        name: 'way',
        select: () => 'here',
        choices: [made('here', () => 'here'), made('there', () => 'there')],
      }),
    ],
  });
  const { spans, runId } = await traced(component);
  expect(drawn(spans)).toEqual([
    'Big_Flow.arun WORKFLOW OK',
    '  first.aexecute WORKFLOW OK',
    '    a.arun AGENT OK',
    '      Scripted.ainvoke LLM OK',
    '  both.aexecute WORKFLOW OK',
    '    left.aexecute WORKFLOW OK',
    '    right.aexecute WORKFLOW OK',
    '      b.arun AGENT OK',
    '        Scripted.ainvoke LLM OK',
    '  again.aexecute WORKFLOW OK',
    '    round.aexecute WORKFLOW OK',
    '    round.aexecute WORKFLOW OK',
    '  maybe.aexecute WORKFLOW OK',
    '    yes.aexecute WORKFLOW OK',
    '  way.aexecute WORKFLOW OK',
    '    here.aexecute WORKFLOW OK',
  ]);
  expect(spans[0]!.attributes).toMatchObject({
    'openinference.span.kind': 'CHAIN',
    'agno.workflow.id': 'w',
    'agno.workflow.steps_count': 5,
    'agno.workflow.steps': ['first', 'both', 'again', 'maybe', 'way'],
    'agno.workflow.step_types': ['Step', 'Parallel', 'Loop', 'Condition', 'Router'],
    'agno.run.id': runId,
    'input.value': 'hello',
    'output.value': 'here',
  });
  expect(named(spans, 'first.aexecute').attributes).toMatchObject({
    'agno.step.type': 'agent',
    'agno.step.agent_name': 'a',
    'input.value': 'hello',
    'output.value': 'one',
  });
  expect(named(spans, 'left.aexecute').attributes).toMatchObject({
    'input.value': 'one',
    'output.value': 'L',
  });
  expect(named(spans, 'both.aexecute').attributes).toMatchObject({ 'agno.parallel.step_count': 2 });
});

test('a streamed workflow is named as such, its parallel blocks are not', async () => {
  const steps = [parallel({ name: 'both', steps: [made('left', () => 'L'), made('right', () => 'R')] })];
  const { spans } = await traced(workflow({ id: 'w', steps }), true);
  expect(spans.map(({ name }) => name)).toEqual([
    'w.arun',
    'both.aexecute',
    'left.aexecute_stream',
    'right.aexecute_stream',
  ]);
});

test('tries, skipped failures and the failure of all are distinguished', async () => {
  let calls = 0;
  const component = workflow({
    id: 'w',
    steps: [
      made(
        'flaky',
        () => {
          calls += 1;
          if (calls === 1) throw new Error('no luck');
          return 'luck';
        },
        { maxRetries: 1 },
      ),
      made(
        'optional',
        () => {
          throw new Error('skip me');
        },
        { onError: 'skip', maxRetries: 0 },
      ),
      step({
        name: 'needed',
        agent: agent({ id: 'a', model: scriptedModel(() => ({ error: 'down' })) }),
        maxRetries: 0,
        onError: 'fail',
      }),
    ],
  });
  const { spans } = await traced(component);
  expect(drawn(spans)).toEqual([
    'w.arun WORKFLOW ERROR',
    '  flaky.aexecute WORKFLOW OK',
    '  flaky.aexecute WORKFLOW ERROR',
    '  optional.aexecute WORKFLOW ERROR',
    '  needed.aexecute WORKFLOW ERROR',
    '    a.arun AGENT ERROR',
    '      Scripted.ainvoke LLM ERROR',
  ]);
  expect(spans.filter(({ status }) => status === 'ERROR').map(({ statusMessage }) => statusMessage)).toEqual([
    "Step 'needed' failed: down",
    'no luck',
    'skip me',
    "Step 'needed' failed: down",
    'down',
    'down',
  ]);
});

test('a review is a wait within its step, and what comes after it in the same trace', async () => {
  const reviewed = made('draft', () => 'text', { review: { requiresOutputReview: true } });
  const { store, engine, runId, spans: before } = await traced(workflow({ id: 'w', steps: [reviewed] }));
  expect(drawn(before)).toEqual([
    'w.arun WORKFLOW OK',
    '  draft.aexecute WORKFLOW UNSET',
    '    draft.function WORKFLOW OK',
    '    wait_for_output_review WAIT UNSET',
  ]);
  await workflowRun(store, engine, runId).answer({ confirmed: true });
  await expect.poll(async () => (await store.load(runId))!.run.status).toBe('completed');
  const after = await spansIn(store, runId);
  expect(after.map(({ spanId }) => spanId)).toEqual(before.map(({ spanId }) => spanId));
  expect(after.every(({ status, endTime }) => status === 'OK' && endTime !== null)).toBe(true);
});
