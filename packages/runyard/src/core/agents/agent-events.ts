import type { MediaFields } from '../events/agent-event.js';
import type { PieceEvent, RunEvent } from '../events/run-event.js';
import type { Json, JsonObject } from '../json.js';
import type { Media } from '../media/media.js';
import type { UserMemory } from '../memory/user-memories.js';
import type { Message, Usage } from '../models/message.js';
import type { Requirement } from '../runs/context.js';
import type { RunEnd } from '../runs/executable.js';
import type { StepRecord } from '../runs/run.js';
import type { ToolRequirement } from '../tools/questions/requirement.js';
import { endingFields } from './answer/ending.js';
import type { ModelRecord } from './journal-records.js';
import { referencesOf } from './knowledge/references.js';
import type { ReasoningStep } from './reasoning/reasoning-step.js';
import { pausedText } from './requirements/paused-text.js';
import { requirementBody } from './requirements/requirement-body.js';
import { toolExecutionBody } from './requirements/tool-execution-body.js';
import type { ToolRequirementState } from './requirements/tool-requirements.js';
import { type ToolExecution, waitingExecution } from './tool-executions.js';

/** The events of an agent's run, in the words of the wire contract. */

interface ModelName {
  readonly id: string;
  readonly provider: string;
}

/** `recovered`: the run continues after its process died. */
export function runStarted(model: ModelName, recovered = false): RunEvent {
  return { event: 'RunStarted', ...modelFields(model), ...(recovered && { recovered }) };
}

export function modelFields({ id, provider }: ModelName) {
  return { model: id, model_provider: provider };
}

export function modelRequestCompleted(model: ModelName, record: ModelRecord): RunEvent {
  const { usage, timeToFirstToken } = record;
  return {
    event: 'ModelRequestCompleted',
    ...modelFields(model),
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    total_tokens: usage.totalTokens,
    time_to_first_token: timeToFirstToken,
    reasoning_tokens: usage.reasoningTokens ?? 0,
    cache_read_tokens: usage.cacheReadTokens ?? 0,
    cache_write_tokens: usage.cacheWriteTokens ?? 0,
    finish_reason: record.finishReason,
    finish_message: record.finishMessage,
    ...(record.cached && { cached: true as const }),
  };
}

export function runContent(content: Json, contentType: string, reasoning = ''): PieceEvent {
  return {
    event: 'RunContent',
    content,
    workflow_agent: false,
    content_type: contentType,
    reasoning_content: reasoning,
  };
}

/** What the main model says while another one is to write the final text. */
export function runIntermediateContent(content: string): PieceEvent {
  return { event: 'RunIntermediateContent', content, content_type: 'str' };
}

export function reasoningCompleted(steps: readonly ReasoningStep[]): RunEvent {
  return {
    event: 'ReasoningCompleted',
    content: { reasoning_steps: steps },
    content_type: 'ReasoningSteps',
  };
}

export function toolCallStarted(tool: ToolExecution): RunEvent {
  return { event: 'ToolCallStarted', tool: toolExecutionBody(tool) };
}

export function toolCallCompleted(tool: ToolExecution): RunEvent {
  return {
    event: 'ToolCallCompleted',
    tool: toolExecutionBody(tool),
    content: completedText(tool),
    ...mediaFields(tool.media ?? []),
  };
}

export function toolCallError(tool: ToolExecution): RunEvent {
  return { event: 'ToolCallError', tool: toolExecutionBody(tool), error: tool.result ?? '' };
}

export function memoryUpdateCompleted(memories: readonly UserMemory[]): RunEvent {
  return { event: 'MemoryUpdateCompleted', memories: memories.map(memoryBody) };
}

function memoryBody({ memoryId, memory, topics, userId, createdAt, updatedAt }: UserMemory) {
  return {
    memory_id: memoryId,
    memory,
    topics,
    user_id: userId,
    created_at: wholeSeconds(createdAt),
    updated_at: wholeSeconds(updatedAt),
  };
}

