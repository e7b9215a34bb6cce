import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import {
  agent,
  type Message,
  type Model,
  type ModelChunk,
  type ModelRequest,
  type ModelResponse,
  Runyard,
  type Tool,
  type ToolContext,
  tool,
} from 'runyard';
import {
  callId,
  encouragement,
  failure,
  lastWords,
  readPlan,
  type ToolFacts,
  type ToolName,
  toolFacts,
} from './plan.js';

/**
 * The service in the storm. What a run does follows from its message alone, never from what this process did before;
 * only how long everything takes is left to chance, so that a kill finds it anywhere. What tools do is counted in a
 * file that outlives the process.
 */
const { CHAOS_FOLDER: folder = '.', CHAOS_DATABASE: database, CHAOS_SETTINGS: settings = '{}' } = process.env;

async function aWhile(mostMs: number, signal: AbortSignal): Promise<void> {
  await after(Math.random() * mostMs, undefined, { signal });
}

function write(phase: 'begin' | 'effect', name: string, context: ToolContext): void {
  const { runId, toolCallId, idempotencyKey } = context;
  const line = { phase, tool: name, run: runId, call: toolCallId, key: idempotencyKey, pid: process.pid };
  appendFileSync(join(folder, 'effects'), `${JSON.stringify(line)}\n`);
}

async function execute(name: string, context: ToolContext): Promise<string> {
  write('begin', name, context);
  await aWhile(40, context.signal);
  write('effect', name, context);
  await aWhile(20, context.signal);
  return `${name} did it`;
}

const nothing = { type: 'object', properties: {} } as const;
const amount = { type: 'object', properties: { amount: { type: 'integer' } }, required: ['amount'] } as const;
const question = {
  question: 'Which one?',
  header: null,
  multiSelect: false,
  options: ['left', 'right'].map((label) => ({ label, description: null })),
};

function toolOf([name, facts]: [string, ToolFacts]): Tool {
  const { policy, gate, approval } = facts;
  const base = { name, description: 'Leaves a trace', parameters: nothing, onUnknownOutcome: policy };
  if (gate === 'external_execution') return tool({ ...base, externalExecution: true });
  if (gate === 'user_feedback') return tool({ ...base, askPerson: () => ({ questions: [question] }) });
  return tool({
    ...base,
    parameters: gate === 'user_input' ? amount : nothing,
    sideEffects: policy !== 'retry',
    requiresConfirmation: gate === 'confirmation',
    requiresUserInput: gate === 'user_input',
    ...(approval !== undefined && { approval }),
    execute: (_args, context) => execute(name, context),
  });
}

/** The next words of a conversation, from what was said in it. */
function nextResponse(messages: readonly Message[]): ModelResponse {
  const start = messages.findLastIndex(({ role, content }) => role === 'user' && content.startsWith('#'));
  const plan = readPlan(messages[start]?.content ?? '');
  const later = messages.slice(start + 1);
  const turn = later.filter(
    ({ role, content, toolCalls }) =>
      (role === 'assistant' && !!toolCalls?.length) || content === encouragement,
  ).length;
  const calls = plan.turns[turn];
  if (calls?.[0] === failure) throw new Error(failure);
  return {
    content: calls === undefined ? lastWords(plan) : `Turn ${turn} of ${plan.token} comes now. `,
    toolCalls: (calls ?? []).map((name, position) => ({
      id: callId(turn, position, name as ToolName),
      name,
      arguments: '{}',
    })),
    usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    finishReason: calls === undefined ? 'stop' : 'tool_calls',
  };
}

const model: Model = {
  id: 'planned',
  provider: 'Storm',
  name: 'Planned',
  capabilities: { structuredOutput: 'native', tools: true },
  async generate({ messages }: ModelRequest, { signal }) {
    await aWhile(60, signal);
    return nextResponse(messages);
  },
  async *stream({ messages }: ModelRequest, { signal }): AsyncGenerator<ModelChunk> {
    const response = nextResponse(messages);
    for (const text of response.content.match(/\S+\s*/g) ?? []) {
      await aWhile(20, signal);
      yield { type: 'text', text };
    }
    yield { type: 'response', response };
  },
};

export const app = new Runyard({
  port: 0,
  dataDir: folder,
  ...(database !== undefined && { database }),
  autoMigrate: true,
  logFormat: 'json',
  logLevel: 'warn',
  agents: [agent({ id: 'storm', model, tools: Object.entries(toolFacts).map(toolOf) })],
  ...(JSON.parse(settings) as object),
});
