import { z } from 'zod';
import {
  agent,
  agentFactory,
  condition,
  knowledge,
  loop,
  parallel,
  type RunyardOptions,
  router,
  step,
  team,
  tool,
  workflow,
} from '../../../src/index.js';
import type { Known } from '../values/pool.js';
import { obedientModel as model } from './model.js';

const amount = z.object({ amount: z.number() });
const question = {
  ...{ question: 'Which one?', header: null, multiSelect: false },
  options: ['left', 'right'].map((label) => ({ label, description: null })),
};
const common = { description: 'Does what its name says', inputSchema: amount };
const execute = ({ amount: paid }: { amount: number }) => `paid ${paid}`;

/** One tool for each way in which a run can come to wait for a person. */
const tools = [
  tool({ ...common, name: 'pay', requiresConfirmation: true, execute }),
  tool({ ...common, name: 'ask', requiresUserInput: true, execute }),
  tool({
    name: 'choose',
    description: 'Asks',
    inputSchema: z.object({}),
    askPerson: () => ({ questions: [question] }),
  }),
  tool({
    name: 'outside',
    description: 'Is done elsewhere',
    inputSchema: z.object({ job: z.string() }),
    externalExecution: true,
  }),
  tool({ ...common, name: 'approve', approval: 'required', execute }),
  tool({ ...common, name: 'audit', requiresConfirmation: true, approval: 'audit', execute }),
];

const plain = agent({
  id: 'plain',
  name: 'Plain',
  model,
  tools,
  addHistoryToContext: true,
  instructions: 'Help {city}.',
});
const keeper = agent({
  id: 'keeper',
  model,
  agenticMemory: true,
  learning: true,
  sessionState: { visits: 0 },
});
const offline = agent({ id: 'offline', model: 'offline', tools, updateMemoryOnRun: true });
const strict = agent({ id: 'strict', model, inputSchema: z.object({ city: z.string() }) });
const tutor = agentFactory({
  id: 'tutor',
  inputSchema: z.object({ subject: z.string().min(2) }),
  build: ({ input }) => agent({ id: 'inside', model, tools, instructions: `Teach ${input.subject}.` }),
});

const desk = team({ id: 'desk', model, members: [plain, keeper] });
const crowd = team({ id: 'crowd', model, mode: 'broadcast', members: [plain, offline] });

const mark = (name: string) => step({ name, run: ({ input }) => `${name}: ${String(input).slice(0, 100)}` });
const chain = workflow({
  id: 'chain',
  steps: [mark('first'), step({ name: 'worker', agent: plain }), mark('last')],
});
const asked = workflow({
  id: 'asked',
  steps: [
    step({ name: 'sure', review: { requiresConfirmation: true }, run: () => 'sure' }),
    step({ name: 'form', review: { userInputSchema: [{ name: 'seat', type: 'int' }] }, run: () => 'form' }),
    step({ name: 'made', review: { requiresOutputReview: true }, run: () => 'made' }),
    router({ name: 'wish', choices: [mark('a'), mark('b')], select: 'user' }),
  ],
});
const wide = workflow({
  id: 'wide',
  steps: [
    parallel({ name: 'both', steps: [mark('left'), step({ name: 'crew', team: desk })] }),
    condition({ name: 'long', when: 'input.size() > 5', steps: [mark('long')], otherwise: [mark('short')] }),
    loop({ name: 'again', steps: [mark('turn')], maxIterations: 2 }),
    step({ name: 'shaky', maxRetries: 0, onError: 'pause', run: ({ input }) => mayFail(String(input)) }),
  ],
});

function mayFail(input: string): string {
  if (input.startsWith('fail')) throw new Error('The step was asked to fail');
  return 'fine';
}

const agents = [plain, keeper, offline, strict, tutor];
const teams = [desk, crowd];
const workflows = [chain, asked, wide];

/** The ids of all of them, as paths name them. */
export const registered: readonly Known[] = [
  ...agents.map(({ id }) => ({ agent_id: id })),
  ...teams.map(({ id }) => ({ team_id: id })),
  ...workflows.map(({ id }) => ({ workflow_id: id })),
];

/** A service with one of everything that operations can be about. */
export const yard: RunyardOptions = {
  name: 'Fuzzed yard',
  agents,
  teams,
  workflows,
  knowledge: [knowledge({ name: 'handbook' })],
  scorers: [{ name: 'length', score: ({ run }) => ({ score: run.output.length, passed: null }) }],
  websocket: true,
};
