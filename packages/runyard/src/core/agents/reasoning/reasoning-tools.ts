import { z } from 'zod';
import type { JsonObject } from '../../json.js';
import { once } from '../../once.js';
import { read } from '../../runs/journal/codec.js';
import type { StepRecord } from '../../runs/run.js';
import { lazyObject } from '../../schemas/lazy-schema.js';
import { nativeTool } from '../../tools/tool.js';
import { type Toolkit, toolkit } from '../../tools/toolkit.js';
import { reasoningCompleted } from '../agent-events.js';
import type { AgentExecution } from '../execution.js';
import { toolRecord } from '../journal-records.js';
import { noteReasoningStep, reasoningStepsOf } from './reasoning.js';
import { type ReasoningStep, reasoningStepFrom } from './reasoning-step.js';

const confidence = () => z.number().min(0).max(1).optional().describe('How sure you are, from 0 to 1');

const thinkInput = lazyObject(() => ({
  title: z.string().describe('What the thought is about, in a few words'),
  thought: z.string().describe('The thought, in detail'),
  action: z.string().optional().describe('What you are going to do because of it'),
  confidence: confidence(),
}));

const analyzeInput = lazyObject(() => ({
  title: z.string().describe('What is looked at, in a few words'),
  result: z.string().describe('The outcome that is looked at'),
  analysis: z.string().describe('What the outcome means for the task'),
  next_action: z
    .enum(['continue', 'validate', 'final_answer'])
    .default('continue')
    .describe('Whether to go on, to check the outcome first, or to answer'),
  confidence: confidence(),
}));

const think = once(() =>
  nativeTool({
    name: 'think',
    description:
      'A place to think: break the task down, plan, weigh alternatives. It changes nothing and finds nothing out.',
    inputSchema: thinkInput,
    readOnly: true,
    execute: () => 'Noted.',
  }),
);

const analyze = once(() =>
  nativeTool({
    name: 'analyze',
    description: 'A place to judge a result: what it means, whether it can be trusted, what to do next.',
    inputSchema: analyzeInput,
    readOnly: true,
    execute: ({ next_action }) => (next_action === 'final_answer' ? 'Noted. Answer now.' : 'Noted. Go on.'),
  }),
);

/**
 * Two tools with which a model thinks in the open: `think` before it acts, `analyze` after. Each call is a step of
 * the run's reasoning.
 */
export function reasoningTools(): Toolkit {
  return toolkit({
    name: 'reasoning',
    tools: [think(), analyze()],
    instructions:
      'Call think before you act or answer, and analyze when you have a result, until you are sure enough to answer. What you write there is not the answer.',
  });
}

/** Emits the reasoning among the tool calls of a turn. */
export function reportReasoningTools(execution: AgentExecution, calls: readonly StepRecord[]): void {
  for (const call of calls) {
    const step = reasoningStepIn(execution, call);
    if (step === undefined) continue;
    execution.soFar.firstThought ??= call.key;
    if (call.key === execution.soFar.firstThought)
      execution.context.emit({ event: 'ReasoningStarted' }, `${call.key}:reasoning-started`);
    noteReasoningStep(execution, step, `${call.key}:reasoning`);
  }
}

/** Closes the reasoning of a run that thought with tools. */
export function completeReasoningTools(execution: AgentExecution): void {
  const { context } = execution;
  if (reasoningStepsOf(execution).length === 0) return;
  if (execution.soFar.firstThought !== undefined)
    context.emit(reasoningCompleted(reasoningStepsOf(execution)), 'reasoning-tools:completed');
}

function reasoningStepIn({ tools }: AgentExecution, call: StepRecord): ReasoningStep | undefined {
  if (call.kind !== 'tool' || call.status !== 'completed') return undefined;
  // by its inputSchema and not by its name: it may have been given another, and others may have the same
  const inputSchema = tools.get(call.name)?.inputSchema;
  if (inputSchema !== thinkInput && inputSchema !== analyzeInput) return undefined;
  const { args, error } = read(call, toolRecord);
  if (args === null || error) return undefined;
  return reasoningStepFrom(inputSchema === thinkInput ? thought(args) : analysis(args));
}

function thought(args: JsonObject): JsonObject {
  return { ...args, reasoning: args.thought ?? null, next_action: 'continue' };
}

function analysis(args: JsonObject): JsonObject {
  return { next_action: 'continue', ...args, reasoning: args.analysis ?? null };
}
