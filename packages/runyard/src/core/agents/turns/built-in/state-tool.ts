import { z } from 'zod';
import { once } from '../../../once.js';
import { nativeTool } from '../../../tools/tool.js';

export const updateSessionState = once(() =>
  nativeTool({
    name: 'update_session_state',
    description:
      'Change the state of this session, which is kept for later. Give only the keys that change, each with its whole new value; null removes a key.',
    inputSchema: z.object({
      session_state_updates: z
        .record(z.string(), z.json())
        .describe('The keys to change and their new values.'),
    }),
    execute({ session_state_updates: updates }, { state }) {
      for (const [key, value] of Object.entries(updates)) {
        if (value === null) state.delete(key);
        else state.set(key, value);
      }
      return { session_state: state.all() };
    },
  }),
);
