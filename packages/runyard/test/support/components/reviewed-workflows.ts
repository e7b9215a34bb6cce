import { z } from 'zod';
import {
  agent,
  condition,
  loop,
  parallel,
  router,
  type StepContext,
  step,
  team,
  tool,
  workflow,
} from '../../../src/index.js';
import { ScriptBook } from '../providers/script-book.js';
import type { Body } from '../service.js';
import { payingAgent } from './run-life.js';

export const book = new ScriptBook();
const { agent: payer, paid: payments } = payingAgent(book, 'payer');
export const paid = payments;
const till = team({ id: 'till', model: book.model, members: [payer] });
export const released: number[] = [];
const officer = agent({
  id: 'officer',
  model: book.model,
  tools: [
    tool({
      name: 'release',
      description: 'Needs an approval',
      approval: 'required',
      inputSchema: z.object({ version: z.number() }),
      execute: ({ version }) => `released ${released.push(version)}`,
    }),
  ],
});
const talker = agent({ id: 'talker', model: book.model });

export const calls: string[] = [];
const noted = (name: string, settings: object = {}) =>
  step({
    name,
    ...settings,
    run: (context: StepContext) => {
      calls.push(`${context.input} ${name}`);
      const { previousStepContent, additionalData, rejectionFeedback } = context;
      const extra = additionalData.user_input ? JSON.stringify(additionalData.user_input) : '';
      return `${previousStepContent ?? context.input}+${name}${extra}${rejectionFeedback ?? ''}`;
    },
  });
/** How often the step `broken` is going to fail. */
export const broken = { times: 0 };
const breaking = step({
  name: 'broken',
  maxRetries: 0,
  onError: 'pause',
  run: ({ previousStepContent }) => {
    if (broken.times-- > 0) throw new Error('Not yet');
    return `${previousStepContent}+mended`;
  },
});
const confirm = { requiresConfirmation: true, confirmationMessage: 'Really?' };

export const workflows = [
  workflow({
    id: 'confirmed',
    name: 'Confirmed',
    steps: [noted('a'), noted('b', { review: confirm }), noted('c')],
  }),
  workflow({
    id: 'cancelling',
    steps: [noted('a'), noted('b', { review: { ...confirm, onReject: 'cancel' } }), noted('c')],
  }),
  workflow({
    id: 'filled',
    steps: [
      noted('form', {
        review: {
          userInputMessage: 'Which seat?',
          userInputSchema: [
            { name: 'seat', type: 'int' },
            { name: 'class', allowedValues: ['first', 'second'], required: false },
          ],
        },
      }),
    ],
  }),
  workflow({
    id: 'chosen',
    steps: [router({ name: 'way', choices: [noted('left'), noted('right')], select: 'user' })],
  }),
  workflow({
    id: 'reviewed',
    steps: [noted('made', { review: { requiresOutputReview: true, maxRetries: 1 } }), noted('end')],
  }),
  workflow({
    id: 'iterated',
    steps: [
      loop({
        name: 'rounds',
        steps: [noted('round')],
        maxIterations: 3,
        review: { requiresIterationReview: true },
      }),
    ],
  }),
  workflow({
    id: 'branched',
    steps: [
      condition({
        name: 'if',
        when: true,
        steps: [noted('then')],
        otherwise: [noted('else')],
        review: { ...confirm, onReject: 'else' },
      }),
    ],
  }),
  workflow({ id: 'paying', name: 'Paying', steps: [step({ name: 'pay', agent: payer }), noted('end')] }),
  workflow({ id: 'team-paying', steps: [step({ name: 'pay', team: till }), noted('end')] }),
  workflow({ id: 'releasing', steps: [step({ name: 'release', agent: officer })] }),
  workflow({ id: 'mending', steps: [noted('first'), breaking, noted('last')] }),
  workflow({
    id: 'failing',
    steps: [
      step({ name: 'bad', maxRetries: 0, onError: 'fail', run: () => Promise.reject(new Error('No')) }),
    ],
  }),
  workflow({ id: 'talking', steps: [step({ name: 'talk', agent: talker }), noted('end')] }),
  workflow({
    id: 'parallel-paying',
    steps: [
      parallel({
        name: 'both',
        steps: [step({ name: 'one', agent: payer }), step({ name: 'two', agent: talker })],
      }),
    ],
  }),
  workflow({
    id: 'timed',
    steps: [noted('soon', { review: { ...confirm, timeoutMs: 150, onTimeout: 'approve' } })],
  }),
];

/** The requirements of a paused run with an answer in the last of them. */
export const answered = (run: Body, answer: object) => [
  ...run.step_requirements.slice(0, -1),
  { ...run.step_requirements.at(-1), ...answer },
];

export const executorAnswer = (run: Body, confirmation = true) => ({
  executor_requirements: run.step_requirements
    .at(-1)
    .executor_requirements.map((requirement: Body) => ({ ...requirement, confirmation })),
});
