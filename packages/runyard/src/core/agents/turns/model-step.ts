import { deliver, type Receiver } from '../../async/receiver.js';
import type { PieceEvent } from '../../events/run-event.js';
import { callOptions, onBehalf, pieceOf, responseOf, withModel } from '../../models/called-model.js';
import type { Model, ModelRequest, ModelResponse, ToolChoice, ToolDefinition } from '../../models/model.js';
import { withPace } from '../../models/pace/paced-model.js';
import type { Writable } from '../../objects.js';
import type { StepScope, StepWork } from '../../runs/context.js';
import {
  modelFields,
  modelRequestCompleted,
  runContent,
  runIntermediateContent,
  runStarted,
} from '../agent-events.js';
import { assertAccepted } from '../answer/stopped.js';
import { withOutput } from '../auxiliary/structured-request.js';
import type { AgentExecution } from '../execution.js';
import { isGuarded } from '../hooks/guarded.js';
import { type ModelRecord, modelRecord } from '../journal-records.js';
import { withNewReferences } from '../knowledge/shown-references.js';
import { Thinking } from '../reasoning/thinking.js';
import { withCache } from './cached-calls.js';
import { withOwnCallIds } from './call-ids.js';
import { isStreamed, newCallRecord } from './call-record.js';
import { answeredBy, callUntilAnswered, useRecordedModel } from './model-retries.js';
import { withTransforms } from './text-transforms.js';

/**
 * One model call of the conversation, journaled with all its tries. A run waits for its model most of its life: no async
 * function waits with it but the one that reads the answer.
 */
export function callModel(execution: AgentExecution, turn: number, receiver: Receiver<ModelRecord>): void {
  const { context } = execution;
  const key = `model:${turn}`;
  const spec = {
    kind: 'model',
    name: execution.model.id,
    record: modelRecord,
    input: newCallRecord(execution),
  } as const;
  const calls: StepWork<ModelRecord> = (scope, outcome) =>
    callUntilAnswered(execution, scope, callOnce, outcome);
  context.stepFor(key, spec, calls, new CalledModel(execution, key, receiver));
}

/** Shows that the model has answered. */
class CalledModel implements Receiver<ModelRecord> {
  constructor(
    private readonly execution: AgentExecution,
    private readonly key: string,
    private readonly receiver: Receiver<ModelRecord>,
  ) {}

  received(record: ModelRecord): void {
    const { execution, key } = this;
    const { context } = execution;
    try {
      useRecordedModel(execution, record);
      if (!hasOutputModel(execution)) context.draft.content = record.content;
      context.emit(modelRequestCompleted(execution.model, record), `${key}:completed`);
    } catch (error) {
      this.failed(error);
      return;
    }
    this.receiver.received(record);
  }

  failed(error: unknown): void {
    this.receiver.failed(error);
  }
}

/** What is recorded of an answer; throws for one that the agent does not accept. */
function accepted(execution: AgentExecution, answer: ModelRecord): ModelRecord {
  const answered: ModelRecord = Object.assign(withOwnCallIds(answer, execution.soFar), answeredBy(execution));
  assertAccepted(execution.agent.settings, execution.model, answered);
  return answered;
}

/** For followers of the run, a retry restarts it: what was streamed before is void. */
function announce({ context, model }: AgentExecution, key: string, callsBefore: number): void {
  // not a template: V8 would keep its pieces, too, as long as the event
  const once = [key, 'started', context.run.attempt].join(':');
  if (callsBefore > 0) context.emit(runStarted(model), `${once}:run:${callsBefore}`);
  context.emit(
    { event: 'ModelRequestStarted', ...modelFields(model) },
    callsBefore === 0 ? once : `${once}:${callsBefore}`,
  );
}

/** Transforms change what a cache gives as well; what it gives waits for no turn. */
function modelToCall(execution: AgentExecution): Model {
  const { model, output, context } = execution;
  return withTransforms(execution, withCache(execution, withPace(context, model)), output !== null);
}

function callOnce(
  execution: AgentExecution,
  scope: StepScope,
  callsBefore: number,
  receiver: Receiver<ModelRecord>,
): void {
  const { context } = execution;
  announce(execution, scope.key, callsBefore);
  // what an earlier call said is in its own message
  context.draft.content = '';
  if (isStreamed(execution)) streamed(execution, scope, streamedCall(execution), receiver);
  else deliver(whole(execution, scope), receiver);
}

function streamedCall(execution: AgentExecution): StreamedCall {
  return {
    model: modelToCall(execution),
    request: requestOf(execution),
    // the content is shown in its shape when it is complete
    isIntermediate: hasOutputModel(execution) || execution.output !== null,
    accepted,
  };
}

async function whole(execution: AgentExecution, scope: StepScope): Promise<ModelRecord> {
  const { agent, context, output } = execution;
  const model = modelToCall(execution);
  const started = performance.now();
  const given = await withModel(context, model, () =>
    model.generate(requestOf(execution), callOptions(model, scope)),
  );
  const response = responseOf(model, given);
  const { content, reasoningContent } = response;
  // before it is shown: an event is stored with the run
  context.guard?.hold(content.length);
  // a model's reasoning reveals its answer in advance: it too has to wait for a guardrail
  if (reasoningContent && !isGuarded(agent.settings)) {
    const thinking = new Thinking(context);
    thinking.piece(reasoningContent);
    thinking.end();
  }
  // with an output shape the content is shown once, in its shape, when the run completes; and no client follows this
  // run as it grows, so what post-hooks may still refuse need not be said
  if (output === null && content !== '' && !agent.settings.postHooks?.length) {
    const event = hasOutputModel(execution) ? runIntermediateContent(content) : runContent(content, 'str');
    context.emit(withNewReferences(execution, event), `${scope.key}:content`);
  }
  return accepted(execution, modelRecordOf(response, elapsedSeconds(started)));
}

