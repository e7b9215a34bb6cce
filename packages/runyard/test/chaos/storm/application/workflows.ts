import { condition, loop, parallel, router, type StepContext, step, steps, workflow } from 'runyard';
import { readPlan } from '../plan.js';
import { agents, teams } from './teams.js';
import { leaveTraces, tries } from './traces.js';

type Settings = Omit<Parameters<typeof step>[0], 'name' | 'run' | 'agent' | 'team' | 'workflow'>;

/**
 * A step that leaves traces, after it has failed some times. What it makes is the plan for the next step, and
 * which execution of the step it was.
 */
function trace(name: string, settings: Settings = {}, failures = 0) {
  const run = async ({ input, runId, idempotencyKey, signal }: StepContext) => {
    await leaveTraces({ name, call: `step ${readPlan(String(input)).token}`, runId, idempotencyKey, signal });
    if (failures > 0 && tries(idempotencyKey.replace(/:run:\d+$/, '')) <= failures)
      throw new Error(`${name} fails`);
    return `${String(input).split('\n')[0]}\n${name} did it: ${idempotencyKey}`;
  };
  return step({ name, ...settings, run } as Parameters<typeof step>[0]);
}

const confirmed = { requiresConfirmation: true };

const chain = workflow({
  id: 'chain',
  steps: [trace('one'), step({ name: 'worker', agent: agents.ada }), trace('two')],
});

/** Every kind of step; the shapes beside the targets show the result of each. */
export const workflows = [
  chain,
  workflow({
    id: 'wide',
    steps: [
      trace('begin'),
      parallel({
        name: 'both',
        steps: [
          trace('left'),
          trace('right'),
          step({ name: 'first', agent: agents.ada }),
          step({ name: 'second', agent: agents.bob }),
          steps({ name: 'group', steps: [trace('c'), trace('d')] }),
        ],
      }),
      trace('end'),
    ],
  }),
  workflow({
    id: 'rounds',
    steps: [
      loop({
        name: 'rounds',
        steps: [trace('turn'), step({ name: 'helper', agent: agents.bob })],
        maxIterations: 3,
        until: 'current_iteration >= 2',
      }),
      trace('end'),
    ],
  }),
  workflow({
    id: 'ways',
    steps: [
      condition({
        name: 'paid',
        when: 'input.contains("pay")',
        steps: [trace('yes')],
        otherwise: [trace('no')],
      }),
      router({
        name: 'way',
        choices: [trace('a'), trace('b')],
        select: ({ input }) => (readPlan(String(input)).turns.length > 0 ? 'a' : 'b'),
      }),
      router({
        name: 'wish',
        choices: [trace('by-hand'), step({ name: 'by-agent', agent: agents.cleo })],
        select: 'user',
      }),
      trace('end'),
    ],
  }),
  workflow({
    id: 'asked',
    steps: [
      trace('sure', { review: confirmed }),
      trace('form', { review: { userInputSchema: [{ name: 'seat', type: 'int' }] } }),
      trace('made', { review: { requiresOutputReview: true } }),
      loop({
        name: 'looked',
        steps: [trace('look')],
        maxIterations: 2,
        review: { requiresIterationReview: true },
      }),
      trace('end'),
    ],
  }),
  workflow({
    id: 'shaky',
    steps: [
      trace('retried', { maxRetries: 3, backoff: { delayMs: 20 } }, 2),
      trace('mended', { maxRetries: 0, onError: 'pause' }, 1),
      trace('timed', { review: { ...confirmed, timeoutMs: 300, onTimeout: 'approve' } }),
      trace('end'),
    ],
  }),
  workflow({
    id: 'outer',
    steps: [
      trace('before'),
      step({ name: 'inner', workflow: chain }),
      step({ name: 'desk', team: teams[0]! }),
      trace('after'),
    ],
  }),
];
