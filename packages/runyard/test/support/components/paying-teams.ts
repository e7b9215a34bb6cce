import { z } from 'zod';
import type { JsonObject } from '../../../src/core/json.js';
import { agent, GuardrailRefusal, team, tool } from '../../../src/index.js';
import { ScriptBook } from '../providers/script-book.js';
import { payingAgent } from './run-life.js';

export const book = new ScriptBook();
export const others = new ScriptBook();
const { agent: payer, paid: payments } = payingAgent(book, 'payer');
export const paid = payments;
export const helper = agent({ id: 'helper', name: 'Helper', model: book.model });
const onlooker = agent({ id: 'onlooker', model: others.model });
export const released: number[] = [];
const release = tool({
  name: 'release',
  description: 'Needs an approval',
  approval: 'required',
  inputSchema: z.object({ version: z.number() }),
  execute: ({ version }) => {
    released.push(version);
    return `released ${version}`;
  },
});
const officer = agent({ id: 'officer', model: book.model, tools: [release] });
const tell = tool({
  name: 'tell',
  description: 'Sends an event',
  execute: (_args, { emit }) => {
    emit({ news: 'yes' });
    return 'told';
  },
});
const teller = agent({ id: 'teller', model: book.model, outputModel: book.model, tools: [tell] });
const cashiers = team({ id: 'cashiers', model: book.model, members: [payer] });

export const teams = [
  team({ id: 'desk', name: 'Desk', model: book.model, members: [payer, helper, cashiers, officer, teller] }),
  team({ id: 'crowd', model: book.model, mode: 'broadcast', members: [payer, onlooker] }),
  team({ id: 'list', model: book.model, mode: 'tasks', members: [helper] }),
  team({
    id: 'guarded',
    model: book.model,
    members: [helper],
    postHooks: [
      {
        name: 'no-secrets',
        required: true,
        run: ({ content }) => {
          if (String(content).includes('secret')) throw new GuardrailRefusal('That is a secret');
        },
      },
    ],
  }),
];

/** The leader hands a task to a member. */
export const ask = (member: string, task: string, id = `ask-${member}`) => ({
  name: 'delegate_task_to_member',
  arguments: { member_id: member, task },
  id,
});
export const use = (name: string, args: JsonObject) => ({ name, arguments: args });
