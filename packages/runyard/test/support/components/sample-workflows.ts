import { z } from 'zod';
import {
  agent,
  condition,
  loop,
  parallel,
  router,
  type StepInput,
  step,
  stepOutput,
  steps,
  team,
  workflow,
} from '../../../src/index.js';
import { ScriptBook } from '../providers/script-book.js';

export const book = new ScriptBook();
export const writer = agent({ id: 'writer', name: 'Writer', model: book.model });
const editor = agent({ id: 'editor', name: 'Editor', model: book.model });
const desk = team({ id: 'desk', name: 'Desk', model: book.model, members: [editor] });
export const seen: StepInput[] = [];

const upper = step({
  name: 'upper',
  run: ({ previousStepContent, input }) => String(previousStepContent ?? input).toUpperCase(),
});
const mark = (name: string) =>
  step({ name, run: ({ previousStepContent }) => `${previousStepContent}+${name}` });
const fail = (name: string, settings = {}) =>
  step({
    name,
    maxRetries: 0,
    run: () => {
      throw new TypeError('It does not work');
    },
    ...settings,
  });

export const pipeline = workflow({
  id: 'pipeline',
  name: 'Pipeline',
  description: 'Writes and shouts',
  metadata: { owner: 'press' },
  steps: [step({ name: 'draft', description: 'A first text', agent: writer }), upper],
});
const nested = workflow({
  id: 'nested',
  name: 'Nested',
  steps: [step({ name: 'whole', workflow: pipeline }), mark('end')],
});

/** One workflow for each thing that a workflow can do. */
export const workflows = [
  pipeline,
  nested,
  workflow({ id: 'teamed', steps: [step({ name: 'ask', team: desk }), mark('after')] }),
  workflow({ id: 'grouped', steps: [steps({ name: 'group', steps: [upper, mark('b')] }), mark('c')] }),
  workflow({
    id: 'looped',
    steps: [loop({ name: 'again', steps: [mark('x')], maxIterations: 3, until: 'current_iteration >= 2' })],
  }),
  workflow({
    id: 'side-by-side',
    steps: [parallel({ name: 'both', steps: [step({ name: 'left', agent: writer }), upper] }), mark('end')],
  }),
  workflow({
    id: 'conditional',
    steps: [
      condition({
        name: 'long',
        when: 'input.size() > 5',
        steps: [mark('long')],
        otherwise: [mark('short')],
      }),
      condition({ name: 'never', when: false, steps: [mark('never')] }),
      mark('end'),
    ],
  }),
  workflow({
    id: 'routed',
    steps: [router({ name: 'way', choices: [mark('a'), mark('b')], select: ({ input }) => String(input) })],
  }),
  workflow({
    id: 'early',
    steps: [step({ name: 'stop', run: () => stepOutput({ content: 'enough', stop: true }) }), mark('no')],
  }),
  workflow({ id: 'skipping', steps: [fail('bad', { onError: 'skip' }), mark('end')] }),
  workflow({ id: 'failing', steps: [mark('first'), fail('bad'), mark('no')] }),
  workflow({
    id: 'agent-fails',
    steps: [step({ name: 'draft', agent: writer, onError: 'skip' }), mark('end')],
  }),
  workflow({
    id: 'typed',
    inputSchema: z.object({ city: z.string(), days: z.number().default(2) }),
    steps: [step({ name: 'see', run: (input) => String(seen.push(input)) })],
  }),
  workflow({
    id: 'seeing',
    sessionState: { visits: 1 },
    steps: [
      step({
        name: 'see',
        run: (input) => {
          seen.push(input);
          input.state.set('visits', 2);
          return { seen: true };
        },
      }),
    ],
  }),
  workflow({ id: 'one-function', steps: (context) => `${context.input} ${JSON.stringify(context.fields)}` }),
  workflow({ id: 'chatty', agent: agent({ id: 'front', model: book.model }), steps: [upper] }),
];
