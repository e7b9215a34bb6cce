import { isJsonObject, type Json } from '../../json.js';
import type { Message } from '../../models/message.js';
import { recordedStep } from '../../runs/context.js';
import { read } from '../../runs/journal/codec.js';
import { messageBody, reasoningCompleted } from '../agent-events.js';
import { askForJson, type JsonAnswer, spokenMessages } from '../auxiliary/ask-for-json.js';
import { plainMessage } from '../auxiliary/auxiliary-step.js';
import { stageModel } from '../auxiliary/stage-model.js';
import type { AgentSettings } from '../definition.js';
import { type AgentExecution, addExtra, type StageWork } from '../execution.js';
import { auxiliaryRecord, modelRecord } from '../journal-records.js';
import {
  type ReasoningStep,
  reasoningStepFormat,
  reasoningStepFrom,
  reasoningText,
} from './reasoning-step.js';

const defaultMinimum = 1;
const defaultMaximum = 10;

export function reasonsByItself({ reasoning, reasoningModel }: AgentSettings): boolean {
  return reasoning ?? reasoningModel !== undefined;
}

/** Thinks before the first model call, step by step, and shows the model the result. */
export function reason(execution: AgentExecution): StageWork {
  return reasonsByItself(execution.agent.settings) ? thinkFirst(execution) : undefined;
}

async function thinkFirst(execution: AgentExecution): Promise<void> {
  const { agent, context } = execution;
  const minimum = agent.settings.reasoningMinSteps ?? defaultMinimum;
  const maximum = agent.settings.reasoningMaxSteps ?? Math.max(defaultMaximum, minimum);
  const thoughts: Message[] = [];
  context.emit({ event: 'ReasoningStarted' }, 'reasoning:started');
  for (let position = 0; position < maximum; position += 1) {
    const key = `reasoning:${position}`;
    const step = await think(execution, key, thoughts, { minimum, maximum });
    if (step === undefined) break;
    thoughts.push(thoughtMessage(execution, key));
    noteReasoningStep(execution, step, `${key}:step`);
    if (step.next_action === 'final_answer' && position + 1 >= minimum) break;
  }
  const steps = reasoningStepsOf(execution);
  context.emit(reasoningCompleted(steps), 'reasoning:completed');
  if (steps.length === 0) return;
  // its fields that are undefined are not written
  const messages = thoughts.map((message) => messageBody(message) as Json);
  addExtra(execution, 'reasoning_messages', messages);
  showReasoning(execution.messages, reasoningText(steps));
}

/** Adds a step to the reasoning of the run, and emits it. */
export function noteReasoningStep(execution: AgentExecution, step: ReasoningStep, key: string): void {
  const steps = [...reasoningStepsOf(execution), step];
  addExtra(execution, 'reasoning_steps', steps);
  const { context } = execution;
  const text = reasoningText(steps);
  context.emit(
    { event: 'ReasoningStep', content: step, content_type: 'ReasoningStep', reasoning_content: text },
    key,
  );
}

export function reasoningStepsOf({ extra }: AgentExecution): readonly ReasoningStep[] {
  // only `reason` above writes them
  return (extra?.reasoning_steps as ReasoningStep[] | undefined) ?? [];
}

/** Everything that was thought in a run: its own steps, and what the model thought in each call. */
export function reasoningContentOf(execution: AgentExecution): string | undefined {
  const parts = [reasoningText(reasoningStepsOf(execution))];
  for (const step of execution.context.steps('model')) {
    if (step.status === 'completed') parts.push(read(step, modelRecord).reasoning ?? '');
  }
  return parts.filter((part) => part !== '').join('\n\n') || undefined;
}

async function think(
  execution: AgentExecution,
  key: string,
  thoughts: readonly Message[],
  bounds: { minimum: number; maximum: number },
): Promise<ReasoningStep | undefined> {
  const { agent, context } = execution;
  const answer = await askForJson(context, {
    key,
    role: 'reasoning_model',
    model: stageModel(execution, agent.settings.reasoningModel),
    system: reasoningPrompt(execution, bounds),
    messages: [...spokenMessages(execution.messages), ...thoughts.flatMap(askedToGoOn)],
    output: reasoningStepFormat,
  });
  return answer && stepOf(answer);
}

/** A model that does not keep to the form has said what it had to say in one step. */
function stepOf({ record, value }: JsonAnswer): ReasoningStep | undefined {
  const step = reasoningStepFrom(value);
  if (step !== undefined) return { ...step, reasoning: step.reasoning ?? record.reasoning ?? null };
  if (isJsonObject(value) || (record.content.trim() === '' && record.reasoning === undefined))
    return undefined;
  return {
    title: null,
    action: null,
    result: record.content.trim() || null,
    reasoning: record.reasoning ?? null,
    next_action: 'final_answer',
    confidence: null,
  };
}

function thoughtMessage({ context }: AgentExecution, key: string): Message {
  const recorded = recordedStep(context, key);
  const record = read(recorded, auxiliaryRecord);
  return {
    id: `${recorded.runId}:${key}`,
    role: 'assistant',
    content: record.content,
    createdAt: Math.floor(recorded.startedAt / 1000),
    usage: record.usage,
    ...(record.reasoning !== undefined && { reasoningContent: record.reasoning }),
  };
}

function askedToGoOn({ id, role, content, createdAt }: Message): Message[] {
  return [{ id, role, content, createdAt }, plainMessage('user', 'Go on with the next step.')];
}

function reasoningPrompt(
  { messages, tools }: AgentExecution,
  { minimum, maximum }: { minimum: number; maximum: number },
): string {
  const system = messages.find(({ role }) => role === 'system')?.content;
  const parts = [
    'Think the last message of the user through, before anything is answered to it. Each reply of yours is one step of that thinking, and nobody but you reads it.',
    `Take at least ${minimum} and at most ${maximum} steps. Break the task down, weigh alternatives, check results before you rely on them, and say final_answer as soon as the answer is certain enough.`,
  ];
  const offered = Array.from(tools.values(), ({ name, description }) => `- ${name}: ${description}`);
  if (offered.length > 0) {
    parts.push(
      `You cannot call tools while you think; plan which of these to call, and with what:\n${offered.join('\n')}`,
    );
  }
  if (system)
    parts.push(
      `The answer will be given under these instructions:\n<instructions>\n${system}\n</instructions>`,
    );
  return parts.join('\n\n');
}

/** Beside the user's words and not as a message of its own: providers differ in which order of roles they take. */
function showReasoning(messages: Message[], text: string): void {
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const asked = messages[at];
  if (asked === undefined) return;
  const block = `<reasoning>\nYou have thought this through beforehand. Build on it; do not repeat it.\n\n${text}\n</reasoning>`;
  messages[at] = { ...asked, content: `${asked.content}\n\n${block}` };
}
