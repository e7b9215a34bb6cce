import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.js';
import { RunSlots, unlimitedSlots } from '../../../src/core/runs/leases/run-slots.js';
import { agent, loop, step, tool, workflow } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { begin, engineOver, executable, freshStore, gate } from '../harness.js';
import { eventNames, workflowRun } from './workflow-runs.js';

/** Asks before a step, about an iteration, about what a step made, and inside an agent. */
function asking() {
  const act = tool({ name: 'act', description: 'x', requiresConfirmation: true, execute: () => 'done' });
  const model = scriptedModel((request) =>
    request.messages.at(-1)!.role === 'tool' ? 'fine' : { toolCalls: [{ name: 'act' }] },
  );
  return workflow({
    id: 'w',
    steps: [
      step({ name: 'before', run: () => 'a', review: { requiresConfirmation: true } }),
      step({ name: 'after', run: () => 'b', review: { requiresOutputReview: true } }),
      loop({
        name: 'rounds',
        steps: [() => 'c'],
        maxIterations: 1,
        review: { requiresIterationReview: true },
      }),
      step({ name: 'worker', agent: agent({ id: 'a', model, tools: [act] }) }),
    ],
  });
}

function agreeing({ requirements }: Awaited<ReturnType<ReturnType<typeof workflowRun>['look']>>) {
  const { executor_requirements: asked } = requirements.stepRequirements.at(-1) as unknown as {
    executor_requirements: readonly JsonObject[];
  };
  return { executor_requirements: asked.map((one) => ({ ...one, confirmation: true })) };
}

/** The events of the workflow when each answer is given while all slots are taken, or while there is room. */
async function eventsOf(isBusy: boolean) {
  const flow = asking();
  let held = gate<void>();
  const other = executable('other', async () => {
    await held.promise;
    return '';
  });
  const store = await freshStore();
  const slots = isBusy ? new RunSlots({ executing: 1, waiting: 100 }) : unlimitedSlots();
  const engine = engineOver(store, [flow, other], { slots });
  const { run } = await (await begin(engine, flow)).ended;
  const flowRun = workflowRun(store, engine, run.runId);
  const answers = [
    { confirmed: true },
    { confirmed: false, rejection_feedback: 'again' },
    { confirmed: true },
    { confirmed: false, rejection_feedback: 'again' },
    { confirmed: true },
    'the agent',
  ] as const;
  for (const answer of answers) {
    const given = answer === 'the agent' ? agreeing(await flowRun.look()) : answer;
    held = gate<void>();
    const blocking = isBusy ? await begin(engine, other, { background: true }) : undefined;
    const answered = flowRun.answer(given);
    if (blocking !== undefined) {
      await expect.poll(() => slots.waiting).toBe(1);
      held.open();
      await blocking.ended;
    }
    await answered;
  }
  expect((await flowRun.look()).run.status).toBe('completed');
  // no place is kept for a run that has taken its slot
  expect(slots.keepPlace().waits).toBe(false);
  return eventNames(await flowRun.events());
}

test('a workflow that had to wait for a slot after each answer emits the same as one that had not', async () => {
  const free = await eventsOf(false);
  expect(free.filter((name) => name.startsWith('StepContinued'))).toHaveLength(3);
  expect(free).toContain('StepExecutorContinued worker');
  expect(await eventsOf(true)).toEqual(free);
});
