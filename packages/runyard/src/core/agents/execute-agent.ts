import type { RunEvent } from '../events/run-event.js';
import type { Message } from '../models/message.js';
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
import { Remembering } from './memory/remembering.js';
import { metricsOf } from './metrics.js';
import { reason, reasoningContentOf } from './reasoning/reasoning.js';
import { completeReasoningTools, reportReasoningTools } from './reasoning/reasoning-tools.js';
import { rememberExchange } from './recall/recall.js';
import { approvalOfRun } from './requirements/tool-requirements.js';
import { isForgotten, producedMedia, shownToModel, toolMessage, turnMessages } from './transcript.js';
import { compressToolResults } from './turns/compression.js';
import { callModelWithHooks } from './turns/hooked-call.js';
import { PastTurns } from './turns/past-turns.js';
import { RememberedResults } from './turns/remembered-results.js';
import { toolSetOf } from './turns/tool-set.js';
import { runToolCalls } from './turns/tool-steps.js';

/**
 * Runs an agent over the journal. Each stage is a file of its own; what a stage does outside of steps is done
 * again when the run is executed again, so it must have no effects.
 */
export async function executeAgent(agent: AgentDefinition, context: RunContext): Promise<RunResult> {
  context.emit(entryEvent(agent, context), `started:${context.run.attempt}`);
  const execution = await prepare(agent, context);
  await runPreHooks(execution);
  if (agent.settings.preHooks !== undefined) context.nameSession(execution.input.content);
  await buildContext(execution);
  const { remembering } = execution;
  remembering.hear(execution.input.content);
  let result: RunResult;
  try {
    await reason(execution);
    // the turns are taken here and not in a function of their own: a run waits in them most of its life
    let last: LastTurn | undefined;
    const shown: string[] = [];
    for (let turn = 0; last === undefined; turn += 1) {
      await addUserMessages(execution, turn);
      last = await finishTurn(execution, turn, await callModelWithHooks(execution, turn), shown);
    }
    result = await complete(execution, last);
    await remembering.completed();
  } finally {
    // what the user said is kept in mind at the same time: a run that ends, or pauses, has done with that
    await remembering.settled();
  }
  await learnFromRun(execution, textOf(result.content));
  await rememberExchange(execution, textOf(result.content));
  await summariseSession(execution, textOf(result.content));
  return { ...result, metrics: metricsOf(agent.model, context) };
}

function entryEvent({ model }: AgentDefinition, { entry }: RunContext): RunEvent {
  return entry === 'continued' ? { event: 'RunContinued' } : runStarted(model, entry === 'recovered');
}

async function prepare(agent: AgentDefinition, context: RunContext): Promise<AgentExecution> {
  const { run, options } = context;
  const { contentShape, output } = outputOf(agent, options);
  const dependencies = await dependenciesOf(agent, context);
  const { tools, instructions, unavailable } = await toolSetOf({ agent, context, dependencies });
  const messages: Message[] = [];
  // one literal: objects put together by spreading get a hidden class each, and this one lives as long as the run
  return {
    agent,
    context,
    model: agent.model,
    input: { content: run.input.content, conversation: run.input.options.callerInput?.conversation },
    messages,
    fallback: null,
    contentShape,
    output,
    given: null,
    soFar: new PastTurns(),
    results: new RememberedResults(messages),
    remembering: new Remembering(agent, context),
    dependencies,
    metadata: { ...options.metadata, ...agent.settings.metadata },
    extra: unavailable.length > 0 ? { unavailable_tool_sources: [...unavailable] } : {},
    tools,
    toolInstructions: instructions,
  };
}

/** A parser or output model gives the answer its shape; the main model then answers as it likes. */
function outputOf({ settings }: AgentDefinition, options: RunOptions) {
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
async function finishTurn(
  execution: AgentExecution,
  turn: number,
  answer: ModelRecord,
  shown: string[],
): Promise<LastTurn | undefined> {
  const { context, messages, soFar } = execution;
  const called = recordedStep(context, `model:${turn}`);
  soFar.called(called);
  messages.push(...turnMessages(called, []));
  if (answer.toolCalls === undefined) {
    if (!(await continuesAfter(execution, turn))) return { answer, shown };
    shown.length = 0;
    return undefined;
  }
  const { stop, results } = await runToolCalls(execution, turn, answer.toolCalls);
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
async function continuesAfter({ agent, context }: AgentExecution, turn: number): Promise<boolean> {
  return isContinuedAfter(context, turn) || ((await agent.continuesAfter?.(context, turn)) ?? false);
}

async function complete(execution: AgentExecution, { answer, shown }: LastTurn): Promise<RunResult> {
  const { agent, context, metadata, extra } = execution;
  completeReasoningTools(execution);
  const made = agent.answer?.(context, answer) ?? (await answerOf(execution, answer, shown));
  const guarded = isGuarded(agent.settings);
  if (!guarded) await suggestFollowups(execution, textOf(made.content));
  context.emit({ event: 'RunContentCompleted' }, 'content-completed');
  const { content, contentType, said, ending } = await runPostHooks(execution, made);
  if (guarded) {
    context.emit(runContent(content, contentType), 'content');
    // suggestions may repeat the answer: make them only for one that was not refused
    await suggestFollowups(execution, textOf(content));
  }
  if (said !== undefined && said !== answer.content) await keepInConversation(context, said);
  const reasoningContent = reasoningContentOf(execution);
  const media = producedMedia(context.steps());
  const approval = approvalOfRun(context.steps().filter(({ attempt }) => attempt !== inheritedAttempt));
  const allMetadata = approval === undefined ? metadata : { ...metadata, approval };
  return {
    content,
    contentType,
    ...ending,
    ...(reasoningContent !== undefined && { reasoningContent }),
    ...(answer.providerData !== undefined && { modelProviderData: answer.providerData }),
    ...(media.length > 0 && { media }),
    ...(Object.keys(allMetadata).length > 0 && { metadata: allMetadata }),
    sessionState: context.state.all(),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}