function wholeSeconds(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** What an agent waits for is always a tool call. */
function waitingCalls(requirements: readonly Requirement[]): readonly ToolRequirementState[] {
  return requirements.map(({ key, data }) => ({
    waitKey: `wait:${key}`,
    toolKey: key,
    // `waitFor` recorded it, and the journal holds it as data
    requirement: data as unknown as ToolRequirement,
    answer: null,
  }));
}

export function runPaused(states: readonly ToolRequirementState[]): RunEvent {
  return {
    event: 'RunPaused',
    content: pausedText(states.map(({ requirement }) => requirement)),
    tools: states.map((state) => toolExecutionBody(waitingExecution(state))),
    requirements: states.map(requirementBody),
  };
}

export function endEvents(end: RunEnd, steps: readonly StepRecord[]): readonly RunEvent[] {
  const { result } = end;
  const references = referencesOf(steps);
  const completed: RunEvent = {
    event: 'RunCompleted',
    content: result.content,
    content_type: result.contentType,
    reasoning_content: result.reasoningContent,
    model_provider_data: result.modelProviderData,
    ...endingFields(result),
    references: references.length > 0 ? references : undefined,
    metadata: result.metadata,
    metrics: result.metrics,
    session_state: result.sessionState,
    ...mediaFields(result.media ?? []),
    ...result.extra,
  };
  switch (end.status) {
    case 'completed':
      return [completed];
    case 'cancelled':
      return [
        { event: 'RunCancelled', reason: end.reason, content: result.content || end.reason },
        completed,
      ];
    case 'paused':
      return [{ event: 'RunContentCompleted' }, runPaused(waitingCalls(end.requirements))];
    case 'error':
      return [
        {
          event: 'RunError',
          content: end.failure.message,
          error_type: end.failure.type,
          error_id: end.failure.id,
          additional_data: end.failure.additionalData,
        },
      ];
  }
}

/** Message of the wire. Fields without a value are left out. */
export function messageBody(message: Message): Record<string, unknown> {
  const body = {
    id: message.id,
    role: message.role,
    content: message.content,
    from_history: message.fromHistory ?? false,
    stop_after_tool_call: false,
    created_at: message.createdAt,
    reasoning_content: message.reasoningContent,
    compressed_content: message.compressedContent,
    tool_calls: message.toolCalls?.map((call) => ({
      id: call.id,
      type: 'function',
      function: { name: call.name, arguments: call.arguments },
    })),
    tool_call_id: message.toolCallId,
    tool_name: message.toolName,
    tool_args: message.toolArgs,
    tool_call_error: message.toolCallError,
    provider_data: message.providerData,
    references: message.references,
    metrics: message.usage && usageBody(message.usage),
  };
  return message.media === undefined ? body : { ...body, ...mediaFields(message.media) };
}

const mediaNames = { image: 'images', audio: 'audio', video: 'videos', file: 'files' } as const;

/** Media of a message or an event: described, for their bytes stand once in the body of the run. */
export function mediaFields(media: readonly Media[]): MediaFields {
  const fields: MediaFields = {};
  for (const item of media) {
    const name = mediaNames[item.kind];
    fields[name] ??= [];
    fields[name].push(mediaBody(item));
  }
  return fields;
}

/** A media object of the wire. Fields without a value are left out. */
export function mediaBody(media: Media, content?: string): JsonObject {
  const fields: Record<string, Json | undefined> = {
    id: media.id,
    url: media.url,
    content,
    mime_type: media.mimeType,
    format: media.format,
    filename: media.filename,
    size: media.size,
    ...media.details,
  };
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, Json] => entry[1] !== undefined),
  );
}

/** Token counts of the wire: zeros are left out. Field by field: in a loop over their names, V8 looks each up anew. */
export function usageBody(usage: Partial<Usage>): JsonObject {
  const body: JsonObject = {};
  if (usage.inputTokens) body.input_tokens = usage.inputTokens;
  if (usage.outputTokens) body.output_tokens = usage.outputTokens;
  if (usage.totalTokens) body.total_tokens = usage.totalTokens;
  if (usage.audioInputTokens) body.audio_input_tokens = usage.audioInputTokens;
  if (usage.audioOutputTokens) body.audio_output_tokens = usage.audioOutputTokens;
  if (usage.cacheReadTokens) body.cache_read_tokens = usage.cacheReadTokens;
  if (usage.cacheWriteTokens) body.cache_write_tokens = usage.cacheWriteTokens;
  if (usage.reasoningTokens) body.reasoning_tokens = usage.reasoningTokens;
  return body;
}

const longArguments = 100;

function completedText(tool: ToolExecution): string {
  const shown = Object.entries(tool.args ?? {})
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
  const duration = ((tool.endedAt ?? tool.startedAt) - tool.startedAt) / 1000;
  return `${tool.name}(${shown.length > longArguments ? '...' : shown}) completed in ${duration.toFixed(4)}s. `;
}
