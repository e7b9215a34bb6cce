import { isPromise } from '../async/promises.js';
import type { Receiver } from '../async/receiver.js';
import type { RunEvent } from '../events/run-event.js';
import type { JsonObject } from '../json.js';
import type { Writable } from '../objects.js';
import { type RunContext, recordedStep } from '../runs/context.js';
import { inheritedAttempt, type RunOptions, type RunResult } from '../runs/run.js';
import { runContent, runStarted } from './agent-events.js';
import { answerOf } from './answer/answer.js';
import { keepInConversation, textOf } from './answer/answer-record.js';
import { outputShapeOf } from './answer/output-format.js';
import { suggestFollowups } from './auxiliary/followups.js';
import { summariseSession } from './auxiliary/session-summary.js';
import { buildContext } from './context/context-step.js';
import { dependenciesOf } from './context/dependencies.js';
import { addUserMessages, isContinuedAfter } from './continuation/user-message.js';
import type { AgentDefinition } from './definition.js';
import type { AgentExecution } from './execution.js';
import { isGuarded } from './hooks/guarded.js';
import { runPostHooks, runPreHooks } from './hooks/hooks.js';
import type { ModelRecord } from './journal-records.js';
import { learnFromRun } from './learning/learn.js';
import { listenerOf } from './memory/remembering.js';
import { metricsOf } from './metrics.js';
import { reason, reasoningContentOf } from './reasoning/reasoning.js';
import { completeReasoningTools, reportReasoningTools } from './reasoning/reasoning-tools.js';
import { rememberExchange } from './recall/recall.js';
import { approvalOfRun } from './requirements/tool-requirements.js';
import { isForgotten, producedMedia, shownToModel, toolMessage, turnMessages } from './transcript.js';
import { compressToolResults } from './turns/compression.js';
import { callModelWithHooks } from './turns/hooked-call.js';
import { PastTurns } from './turns/past-turns.js';
import { type ToolSet, toolSetOf } from './turns/tool-set.js';
import { runToolCalls } from './turns/tool-steps.js';

/**
 * Runs an agent over the journal. Each stage is a file of its own; what a stage does outside of steps is done
 * again when the run is executed again, so it must have no effects.
 */
export function executeAgent(
  agent: AgentDefinition,
  context: RunContext,
  receiver: Receiver<RunResult>,
): void {
  prepared(agent, context).then(
    (execution) => void new Turns(execution, receiver).begin(),
    (error: unknown) => receiver.failed(error),
  );
}

/** The turns of one execution. A run waits for its model most of its life: none of these async functions waits with it. */
class Turns implements Receiver<ModelRecord> {
  private turn = 0;
  /** Results of tools that asked to be shown. */
  private shown: string[] | undefined;

  constructor(
    private readonly execution: AgentExecution,
    private readonly receiver: Receiver<RunResult>,
  ) {}

  async begin(): Promise<void> {
    const { execution } = this;
    try {
      execution.remembering.receive(execution.input.content);
      const thinking = reason(execution);
      if (thinking !== undefined) await thinking;
      await this.take();
    } catch (error) {
      await this.end(error);
    }
  }

  received(answer: ModelRecord): void {
    void this.finish(answer);
  }

  failed(error: unknown): void {
    void this.end(error);
  }

  private async take(): Promise<void> {
    const adding = addUserMessages(this.execution, this.turn);
    if (adding !== undefined) await adding;
    callModelWithHooks(this.execution, this.turn, this);
  }

  private async finish(answer: ModelRecord): Promise<void> {
    let result: RunResult;
    try {
      this.shown ??= [];
      const finished = lastTurnAfter(this.execution, this.turn, answer, this.shown);
      const last = isPromise(finished) ? await finished : finished;
      if (last === undefined) {
        this.turn += 1;
        return await this.take();
      }
      result = await concluded(this.execution, last);
    } catch (error) {
      return this.end(error);
    }
    this.receiver.received(result);
  }

  /** Memories are stored at the same time: a run fails, or pauses, only once that work has ended. */
  private async end(error: unknown): Promise<void> {
    await this.execution.remembering.settled();
    this.receiver.failed(error);
  }
}

/** Everything that comes before the first model call of the conversation. */
async function prepared(agent: AgentDefinition, context: RunContext): Promise<AgentExecution> {
  context.emit(entryEvent(agent, context), `started:${context.run.attempt}`);
  const shapes = shapesOf(agent, context.options);
  const found = dependenciesOf(agent, context);
  const dependencies = isPromise(found) ? await found : found;
  const collected = toolSetOf({ agent, context, dependencies });
  const toolSet = isPromise(collected) ? await collected : collected;
  const execution = executionOf(agent, context, { shapes, dependencies, toolSet });
  const looking = runPreHooks(execution);
  if (looking !== undefined) await looking;
  if (agent.settings.preHooks !== undefined) context.nameSession(execution.input.content);
  await buildContext(execution);
  return execution;
}

/** Everything that follows the last model call. */
async function concluded(execution: AgentExecution, last: LastTurn): Promise<RunResult> {
  const { agent, context, remembering } = execution;
  const result = await complete(execution, last);
  const completing = remembering.completed();
  if (completing !== undefined) await completing;
  const settling = remembering.settled();
  if (settling !== undefined) await settling;
  const answer = textOf(result.content);
  const learning = learnFromRun(execution, answer);
  if (learning !== undefined) await learning;
  const storing = rememberExchange(execution, answer);
  if (storing !== undefined) await storing;
  const summarising = summariseSession(execution, answer);
  if (summarising !== undefined) await summarising;
  result.metrics = metricsOf(agent.model, context);
  return result;
}

