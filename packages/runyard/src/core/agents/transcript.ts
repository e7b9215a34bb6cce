import type { Json } from '../json.js';
import type { Media } from '../media.js';
import type { Message } from '../models/message.js';
import type { IntroductionRecord } from '../runs/introduction.js';
import type { Run, StepRecord } from '../runs/run.js';
import type {
  AnswerRecord,
  AuxiliaryRecord,
  ContextRecord,
  ModelRecord,
  ToolRecord,
} from './journal-records.js';

/** One tool call of a run, as the wire's ToolExecution needs it. Times are milliseconds. */
export interface ToolExecution {
  readonly callId: string;
  readonly name: string;
  readonly args: ToolRecord['args'];
  readonly error: boolean | null;
  readonly result: string | null;
  readonly stopAfterCall: boolean;
  /** What the call brought beside its result. */
  readonly media?: readonly Media[];
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
    else if (step.kind === 'introduction') messages.push(introductionMessage(step));
    else if (step.kind === 'answer') replaceLastWord(messages, step);
  }
  return withCompressed(messages, steps);
}

/** The model's last text gives way to what the caller got instead; of what was refused, nothing is shown. */
function replaceLastWord(messages: Message[], step: StepRecord): void {
  const { text } = step.output as AnswerRecord;
  const position = messages.findLastIndex(({ role }) => role === 'assistant');
  const last = messages[position];
  if (last === undefined) return;
  const { reasoningContent: _thoughts, providerData: _data, ...bare } = last;
  messages[position] = text === null ? { ...bare, content: '' } : { ...last, content: text };
}

/** The step that shortens the result of a tool call. */
export function compressionKey(toolKey: string): string {
  return `compression:${toolKey}`;
}

/** The short form of a tool result, if it could be made and is shorter. */
export function compressedText(compression: StepRecord | undefined, original: string): string | undefined {
  if (compression?.status !== 'completed') return undefined;
  const { content, failure } = compression.output as AuxiliaryRecord;
  const text = content.trim();
  return failure === undefined && text !== '' && text.length < original.length ? text : undefined;
}

function withCompressed(messages: Message[], steps: readonly StepRecord[]): Message[] {
  const compressions = steps.filter(
    ({ kind, key }) => kind === 'auxiliary' && key.startsWith('compression:'),
  );
  if (compressions.length === 0) return messages;
  const byKey = new Map(compressions.map((step) => [step.key, step]));
  return messages.map((message) => {
    if (message.role !== 'tool') return message;
    const toolKey = message.id.slice(message.id.indexOf(':tool:') + 1);
    const text = compressedText(byKey.get(compressionKey(toolKey)), message.content);
    return text === undefined ? message : { ...message, compressedContent: text };
  });
}

/** The messages that a later run of the session is shown of this one, the shortened ones in their short form. */
export function historyMessages(run: Run, steps: readonly StepRecord[]): Message[] {
  const messages = messagesOf(run, steps);
  // what stands before the input belongs to that run alone
  return messages
    .slice(Math.max(messages.findIndex(isInput), 0))
    .filter(({ role }) => role !== 'system')
    .map(({ compressedContent, ...message }) => ({
      ...message,
      content: compressedContent ?? message.content,
      fromHistory: true,
    }));
}

/** In the order in which the model was shown them: the history stands right before the input. */
export function withHistory(own: readonly Message[], history: readonly Message[]): Message[] {
  const input = Math.max(own.findIndex(isInput), 0);
  return [...own.slice(0, input), ...history, ...own.slice(input)];
}

function isInput({ id, role }: Message): boolean {
  return role === 'user' && id.endsWith(':user');
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
  const before = (record.additional ?? []).map(({ role, content }, position) => ({
    id: `${step.runId}:additional:${position}`,
    role,
    content,
    createdAt,
  }));
  if (record.system === null) return [...before, user];
  return [{ id: `${step.runId}:system`, role: 'system', content: record.system, createdAt }, ...before, user];
}

function introductionMessage(step: StepRecord): Message {
  const { content } = step.output as IntroductionRecord;
  return {
    id: `${step.runId}:${step.key}`,
    role: 'assistant',
    content,
    createdAt: seconds(step.startedAt),
  };
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

/** What the model and the tools of a run made beside their texts, in order. */
export function producedMedia(steps: readonly StepRecord[]): readonly Media[] {
  return steps
    .filter(({ kind, status }) => status === 'completed' && (kind === 'model' || kind === 'tool'))
    .flatMap(({ output }) => ((output as { media?: Json }).media ?? []) as unknown as Media[]);
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
    ...(record.media !== undefined && { media: record.media as unknown as Media[] }),
    startedAt: step.startedAt,
    endedAt: step.endedAt,
  };
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
