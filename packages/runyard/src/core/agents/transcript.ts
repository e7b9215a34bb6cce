import type { Media } from '../media.js';
import type { Message } from '../models/message.js';
import type { Run, StepRecord } from '../runs/run.js';
import type { ContextRecord, ModelRecord, ToolRecord } from './journal-records.js';

/** One tool call of a run, as the wire's ToolExecution needs it. Times are milliseconds. */
export interface ToolExecution {
  readonly callId: string;
  readonly name: string;
  readonly args: ToolRecord['args'];
  readonly error: boolean | null;
  readonly result: string | null;
  readonly stopAfterCall: boolean;
  readonly startedAt: number;
  readonly endedAt: number | null;
}

/** Folds the journal of a run into its messages, history left out. */
export function messagesOf(run: Run, steps: readonly StepRecord[]): Message[] {
  const messages: Message[] = [];
  for (const step of steps) {
    if (step.status !== 'completed') continue;
    if (step.kind === 'context') messages.push(...contextMessages(run, step));
    else if (step.kind === 'model') messages.push(assistantMessage(step));
    else if (step.kind === 'tool') messages.push(toolMessage(step));
  }
  return messages;
}

/** The messages that a later run of the session is shown of this one. */
export function historyMessages(run: Run, steps: readonly StepRecord[]): Message[] {
  return messagesOf(run, steps)
    .filter(({ role }) => role !== 'system')
    .map((message) => ({ ...message, fromHistory: true }));
}

/** In the order in which the model was shown them: the system message first. */
export function withHistory(own: readonly Message[], history: readonly Message[]): Message[] {
  const [first, ...rest] = own;
  return first?.role === 'system' ? [first, ...history, ...rest] : [...history, ...own];
}

export function contextMessages(run: Run, step: StepRecord): Message[] {
  const record = step.output as ContextRecord;
  const createdAt = seconds(step.startedAt);
  const user: Message = {
    id: `${step.runId}:user`,
    role: 'user',
    content: record.user,
    createdAt,
    ...(run.input.media.length > 0 && { media: run.input.media }),
  };
  if (record.system === null) return [user];
  return [{ id: `${step.runId}:system`, role: 'system', content: record.system, createdAt }, user];
}

export function assistantMessage(step: StepRecord): Message {
  const record = step.output as ModelRecord;
  return {
    id: `${step.runId}:${step.key}`,
    role: 'assistant',
    content: record.content,
    createdAt: seconds(step.startedAt),
    usage: record.usage,
    ...(record.reasoning !== undefined && { reasoningContent: record.reasoning }),
    ...(record.toolCalls !== undefined && { toolCalls: record.toolCalls }),
    ...(record.providerData !== undefined && { providerData: record.providerData }),
  };
}

export function toolMessage(step: StepRecord): Message {
  const record = step.output as ToolRecord;
  return {
    id: `${step.runId}:${step.key}`,
    role: 'tool',
    content: record.content,
    createdAt: seconds(step.startedAt),
    toolCallId: record.callId,
    toolName: step.name,
    ...(record.args !== null && { toolArgs: record.args }),
    ...(record.error && { toolCallError: true }),
    ...(record.media !== undefined && { media: record.media as unknown as Media[] }),
  };
}

/** The tool calls of a run, in the order in which they were asked for. */
export function toolExecutionsOf(steps: readonly StepRecord[]): ToolExecution[] {
  const executions: ToolExecution[] = [];
  for (const step of steps) {
    if (step.kind !== 'tool' || step.status !== 'completed') continue;
    const record = step.output as ToolRecord;
    if (record.listed) executions.push(toolExecution(step, record));
  }
  return executions;
}

export function toolExecution(step: StepRecord, record: ToolRecord): ToolExecution {
  return {
    callId: record.callId,
    name: step.name,
    args: record.args,
    error: record.error,
    result: record.content,
    stopAfterCall: record.stop ?? false,
    startedAt: step.startedAt,
    endedAt: step.endedAt,
  };
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
