import { z } from 'zod';
import {
  agent,
  FactoryRefusal,
  type RunyardOptions,
  step,
  team,
  teamFactory,
  tool,
  workflow,
  workflowFactory,
} from '../../src/index.js';
import { ScriptBook } from '../support/providers/script-book.js';
import { type Gate, gate } from '../support/until.js';

/** What the models answer, by what the user said. */
export const book = new ScriptBook();

/** How often a tool was executed, by the run. */
export const executed: { readonly name: string; readonly runId: string }[] = [];

let door: Gate = gate();

/** Closes the door that `linger` waits behind until the test opens it. */
export function closeDoor(): Gate {
  door = gate();
  return door;
}

const noted = (name: string, runId: string, result: string) => {
  executed.push({ name, runId });
  return result;
};

const look = tool({
  name: 'look',
  description: 'Looks something up',
  inputSchema: z.object({ what: z.string() }),
  execute: ({ what }, { runId }) => noted('look', runId, `${what} is blue`),
});

/** Waits until the test opens the door. */
const linger = tool({
  name: 'linger',
  description: 'Takes its time',
  sideEffects: true,
  execute: async (_given, { runId }) => {
    noted('linger', runId, '');
    await door.opened;
    return 'done at last';
  },
});

const pay = tool({
  name: 'pay',
  description: 'Pays',
  inputSchema: z.object({ cents: z.number() }),
  sideEffects: true,
  requiresConfirmation: true,
  execute: ({ cents }, { runId }) => noted('pay', runId, `paid ${cents}`),
});

const reserve = tool({
  name: 'reserve',
  description: 'Reserves a seat',
  inputSchema: z.object({ train: z.string(), seat: z.number().describe('Which seat') }),
  requiresUserInput: true,
  userInputFields: ['seat'],
  execute: ({ train, seat }, { runId }) => noted('reserve', runId, `${train}, seat ${seat}`),
});

const measure = tool({
  name: 'measure',
  description: 'Is executed by the client',
  inputSchema: z.object({ what: z.string() }),
  externalExecution: true,
});

const release = tool({
  name: 'release',
  description: 'Needs the approval of an administrator',
  approval: 'required',
  execute: (_given, { runId }) => noted('release', runId, 'released'),
});

const clerk = agent({
  id: 'clerk',
  name: 'Clerk',
  description: 'Does everything.',
  model: book.model,
  tools: [look, linger, pay, reserve, measure, release],
  addHistoryToContext: true,
});

const member = agent({ id: 'payer', name: 'Payer', model: book.model, tools: [pay] });

const desks = teamFactory({
  id: 'desks',
  name: 'Desks',
  inputSchema: z.object({ topic: z.string().default('nothing') }),
  build: ({ input: { topic }, userId }) => {
    if (topic === 'secrets') throw new FactoryRefusal('No desk for secrets.');
    return team({
      id: 'built-desk',
      model: book.model,
      instructions: `A desk for ${topic}, for ${userId}`,
      members: [member],
    });
  },
});

const drafts = workflowFactory({
  id: 'drafts',
  inputSchema: z.object({ words: z.array(z.string()).min(1) }),
  build: ({ input: { words } }) =>
    workflow({
      id: 'built-drafts',
      steps: words.map((word) =>
        step({
          name: word,
          review: { requiresConfirmation: true, confirmationMessage: `Write ${word}?` },
          run: ({ previousStepContent }) => `${previousStepContent ?? ''}${word} `,
        }),
      ),
    }),
});

/** An agent, a team and a workflow that use every way to pause. */
export const yard = {
  agents: [clerk],
  teams: [team({ id: 'desk', name: 'Desk', model: book.model, members: [member] }), desks],
  workflows: [
    workflow({
      id: 'letters',
      name: 'Letters',
      steps: [
        step({ name: 'draft', agent: clerk }),
        step({ name: 'send', run: ({ previousStepContent }) => `Sent: ${previousStepContent}` }),
      ],
    }),
    workflow({
      id: 'reviewed',
      name: 'Reviewed',
      steps: [
        step({ name: 'draft', run: ({ input }) => `Draft of ${input}` }),
        step({
          name: 'send',
          review: { requiresConfirmation: true, confirmationMessage: 'Send it?' },
          run: ({ previousStepContent }) => `Sent: ${previousStepContent}`,
        }),
      ],
    }),
    drafts,
  ],
  websocket: true,
  mcp: true,
  a2a: true,
  openai: true,
  agui: true,
  aiSdk: true,
} satisfies RunyardOptions;
