import { z } from 'zod';
import { once } from '../../../once.js';
import { nativeTool } from '../../../tools/tool.js';
import { shortened } from '../../auxiliary/bounded-text.js';
import { toolExecutionsOf } from '../../tool-executions.js';
import { historyOf } from '../../transcript.js';
import { exchangesToRead } from './exchanges-to-read.js';
import { executionOf } from './execution-of-call.js';

const longestText = 2_000;
/** How far back tool calls are looked for. */
const searchedRuns = 50;

export const getChatHistory = once(() =>
  nativeTool({
    name: 'get_chat_history',
    description: 'Read what was said earlier in this conversation, the oldest first.',
    inputSchema: z.object({ num_chats: exchangesToRead }),
    readOnly: true,
    async execute({ num_chats }, site) {
      const { context, agent } = executionOf(site);
      const earlier = await context.history(num_chats, agent.settings.historyFrom);
      return historyOf(earlier)
        .filter(({ role, content }) => (role === 'user' || role === 'assistant') && content !== '')
        .map(({ role, content }) => ({ role, content: shortened(content, longestText) }));
    },
  }),
);

export const getToolCallHistory = once(() =>
  nativeTool({
    name: 'get_tool_call_history',
    description:
      'Read which tools were called earlier in this conversation and what came of it, the oldest first.',
    inputSchema: z.object({
      num_calls: z
        .number()
        .int()
        .min(1)
        .max(30)
        .default(3)
        .describe('How many calls to read, counted from the last one.'),
    }),
    readOnly: true,
    async execute({ num_calls }, site) {
      const earlier = await executionOf(site).context.history(searchedRuns);
      return earlier
        .flatMap(({ steps }) => toolExecutionsOf(steps))
        .slice(-num_calls)
        .map(({ name, args, error, result }) => ({
          tool_name: name,
          tool_args: args,
          result: shortened(result ?? '', longestText),
          ...(error && { failed: true }),
        }));
    },
  }),
);
