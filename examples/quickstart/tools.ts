import { type Json, tool } from 'runyard';
import { z } from 'zod';

/** Writes into the state of the session: the next run of the same session can read it. */
export const remember = tool({
  name: 'remember',
  description: 'Remember a fact for the rest of this session.',
  inputSchema: z.object({ fact: z.string().min(1).describe('The fact, as one sentence') }),
  execute: ({ fact }, { state }) => {
    const facts = [...listOf(state.get('facts')), fact];
    state.set('facts', facts);
    return { remembered: fact, facts: facts.length };
  },
});

/** A refund needs a confirmation: a call of this tool pauses the run until a person answers. */
export const refund = tool({
  name: 'refund',
  description: 'Refund euros to the customer.',
  inputSchema: z.object({ euros: z.number().positive().describe('How much') }),
  sideEffects: true,
  requiresConfirmation: true,
  execute: ({ euros }) => `Refunded ${euros} euros`,
});

function listOf(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}
