import { turnOf } from '../agents/continuation/conversation.js';
import {
  type AuxiliaryRole,
  type ModelCallRecord,
  type ModelRecord,
  modelRecord,
  toolRecord,
} from '../agents/journal-records.js';
import { toolMessage } from '../agents/transcript.js';
import type { Message } from '../models/message.js';
import { costOf, type ModelPrices } from '../models/prices.js';
import { read, readIf } from '../runs/journal/codec.js';
import { callRecord } from '../runs/journal/records.js';
import { triedKey } from '../runs/journal/try-keys.js';
import type { StepRecord } from '../runs/run.js';
import { isModelCall } from '../runs/run-usage.js';
import { attributesOf } from './attributes.js';
import {
  conventionalMessages,
  conventionalOutput,
  messageAttributes,
  plainMessages,
} from './llm-messages.js';
import { conventionalProvider, modelClassOf } from './model-names.js';
import type { SpanAttributes } from './span.js';
import type { TracedRun } from './traced-run.js';

export function llmSpanName(traced: TracedRun, step: StepRecord): string {
  const suffix = callOf(traced, step)?.stream ? 'ainvoke_stream' : 'ainvoke';
  return `${modelClassOf(traced.modelOf(step).provider, adapterOf(traced, step))}.${suffix}`;
}

function adapterOf(traced: TracedRun, step: StepRecord): string | undefined {
  if (step.kind !== 'auxiliary') return callOf(traced, step)?.adapter;
  // a call beside the conversation is written down without its adapter: the agent's own model has the agent's
  const { id, provider } = traced.modelOf(step);
  const { model, modelProvider } = traced.run;
  return id === model && provider === modelProvider ? traced.callRecord(step)?.adapter : undefined;
}

export interface LlmSpanMaking {
  readonly prices: ModelPrices;
  /** As in `TraceSource`. */
  readonly brief: boolean;
}

/** The attributes of a model call. The input of an auxiliary one is shown as far as the journal has it. */
export function llmAttributes(traced: TracedRun, step: StepRecord, making: LlmSpanMaking): SpanAttributes {
  const messages = shownMessages(traced, step);
  const record = isModelCall(step) ? read(step, modelRecord) : undefined;
  return {
    ...attributesOf({
      'llm.model_name': traced.modelOf(step).id,
      'runyard.call.cached': record?.cached,
      'runyard.call.purpose': step.kind === 'auxiliary' ? step.name : undefined,
      'input.value': JSON.stringify({ messages: plainMessages(messages) }),
    }),
    ...(!making.brief && requestAttributes(traced, step, messages)),
    ...(record !== undefined &&
      read(step, callRecord).failure === undefined &&
      answerAttributes(traced, step, record, making)),
  };
}

function requestAttributes(
  traced: TracedRun,
  step: StepRecord,
  messages: readonly Message[],
): SpanAttributes {
  const { id, provider } = traced.modelOf(step);
  return {
    ...attributesOf({
      'llm.provider': provider,
      'llm.system': systems.has(provider) ? conventionalProvider(provider) : undefined,
      // the instructions of such a call are the framework's own
      'runyard.input.partial': step.kind === 'auxiliary' ? true : undefined,
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': conventionalProvider(provider),
      'gen_ai.request.model': id,
      'gen_ai.input.messages': JSON.stringify(conventionalMessages(messages)),
      'input.mime_type': 'application/json',
    }),
    ...parameterAttributes(callOf(traced, step)),
    ...messageAttributes('llm.input_messages', messages),
  };
}

const memoryRole: AuxiliaryRole = 'memory_model';

const systems = new Set(['OpenAI', 'Anthropic']);

function callOf(traced: TracedRun, step: StepRecord): Partial<ModelCallRecord> | undefined {
  const call = step.kind === 'auxiliary' ? undefined : traced.callRecord(step);
  // of a model that stood in for another one only the name is written down
  const isOther = step.kind === 'model' && readIf(step, modelRecord)?.model !== undefined;
  if (call === undefined || !isOther) return call;
  const { adapter: _adapter, parameters: _parameters, ...same } = call;
  return same;
}

function shownMessages(traced: TracedRun, step: StepRecord): Message[] {
  const key = triedKey(step);
  if (step.kind !== 'auxiliary') return traced.messagesBefore(turnOf({ ...step, key }));
  if (!key.startsWith('compression:')) {
    const said = traced.messagesBefore(Number.POSITIVE_INFINITY, step.seq);
    // what is to be remembered is what the user has just said; the answer may be on its way at the same time
    return step.name === memoryRole ? said.filter(({ role }) => role === 'user').slice(-1) : said;
  }
  const tool = traced.step(key.slice('compression:'.length));
  return tool?.status === 'completed' ? [toolMessage(tool)] : [];
}

