import { idFrom } from '../../ids.js';
import type { JsonObject } from '../../json.js';
import type { MemoryChange, UserMemory } from '../../memory/user-memories.js';
import type { ToolDefinition } from '../../models/model.js';
import type { Run } from '../../runs/run.js';
import { parseArguments } from '../../tools/call/parse-arguments.js';
import type { ModelRecord } from '../journal-records.js';
import { longestMemory, memoryText, memoryTopics, storable } from './memory-text.js';

/** What one answer of the memory model may change. */
const mostChanges = 20;

const memory = {
  type: 'string',
  description: 'One fact about the user as a short sentence that can be understood on its own.',
};
const topics = {
  type: 'array',
  items: { type: 'string' },
  description: 'What it is about: a few topics of one or two words, e.g. food.',
};
const memoryId = { type: 'string', description: 'The id of the memory, as it stands before its text.' };

const clearMemory: ToolDefinition = {
  name: 'clear_memory',
  description: 'Forget all that is remembered about the user. Only when the user asks for just that.',
  inputSchema: object({}),
};

const changingTools: readonly ToolDefinition[] = [
  {
    name: 'add_memory',
    description: 'Remember something new about the user.',
    inputSchema: object({ memory, topics }),
  },
  {
    name: 'update_memory',
    description: 'Put a new text in the place of what is remembered, when it has changed or more is known.',
    inputSchema: object({ memory_id: memoryId, memory, topics }),
  },
  {
    name: 'delete_memory',
    description: 'Forget something: it is no longer true, or the user wants it forgotten.',
    inputSchema: object({ memory_id: memoryId }),
  },
];

/** What the memory model may ask for. */
export function memoryModelTools(allowClear: boolean): readonly ToolDefinition[] {
  return allowClear ? [...changingTools, clearMemory] : changingTools;
}

/** Where changes come from. */
export interface ChangeSource {
  readonly run: Run;
  /** What the user said. */
  readonly message: string;
  /** The same whenever the run is executed again: the ids of new memories are made from it. */
  readonly seed: string;
  /** What the model was shown. */
  readonly known: readonly UserMemory[];
  readonly allowClear: boolean;
}

/** The changes that the answer of a memory model asks for. It is the model's: what does not fit is left out. */
export function changesIn({ toolCalls = [] }: ModelRecord, source: ChangeSource): readonly MemoryChange[] {
  return toolCalls.slice(0, mostChanges).flatMap((call, position) => {
    const parsed = parseArguments(call.arguments);
    return (parsed.ok && changeOf(call.name, parsed.args, position, source)) || [];
  });
}

function changeOf(
  name: string,
  args: JsonObject,
  position: number,
  source: ChangeSource,
): MemoryChange | undefined {
  const text = memoryText(args.memory);
  const id = typeof args.memory_id === 'string' ? args.memory_id.trim() : '';
  if (name === 'add_memory' && text !== undefined) {
    const added = addition(source, `${source.seed}:${position}`, text, memoryTopics(args.topics));
    return isKnown(text, added.memoryId, source.known) ? undefined : added;
  }
  if (name === 'update_memory' && text !== undefined && id !== '')
    return {
      kind: 'update',
      memoryId: id,
      memory: text,
      ...(Array.isArray(args.topics) && { topics: memoryTopics(args.topics) }),
    };
  if (name === 'delete_memory' && id !== '') return { kind: 'delete', memoryId: id };
  return name === 'clear_memory' && source.allowClear ? { kind: 'clear' } : undefined;
}

/** A new memory of the run's component, with an id that is the same for the same seed. */
export function addition(
  { run, message }: Pick<ChangeSource, 'run' | 'message'>,
  seed: string,
  text: string,
  about: readonly string[],
): MemoryChange & { readonly kind: 'add' } {
  const { kind, componentId } = run;
  return {
    kind: 'add',
    memoryId: idFrom(seed),
    memory: text,
    topics: about,
    agentId: kind === 'agent' ? componentId : null,
    teamId: kind === 'team' ? componentId : null,
    input: storable(message, longestMemory) || null,
  };
}

/** A model may repeat what is known already. The memory that this very change made does not count. */
function isKnown(text: string, ownId: string, known: readonly UserMemory[]): boolean {
  const wanted = text.toLowerCase();
  return known.some((other) => other.memoryId !== ownId && other.memory.toLowerCase() === wanted);
}

function object(properties: JsonObject): ToolDefinition['inputSchema'] {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}
