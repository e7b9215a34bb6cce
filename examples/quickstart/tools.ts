import { type Json, tool } from 'runyard';
import { z } from 'zod';

export const add = tool({
  name: 'add',
  description: 'Add two numbers and return the sum.',
  parameters: z.object({ a: z.number().describe('First number'), b: z.number().describe('Second number') }),
  readOnly: true,
  execute: ({ a, b }) => ({ sum: a + b }),
});

export const currentTime = tool({
  name: 'current_time',
  description: 'Tell the current date and time.',
  parameters: z.object({
    timezone: z.string().default('UTC').describe('Name of a time zone, such as Europe/Berlin'),
  }),
  readOnly: true,
  execute: ({ timezone }) =>
    new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'long', timeZone: timezone }).format(
      new Date(),
    ),
});

/** Writes into the state of the session: the next run of the same session can read it. */
export const remember = tool({
  name: 'remember',
  description: 'Remember a fact for the rest of this session.',
  parameters: z.object({ fact: z.string().min(1).describe('The fact, as one sentence') }),
  execute: ({ fact }, { state }) => {
    const facts = [...listOf(state.get('facts')), fact];
    state.set('facts', facts);
    return { remembered: fact, facts: facts.length };
  },
});

function listOf(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}
