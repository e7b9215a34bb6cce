import { describe, expect, test } from 'vitest';
import {
  agent,
  condition,
  loop,
  parallel,
  router,
  type StepEntry,
  step,
  steps,
  workflow,
} from '../../../index.js';
import { scriptedModel } from '../../../testing.js';
import { workflowTree } from './workflow-tree.js';

const done = () => 'done';
const writer = agent({ id: 'writer', model: scriptedModel([]) });

function nested(levels: number): StepEntry {
  return levels === 0 ? done : steps({ steps: [nested(levels - 1)] });
}

describe('a wrong definition is refused with a message that names it', () => {
  const asked = { requiresConfirmation: true };
  test.each<[string, () => unknown, RegExp]>([
    [
      'two names',
      () => workflow({ id: 'w', steps: [done, step({ name: 'done', run: done })] }),
      /Workflow 'w'.*'done'/,
    ],
    [
      'two names in a group',
      () => parallel({ name: 'p', steps: [writer, writer] }),
      /Parallel 'p'.*'writer'/,
    ],
    ['no steps', () => workflow({ id: 'w', steps: [] }), /Workflow 'w': steps is an empty list/],
    ['an empty group', () => loop({ name: 'l', steps: [] }), /Loop 'l': steps is an empty list/],
    [
      'no choices',
      () => router({ name: 'r', choices: [], select: 'user' }),
      /Router 'r': choices is an empty list/,
    ],
    [
      'an empty else',
      () => condition({ name: 'c', when: true, steps: [done], otherwise: [] }),
      /'c': otherwise is an empty list/,
    ],
    ['too deep', () => workflow({ id: 'w', steps: [nested(10)] }), /Workflow 'w'.*deeper than 10/],
    [
      'itself',
      () =>
        workflow({ id: 'w', steps: [workflow({ id: 'x', steps: [workflow({ id: 'w', steps: [done] })] })] }),
      /'w'.*inside itself/,
    ],
    [
      'a person in parallel',
      () =>
        workflow({
          id: 'w',
          steps: [parallel({ name: 'p', steps: [step({ name: 's', run: done, review: asked })] })],
        }),
      /'s'.*person.*'p'/,
    ],
    [
      'a person in parallel, in a workflow',
      () =>
        workflow({
          id: 'w',
          steps: [
            parallel([
              workflow({ id: 'i', steps: [router({ name: 'r', choices: [done], select: 'user' })] }),
            ]),
          ],
        }),
      /'r'.*person/,
    ],
    ['bad CEL', () => condition({ name: 'c', when: 'input ==', steps: [done] }), /'c'.*'input =='/],
    [
      'unknown variable',
      () => condition({ name: 'c', when: 'outcome == 1', steps: [done] }),
      /outcome.*variables are: input/,
    ],
    ['not a boolean', () => loop({ name: 'l', until: '"x"', steps: [done] }), /'l'.*string/],
    [
      'bad number',
      () => loop({ name: 'l', maxIterations: 0, steps: [done] }),
      /'l': maxIterations is 0\. Give a whole number, 1 or more/,
    ],
    ['bad retries', () => step({ name: 's', run: done, maxRetries: 1.5 }), /'s': maxRetries is 1\.5/],
    ['bad timeout', () => step({ name: 's', run: done, timeoutMs: -1 }), /'s': timeoutMs is -1/],
    ['bad bound', () => workflow({ id: 'w', steps: [done], maxParallel: 0 }), /'w'.*maxParallel/],
    ['nobody to do it', () => step({ name: 's' } as never), /'s' needs exactly one/],
    ['two to do it', () => step({ name: 's', run: done, agent: writer } as never), /'s' needs exactly one/],
    [
      'the wrong kind',
      () => step({ name: 's', team: writer }),
      /'s': team is an object. Give a team, made with team\(\)/,
    ],
    [
      'else without a condition',
      () => step({ name: 's', run: done, review: { onReject: 'else' } }),
      /only a condition/,
    ],
    ['an unknown policy', () => step({ name: 's', run: done, onError: 'stop' as never }), /'stop'/],
    [
      'a field twice',
      () => step({ name: 's', run: done, review: { userInputSchema: [{ name: 'a' }, { name: 'a' }] } }),
      /'a' twice/,
    ],
    [
      'no step',
      () => workflow({ id: 'w', steps: ['x' as never] }),
      /'w': steps\[0\] is 'x'\. Give an agent, a team/,
    ],
  ])('%s', (_, make, message) => {
    expect(make).toThrow(message);
  });
});

test('what has no name gets one that nothing else has', () => {
  const { nodes } = workflow({
    id: 'w',
    steps: [() => 1, () => 2, parallel([done]), parallel([done]), writer],
  });
  expect(nodes.map(({ name }) => name)).toEqual(['Step 1', 'Step 2', 'Parallel', 'Parallel 2', 'writer']);
});

test('the tree is data that can be drawn', async () => {
  const inner = workflow({ id: 'inner', steps: [done] });
  const { nodes } = workflow({
    id: 'w',
    steps: [
      step({ name: 'write', description: 'Writes', agent: writer }),
      loop({ name: 'l', until: 'all_success', steps: [done] }),
      condition({ name: 'c', when: () => true, steps: [done], otherwise: [writer] }),
      router({ name: 'r', select: 'user', choices: [inner] }),
      step({ name: 'sure', run: done, review: { requiresConfirmation: true, onReject: 'cancel' } }),
    ],
  });
  const tree = await workflowTree(nodes, ({ id }) => ({ id }));
  expect(tree).toMatchObject([
    { name: 'write', description: 'Writes', type: 'Step', agent: { id: 'writer' } },
    {
      name: 'l',
      type: 'Loop',
      max_iterations: 3,
      end_condition: 'all_success',
      steps: [{ name: 'done', type: 'Step' }],
    },
    {
      name: 'c',
      type: 'Condition',
      condition: 'when',
      steps: [{}],
      else_steps: [{ agent: { id: 'writer' } }],
    },
    {
      name: 'r',
      type: 'Router',
      selector: 'user',
      steps: [{ type: 'Workflow', workflow_id: 'inner', steps: [{ name: 'done' }] }],
    },
    { name: 'sure', type: 'Step', review: { requires_confirmation: true, on_reject: 'cancel' } },
  ]);
  expect(JSON.parse(JSON.stringify(tree))).toEqual(tree);
});
