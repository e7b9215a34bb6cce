import { z } from 'zod';
import type { JsonObject } from '../../../json.js';
import type { MemoryChange } from '../../../memory/user-memories.js';
import { once } from '../../../once.js';
import { ToolRefused } from '../../../tools/call/tool-hooks.js';
import { nativeTool, type Tool } from '../../../tools/tool.js';
import type { ToolCallSite } from '../../../tools/tool-context.js';
import { shortened } from '../../auxiliary/bounded-text.js';
import { turnOf } from '../../continuation/conversation.js';
import { addition } from '../../memory/memory-changes.js';
import {
  longestMemory,
  longestTopic,
  memoryText,
  memoryTopics,
  mostTopics,
} from '../../memory/memory-text.js';
import { executionOf, stepKeyOf } from './execution-of-call.js';

const mostFound = 20;
const longestShown = 1_000;

const operations = ['add', 'update', 'delete'] as const;
type Operation = (typeof operations)[number] | 'clear';

const fields = () => ({
  memory: z
    .string()
    .max(longestMemory)
    .optional()
    .describe(
      'For add and update: one fact about the user, as a sentence that can be understood on its own.',
    ),
  topics: z
    .array(z.string().max(longestTopic))
    .max(mostTopics)
    .optional()
    .describe('For add and update: what it is about, in a few words each.'),
  memory_id: z
    .string()
    .max(255)
    .optional()
    .describe('For update and delete: the id of the memory, as it stands before its text.'),
});

type Wanted = { operation: Operation; memory?: string; topics?: string[]; memory_id?: string };

const purpose =
  'Change what you remember about the user from one conversation to the next: add something new that will matter later, update what has changed, delete what is no longer true or what the user wants forgotten.';

const updateUserMemory = once(() =>
  nativeTool({
    name: 'update_user_memory',
    description: purpose,
    inputSchema: z.object({
      operation: z.enum(operations).describe('What to do.'),
      ...fields(),
    }),
    execute: (args, site) => update(args, site),
  }),
);

const updateOrClearUserMemory = once(() =>
  nativeTool({
    name: 'update_user_memory',
    description: `${purpose} clear forgets everything: only when the user asks for just that.`,
    inputSchema: z.object({
      operation: z.enum([...operations, 'clear']).describe('What to do.'),
      ...fields(),
    }),
    execute: (args, site) => update(args, site),
  }),
);

const searchUserMemories = once(() =>
  nativeTool({
    name: 'search_user_memories',
    description: 'Look up what you remember about the user: more than what you are shown, the newest first.',
    inputSchema: z.object({
      query: z
        .string()
        .max(500)
        .optional()
        .describe('Words that a memory has to hold; leave it out for the newest.'),
    }),
    readOnly: true,
    async execute({ query = '' }, site) {
      const { memories } = executionOf(site).context.ports;
      const userId = userOf(site);
      const found =
        query.trim() === ''
          ? await memories.list(userId, mostFound)
          : await memories.search(userId, query, mostFound);
      if (found.length === 0) return 'Nothing is remembered about that.';
      return found.map(({ memoryId, memory, topics }) => ({
        memory_id: memoryId,
        memory: shortened(memory, longestShown),
        ...(topics.length > 0 && { topics }),
      }));
    },
  }),
);

/** The tools with which a model keeps the memories of the user itself. */
export function memoryTools(allowClear: boolean): readonly Tool[] {
  return [allowClear ? updateOrClearUserMemory() : updateUserMemory(), searchUserMemories()];
}

async function update(wanted: Wanted, site: ToolCallSite): Promise<JsonObject> {
  const { context } = executionOf(site);
  const userId = userOf(site);
  const change = changeOf(wanted, site);
  if (change.kind === 'update' && (await context.ports.memories.find(userId, change.memoryId)) === undefined)
    throw new ToolRefused(`There is no memory with the id '${change.memoryId}'. Nothing was changed.`);
  // an execution after a crash has to find this very call: what another one asks for would come on top
  await context.stored();
  await context.ports.memories.change(userId, [change], decidedAt(site));
  return { done: change.kind, ...('memoryId' in change && { memory_id: change.memoryId }) };
}

function changeOf({ operation, memory, topics, memory_id }: Wanted, site: ToolCallSite): MemoryChange {
  const { context, input } = executionOf(site);
  if (operation === 'clear') return { kind: 'clear' };
  const text = memoryText(memory) ?? '';
  const memoryId = memory_id?.trim() ?? '';
  if (operation !== 'delete' && text === '')
    throw new ToolRefused(`To ${operation} a memory, say in 'memory' what is to be remembered.`);
  if (operation === 'add') {
    const source = { run: context.run, message: input.content };
    return addition(source, site.idempotencyKey, text, memoryTopics(topics));
  }
  if (memoryId === '') throw new ToolRefused(`To ${operation} a memory, give its id in 'memory_id'.`);
  if (operation === 'delete') return { kind: 'delete', memoryId };
  return { kind: 'update', memoryId, memory: text, ...(topics && { topics: memoryTopics(topics) }) };
}

/** When the model asked for it: the same, however often the call is made. */
function decidedAt(site: ToolCallSite): number {
  const { context } = executionOf(site);
  const turn = turnOf({ key: stepKeyOf(site) });
  return context.recorded(`model:${turn}`)?.endedAt ?? context.timers.now();
}

function userOf({ userId }: ToolCallSite): string {
  if (userId === null)
    throw new ToolRefused('This conversation belongs to no known user, so nothing is remembered.');
  return userId;
}