const conventionalParameters: Readonly<Record<string, string>> = {
  temperature: 'temperature',
  top_p: 'top_p',
  topP: 'top_p',
  top_k: 'top_k',
  topK: 'top_k',
  max_tokens: 'max_tokens',
  max_completion_tokens: 'max_tokens',
  max_output_tokens: 'max_tokens',
  maxOutputTokens: 'max_tokens',
  frequency_penalty: 'frequency_penalty',
  presence_penalty: 'presence_penalty',
  seed: 'seed',
};

function parameterAttributes(call: Partial<ModelCallRecord> | undefined): SpanAttributes {
  const { parameters = {}, tools = [] } = call ?? {};
  const named = Object.entries(parameters).flatMap(([name, value]) => {
    const known = conventionalParameters[name];
    return known === undefined || typeof value !== 'number' ? [] : [[`gen_ai.request.${known}`, value]];
  });
  const offered = tools.map((name, position) => [
    `llm.tools.${position}.tool.json_schema`,
    JSON.stringify({ type: 'function', function: { name } }),
  ]);
  return {
    ...(Object.keys(parameters).length > 0 && { 'llm.invocation_parameters': JSON.stringify(parameters) }),
    ...Object.fromEntries([...named, ...offered]),
  };
}

function answerAttributes(
  traced: TracedRun,
  step: StepRecord,
  record: ModelRecord,
  { prices, brief }: LlmSpanMaking,
): SpanAttributes {
  const { usage, finishReason } = record;
  const said = saidBy(record);
  const messages = plainMessages([said]);
  const shown = attributesOf({
    'output.value': JSON.stringify(callOf(traced, step)?.stream ? { messages } : messages),
    'llm.token_count.prompt': usage.inputTokens,
    'llm.token_count.completion': usage.outputTokens,
  });
  if (brief) return shown;
  const { id, provider } = traced.modelOf(step);
  return {
    ...shown,
    ...messageAttributes('llm.output_messages', [said]),
    ...attributesOf({
      'output.mime_type': 'application/json',
      'llm.token_count.total': usage.totalTokens,
      'llm.token_count.prompt_details.cache_read': usage.cacheReadTokens,
      'llm.token_count.prompt_details.cache_write': usage.cacheWriteTokens,
      'llm.token_count.prompt_details.audio': usage.audioInputTokens,
      'llm.token_count.completion_details.reasoning': usage.reasoningTokens,
      'llm.token_count.completion_details.audio': usage.audioOutputTokens,
      'llm.cost.total': costOf(provider, id, usage, prices),
      'gen_ai.response.model': id,
      'gen_ai.response.finish_reasons': [finishReason],
      'runyard.finish.text': record.finishMessage,
      'runyard.time_to_first_token': record.timeToFirstToken,
      'gen_ai.usage.input_tokens': usage.inputTokens,
      'gen_ai.usage.output_tokens': usage.outputTokens,
      'gen_ai.usage.cache_read.input_tokens': usage.cacheReadTokens,
      'gen_ai.usage.cache_creation.input_tokens': usage.cacheWriteTokens,
      'gen_ai.output.messages': JSON.stringify(conventionalOutput(said, finishReason)),
    }),
  };
}

function saidBy({ content, reasoning, toolCalls }: ModelRecord): Message {
  return {
    id: '',
    role: 'assistant',
    content,
    createdAt: 0,
    ...(reasoning !== undefined && { reasoningContent: reasoning }),
    ...(toolCalls !== undefined && { toolCalls }),
  };
}

/** The arguments of a tool call, as the tool took them or else as the model wrote them. */
export function argumentsOf(traced: TracedRun, step: StepRecord): string {
  const args = step.kind === 'tool' ? readIf(step, toolRecord)?.args : undefined;
  if (args) return JSON.stringify(args);
  return calledBy(traced, step)?.arguments ?? '{}';
}

/** The call that the model asked for, as it wrote it. */
export function calledBy(traced: TracedRun, step: StepRecord) {
  const [, turn = '', position = ''] = triedKey(step).split(':');
  const model = traced.step(`model:${turn}`);
  return readIf(model, modelRecord)?.toolCalls?.[Number(position)];
}