function entryEvent({ model }: AgentDefinition, { entry }: RunContext): RunEvent {
  return entry === 'continued' ? { event: 'RunContinued' } : runStarted(model, entry === 'recovered');
}

interface Prepared {
  readonly shapes: Pick<AgentExecution, 'contentShape' | 'output'>;
  readonly dependencies: JsonObject;
  readonly toolSet: ToolSet;
}

function executionOf(
  agent: AgentDefinition,
  context: RunContext,
  { shapes, dependencies, toolSet }: Prepared,
): AgentExecution {
  const { run, options } = context;
  const { tools, instructions, unavailable } = toolSet;
  // one literal: objects put together by spreading get a hidden class each, and this one lives as long as the run
  return {
    agent,
    context,
    model: agent.model,
    input: { content: run.input.content, conversation: run.input.options.callerInput?.conversation },
    messages: [],
    fallback: null,
    contentShape: shapes.contentShape,
    output: shapes.output,
    given: null,
    soFar: new PastTurns(),
    results: null,
    remembering: listenerOf(agent, context),
    dependencies,
    metadata: { ...options.metadata, ...agent.settings.metadata },
    extra: unavailable.length > 0 ? { unavailable_tool_sources: [...unavailable] } : null,
    tools,
    toolInstructions: instructions,
  };
}

/** A parser or output model gives the answer its shape; the main model then answers as it likes. */
function shapesOf({ settings }: AgentDefinition, options: RunOptions): Prepared['shapes'] {
  const contentShape = outputShapeOf(options, settings.outputSchema);
  const shapedLater = settings.parserModel !== undefined || settings.outputModel !== undefined;
  return { contentShape, output: shapedLater ? null : contentShape };
}

interface LastTurn {
  readonly answer: ModelRecord;
  /** Results of tools that asked to be shown. */
  readonly shown: readonly string[];
}

/**
 * What follows a model call: the tools that the model asked for. The answer is the last turn when the model is done or a
 * tool ends the run, and no more input is pending. `shown` gets the results that tools asked to show.
 */
function lastTurnAfter(
  execution: AgentExecution,
  turn: number,
  answer: ModelRecord,
  shown: string[],
): LastTurn | undefined | Promise<LastTurn | undefined> {
  const { context, messages, soFar } = execution;
  const called = recordedStep(context, `model:${turn}`);
  soFar.called(called);
  messages.push(...turnMessages(called, []));
  if (answer.toolCalls !== undefined) return lastTurnAfterTools(execution, turn, answer, shown);
  const last = (continues: boolean): LastTurn | undefined => {
    if (!continues) return { answer, shown };
    shown.length = 0;
    return undefined;
  };
  const continues = continuesAfter(execution, turn);
  return isPromise(continues) ? continues.then(last) : last(continues);
}

async function lastTurnAfterTools(
  execution: AgentExecution,
  turn: number,
  answer: ModelRecord,
  shown: string[],
): Promise<LastTurn | undefined> {
  const { context, messages, soFar } = execution;
  const called = recordedStep(context, `model:${turn}`);
  const { stop, results } = await runToolCalls(execution, turn, answer.toolCalls ?? []);
  soFar.madeCalls(results.steps);
  const built = recordedStep(context, 'context');
  if (isForgotten(called))
    return stop && !(await continuesAfter(execution, turn)) ? { answer, shown } : undefined;
  for (const step of results.steps) messages.push(shownToModel(built, toolMessage(step)));
  reportReasoningTools(execution, results.steps);
  shown.push(...results.shown);
  if (stop && !(await continuesAfter(execution, turn))) return { answer, shown };
  if (stop) shown.length = 0;
  await compressToolResults(execution, turn, results.steps);
  return undefined;
}

/** A request continues the run after this turn, or the component itself does. */
function continuesAfter({ agent, context }: AgentExecution, turn: number): boolean | Promise<boolean> {
  return isContinuedAfter(context, turn) || (agent.continuesAfter?.(context, turn) ?? false);
}

async function complete(
  execution: AgentExecution,
  { answer, shown }: LastTurn,
): Promise<Writable<RunResult>> {
  const { agent, context, metadata } = execution;
  completeReasoningTools(execution);
  const given = agent.answer?.(context, answer) ?? answerOf(execution, answer, shown);
  const made = isPromise(given) ? await given : given;
  const guarded = isGuarded(agent.settings);
  const suggesting = guarded ? undefined : suggestFollowups(execution, textOf(made.content));
  if (suggesting !== undefined) await suggesting;
  context.emit({ event: 'RunContentCompleted' }, 'content-completed');
  const looking = runPostHooks(execution, made);
  const { content, contentType, said, ending } = looking === undefined ? made : await looking;
  if (guarded) {
    context.emit(runContent(content, contentType), 'content');
    // suggestions may repeat the answer: make them only for one that was not refused
    await suggestFollowups(execution, textOf(content));
  }
  if (said !== undefined && said !== answer.content) await keepInConversation(context, said);
  const reasoningContent = reasoningContentOf(execution);
  const steps = context.steps();
  const media = producedMedia(steps);
  const approval = approvalOfRun(steps.filter(({ attempt }) => attempt !== inheritedAttempt));
  const allMetadata = approval === undefined ? metadata : { ...metadata, approval };
  // one after the other: a literal of optional parts costs an object for each, and a slow copy
  const result: Writable<RunResult> = { content, contentType, ...ending };
  if (reasoningContent !== undefined) result.reasoningContent = reasoningContent;
  if (answer.providerData !== undefined) result.modelProviderData = answer.providerData;
  if (media.length > 0) result.media = media;
  if (Object.keys(allMetadata).length > 0) result.metadata = allMetadata;
  result.sessionState = context.state.all();
  if (execution.extra !== null) result.extra = execution.extra;
  return result;
}