/** A model call whose text is emitted as it arrives. */
export interface StreamedCall {
  readonly model: Model;
  readonly request: ModelRequest;
  /** Whether the run shows another text in the end: that of an output model, or this one in its shape. */
  readonly isIntermediate: boolean;
  /** Makes what is recorded from what the model answered. */
  readonly accepted?: (execution: AgentExecution, answer: ModelRecord) => ModelRecord;
}

/** Calls the receiver in the async context of the model's code, which may belong to the application. */
export function streamed(
  execution: AgentExecution,
  scope: StepScope,
  call: StreamedCall,
  receiver: Receiver<ModelRecord>,
): void {
  onBehalf(execution.context, call.model, () => void read(execution, scope, call, receiver));
}

async function read(
  execution: AgentExecution,
  scope: StepScope,
  call: StreamedCall,
  receiver: Receiver<ModelRecord>,
): Promise<void> {
  const { context } = execution;
  const { model, isIntermediate } = call;
  const started = performance.now();
  let answer: ModelRecord | undefined;
  try {
    try {
      let thinking: Thinking | undefined;
      let firstToken: number | null = null;
      let delta: PieceEvent | undefined;
      for await (const chunk of model.stream(call.request, callOptions(model, scope))) {
        if (chunk.type === 'response') {
          thinking?.end();
          answer = modelRecordOf(responseOf(model, chunk.response), firstToken ?? elapsedSeconds(started));
          break;
        }
        firstToken ??= elapsedSeconds(started);
        const piece = pieceOf(model, chunk.text);
        if (chunk.type === 'text') {
          thinking?.end();
          // only the first piece of an answer is empty: it says that the answer begins, also when it is given once more
          if (delta === undefined) {
            delta = isIntermediate ? runIntermediateContent('') : runContent('', 'str');
            context.emitDelta(withNewReferences(execution, delta), '');
          }
          if (piece !== '') context.emitDelta(delta, piece);
          if (!isIntermediate) context.draft.content += piece;
        } else {
          thinking ??= new Thinking(context);
          thinking.piece(piece);
        }
        const congestion = context.congestion();
        if (congestion !== undefined) await congestion;
      }
      if (answer === undefined) throw new Error(`The model ${model.id} ended its stream without a response`);
      context.observer?.modelAnswered(model, performance.now() - started, answer);
    } catch (error) {
      context.observer?.modelFailed(model, performance.now() - started, error);
      throw error;
    }
    answer = call.accepted?.(execution, answer) ?? answer;
  } catch (error) {
    receiver.failed(error);
    return;
  }
  receiver.received(answer);
}

/** A separate model writes the final text from what this one says. */
function hasOutputModel({ agent }: AgentExecution): boolean {
  return agent.settings.outputModel !== undefined;
}

function requestOf(execution: AgentExecution): ModelRequest {
  const { agent, context, given, messages, model, output, soFar, tools } = execution;
  // the system message asks in words for a shape that the agent's model needs asking for; a fall-back may need it too
  const prompted = output === null || agent.model.capabilities.structuredOutput === 'prompted';
  const native = output !== null && model.capabilities.structuredOutput === 'native';
  const firstChoice = soFar.lastCall === null ? context.options.callerInput?.toolChoice : undefined;
  const request: Writable<ModelRequest> = {
    tools: toolDefinitions(tools.values()),
    media: context.ports.media,
    messages: prompted ? messages : withOutput(model, messages, output.format).messages,
  };
  // a hook decides about each call anew
  const toolChoice =
    given?.toolChoice ?? unlessMade(firstChoice ?? agent.settings.toolChoice, soFar.toolCalls);
  if (toolChoice !== undefined) request.toolChoice = toolChoice;
  if (given?.parameters !== undefined) request.parameters = given.parameters;
  if (native) request.output = output.format;
  return request;
}

/** A call that the model is forced to make is made once: forced again and again, it would never come to an answer. */
function unlessMade(choice: ToolChoice | undefined, callsBefore: number): ToolChoice | undefined {
  const forces = choice === 'required' || typeof choice === 'object';
  return forces && callsBefore > 0 ? undefined : choice;
}

function toolDefinitions(tools: Iterable<{ definition: ToolDefinition }>): ToolDefinition[] {
  const definitions: ToolDefinition[] = [];
  for (const { definition } of tools) definitions.push(definition);
  return definitions;
}

export function modelRecordOf(response: ModelResponse, timeToFirstToken: number): ModelRecord {
  const { content, finishReason, usage } = response;
  // stored: fields without a value are not there, and the others in this order
  const record: Writable<ModelRecord> = { content, finishReason, usage: { ...usage }, timeToFirstToken };
  if (response.finishMessage) record.finishMessage = response.finishMessage;
  if (response.citations !== undefined) record.citations = response.citations;
  if (response.reasoningContent) record.reasoning = response.reasoningContent;
  if (response.toolCalls.length > 0) record.toolCalls = response.toolCalls.map((call) => ({ ...call }));
  if (response.providerData !== undefined) record.providerData = response.providerData;
  if (response.media?.length) record.media = response.media;
  if (response.cached === true) record.cached = true;
  return record;
}

export function elapsedSeconds(started: number): number {
  return Math.round(performance.now() - started) / 1000;
}
