import type { ModelRequest, ModelResponse, ToolDefinition } from '../models/model.js';
import type { StepScope } from '../runs/context.js';
import { modelRequestCompleted, modelRequestStarted, runContent } from './agent-events.js';
import type { AgentExecution } from './execution.js';
import type { ModelRecord } from './journal-records.js';

/** One model call, journaled. */
export async function callModel(execution: AgentExecution, turn: number): Promise<ModelRecord> {
  const { context, model } = execution;
  const key = `model:${turn}`;
  if (context.recorded(key)?.status !== 'completed') {
    context.emit(modelRequestStarted(model), `${key}:started:${context.run.attempt}`);
  }
  const record = await context.step<ModelRecord>(key, { kind: 'model', name: model.id }, (scope) =>
    context.run.input.options.stream && execution.output === null
      ? streamed(execution, scope)
      : whole(execution, scope),
  );
  context.draft.content = record.content;
  context.emit(modelRequestCompleted(model, record.usage, record.timeToFirstToken), `${key}:completed`);
  return record;
}

async function whole(execution: AgentExecution, scope: StepScope): Promise<ModelRecord> {
  const { context, model, output } = execution;
  const started = performance.now();
  const response = await model.generate(requestOf(execution), { signal: scope.signal });
  // with an output shape the content is shown once, in its shape, when the run completes
  if (output === null && response.content !== '') {
    context.emit(runContent(response.content, 'str', response.reasoningContent), `${scope.key}:content`);
  }
  return modelRecordOf(response, elapsedSeconds(started));
}

async function streamed(execution: AgentExecution, scope: StepScope): Promise<ModelRecord> {
  const { context, model } = execution;
  const started = performance.now();
  const delta = runContent('', 'str');
  let firstToken: number | null = null;
  context.draft.content = '';
  for await (const chunk of model.stream(requestOf(execution), { signal: scope.signal })) {
    if (chunk.type === 'response')
      return modelRecordOf(chunk.response, firstToken ?? elapsedSeconds(started));
    if (firstToken === null) {
      firstToken = elapsedSeconds(started);
      context.emitDelta(delta, '');
    }
    if (chunk.type === 'text') {
      context.draft.content += chunk.text;
      context.emitDelta(delta, chunk.text);
    } else {
      context.emitDelta(runContent('', 'str', chunk.text), '');
    }
    const congestion = context.congestion();
    if (congestion !== undefined) await congestion;
  }
  throw new Error(`The model ${model.id} ended its stream without a response`);
}

function requestOf({ agent, context, messages, model, output, tools }: AgentExecution): ModelRequest {
  return {
    messages,
    tools: toolDefinitions(tools.values()),
    ...(agent.settings.toolChoice !== undefined && { toolChoice: agent.settings.toolChoice }),
    media: context.media,
    ...(output !== null && model.capabilities.structuredOutput === 'native' && { output: output.format }),
  };
}

function toolDefinitions(tools: Iterable<{ definition: ToolDefinition }>): ToolDefinition[] {
  return Array.from(tools, (tool) => tool.definition);
}

export function modelRecordOf(response: ModelResponse, timeToFirstToken: number): ModelRecord {
  return {
    content: response.content,
    finishReason: response.finishReason,
    usage: { ...response.usage },
    timeToFirstToken,
    ...(response.reasoningContent && { reasoning: response.reasoningContent }),
    ...(response.toolCalls.length > 0 && { toolCalls: response.toolCalls.map((call) => ({ ...call })) }),
    ...(response.providerData !== undefined && { providerData: response.providerData }),
  };
}

export function elapsedSeconds(started: number): number {
  return Math.round(performance.now() - started) / 1000;
}
