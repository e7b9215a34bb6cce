import { errors } from '../../errors/errors.js';
import { customEvent } from '../../events/custom-event.js';
import type { JsonObject } from '../../json.js';
import { madeMedia } from '../../media/made-media.js';
import type { Message } from '../../models/message.js';
import { isNative } from '../../native-code.js';
import { type RunContext, recordedStep, type StepScope } from '../../runs/context.js';
import { Reports } from '../../runs/execution/reports.js';
import type { StateView } from '../../runs/execution/session-state.js';
import { read, readIf } from '../../runs/journal/codec.js';
import type { StepIdentity } from '../../runs/journal/journal-match.js';
import type { StepRecord } from '../../runs/run.js';
import { pauseOf, throwFailure } from '../../runs/settled.js';
import { storable } from '../../storable-json.js';
import type { NoteTry } from '../../tools/call/attempt-tool.js';
import { executeTool } from '../../tools/call/execute-tool.js';
import { parseArguments } from '../../tools/call/parse-arguments.js';
import type { Tool } from '../../tools/tool.js';
import type { ToolCallSite } from '../../tools/tool-context.js';
import { toolCallCompleted, toolCallError, toolCallStarted } from '../agent-events.js';
import { isContinuedAfter } from '../continuation/user-message.js';
import { delegates } from '../delegating-tools.js';
import type { AgentExecution } from '../execution.js';
import { type RequestedCall, recordedOutcome, type ToolRecord, toolRecord } from '../journal-records.js';
import { isKnowledgeSearch } from '../knowledge/knowledge-tools.js';
import { pausedText } from '../requirements/paused-text.js';
import {
  outcomeKeyOf,
  questionIn,
  requirementsOf,
  type ToolRequirementState,
} from '../requirements/tool-requirements.js';
import { isToolWait, workflowQuestion } from '../requirements/workflow-questions.js';
import { delegatedRunId, hasDelegated, memberKeyOf, toolExecution } from '../tool-executions.js';
import { isForgotten, producedMedia } from '../transcript.js';
import { siteWithin } from './built-in/execution-of-call.js';
import { askedSoFar, cameToQuestion, QuestionsOfCall } from './call-questions.js';
import {
  type AnsweredCallPlan,
  planOfAnswer,
  questionOf,
  requirementOfCall,
  waitFor,
} from './gated-calls.js';

export interface ToolTurn {
  /** A tool asked for the run to end with this turn. */
  readonly stop: boolean;
  readonly results: { readonly steps: readonly StepRecord[]; readonly shown: readonly string[] };
}

/** One call of the turn. */
interface TurnCall {
  readonly key: string;
  readonly call: RequestedCall;
  readonly tool: Tool | undefined;
  /** The run has made all the calls that it may. */
  readonly refused: boolean;
  /** What it waits or waited for. */
  readonly waits: ToolRequirementState | undefined;
  /** What becomes of it now that it was answered. */
  readonly plan: AnsweredCallPlan | undefined;
  /** What its tool has asked in an execution that has not ended. */
  readonly asked: readonly ToolRequirementState[];
}

/**
 * The tool calls of one turn: all at once, each journaled, reported in the order of the calls. A call that fails
 * is an answer to the model, not the end of the run. Calls that wait for a person pause the run, together and
 * after all other calls are done.
 */
export async function runToolCalls(
  execution: AgentExecution,
  turn: number,
  requested: readonly RequestedCall[],
): Promise<ToolTurn> {
  const { context } = execution;
  if (isForgotten(recordedStep(context, `model:${turn}`))) return forgottenTurn(context, turn, requested);
  // all of them or none: what a model that has lost its way asks for is not begun
  context.admit('tool', requested.filter((_, position) => isNew(context, turn, position)).length);
  const allowed = callsLeft(execution);
  const calls = await Promise.all(
    requested.map((call, position) =>
      turnCallOf(execution, call, `tool:${turn}:${position}`, position >= allowed),
    ),
  );
  const ready = calls.filter(isReady);
  for (const call of ready) announce(execution, call);
  const done = await Promise.allSettled(ready.map((call) => runToolCall(execution, call)));
  // every call ends before the turn fails
  throwFailure(done);
  const asked = requirementsOf(context.steps('wait'));
  for (const { key } of ready) {
    report(execution, recordedStep(context, key), asked);
    await context.congestion();
  }
  const waiting = calls.flatMap(openQuestions);
  const waits = await Promise.allSettled(waiting.map((state) => context.wait(waitFor(context, state))));
  throwFailure(waits);
  throwPause(execution, [...done, ...waits]);
  return turnOf(calls.map(({ key }) => recordedStep(context, key)));
}

/** The run ended after these calls and does not keep them: that they were made is all that is known. */
function forgottenTurn(context: RunContext, turn: number, requested: readonly RequestedCall[]): ToolTurn {
  const made = turnOf(requested.map((_, position) => recordedStep(context, `tool:${turn}:${position}`)));
  const hasNext = context.recorded(`model:${turn + 1}`) !== undefined || isContinuedAfter(context, turn);
  // the model would answer without the results, or make the calls again
  if (!made.stop && !hasNext) throw errors.toolMessagesNotKept(context.run.runId);
  return made;
}

function isNew(context: RunContext, turn: number, position: number): boolean {
  return context.recorded(`tool:${turn}:${position}`) === undefined;
}

function turnOf(steps: readonly StepRecord[]): ToolTurn {
  const records = steps.map((step) => read(step, toolRecord));
  return {
    stop: records.some((record) => record.stop === true),
    results: {
      steps,
      shown: records.filter((record) => record.showResult === true).map((record) => record.content),
    },
  };
}

async function turnCallOf(
  execution: AgentExecution,
  call: RequestedCall,
  key: string,
  refused: boolean,
): Promise<TurnCall> {
  const tool = toolFor(execution, call);
  const waits = refused ? undefined : await requirementOfCall(execution, tool, call, key);
  const plan = waits?.answer ? planOfAnswer(tool, waits.requirement, waits.answer) : undefined;
  return { key, call, tool, refused, waits, plan, asked: askedSoFar(execution.context, call, key) };
}

/** What the model was offered in this turn: a call of anything else reaches no tool. */
function offeredTools({ given, tools }: AgentExecution): ReadonlyMap<string, Tool> {
  return given?.tools ?? tools;
}

/** What the provider executes once it is confirmed is no business of a tool with the same name. */
function toolFor(execution: AgentExecution, { name, client }: RequestedCall): Tool | undefined {
  return client === 'confirmation' ? undefined : offeredTools(execution).get(name);
}

function isReady(call: TurnCall): boolean {
  return openQuestions(call).length === 0;
}

function openQuestions({ waits, plan, asked }: TurnCall): readonly ToolRequirementState[] {
  if (waits !== undefined && plan === undefined) return [waits];
  return asked.filter(({ answer }) => answer === null);
}

async function runToolCall(execution: AgentExecution, turnCall: TurnCall): Promise<void> {
  const { context } = execution;
  const { key, call, tool } = turnCall;
  await context.step(
    key,
    {
      kind: 'tool',
      name: call.name,
      record: toolRecord,
      identity: callIdentity(call),
      contains: tool !== undefined && isExecuted(turnCall) && delegates(tool),
      failed: ({ error }) => error,
      ...(tool !== undefined &&
        isExecuted(turnCall) &&
        tool.onUnknownOutcome !== 'retry' && {
          interrupted: {
            policy: tool.onUnknownOutcome,
            lost: (message: string) => failed(call, message, parsedArguments(call)),
            question: questionOf(context, tool, call, key),
            paused: cameToQuestion(context.recorded(key), turnCall.asked),
          },
        }),
    },
    (scope) => perform(execution, turnCall, scope),
  );
}

/** A record of a call answers for the same call only. */
function callIdentity({ name, id }: RequestedCall): StepIdentity {
  const inWords = (callName: string, callId: string) => `'${callName}' (call ${callId})`;
  return {
    is: inWords(name, id),
    // which call it was is known once it has ended
    was: (step) => inWords(step.name, readIf(step, toolRecord)?.callId ?? id),
  };
}

async function perform(
  execution: AgentExecution,
  { call, tool, refused, plan }: TurnCall,
  scope: StepScope,
): Promise<ToolRecord> {
  if (refused) {
    const limit = execution.agent.settings.toolCallLimit;
    return {
      ...failed(call, `Not executed: the limit of ${limit} tool calls for this run is reached.`, null),
      listed: false,
    };
  }
  if (plan !== undefined && 'record' in plan) return plan.record;
  const { context } = execution;
  const { timers, ports } = context;
  // of a replay nothing comes here but the delegation to members, and hooks are the application's
  const toolHooks = context.replay === null ? execution.agent.settings.toolHooks : undefined;
  const availableTools = [...offeredTools(execution).keys()];
  const noteTry: NoteTry = (failed) => context.noteTry(scope.key, { name: call.name, ...failed });
  const questions = new QuestionsOfCall(context, call, scope.key);
  const environment = { timers, media: ports.media, hooks: toolHooks, availableTools, noteTry, questions };
  const state = context.state.fork();
  const reports = new Reports(context);
  const site = toolContext(execution, call, scope, state, reports);
  const execute = () => executeTool(tool, call, site, environment, plan?.approval);
  const isOurs = (tool === undefined || isNative(tool)) && !toolHooks?.length;
  const executed = isOurs ? execute() : context.callApplication(call.name, execute);
  const outcome = await executed.finally(() => reports.end());
  state.merge();
  return {
    callId: call.id,
    content: outcome.content,
    error: outcome.error,
    args: keptArguments(outcome.args, call),
    listed: tool !== undefined || plan !== undefined,
    ...(outcome.media !== undefined && { media: outcome.media }),
    ...(outcome.stop && { stop: true }),
    ...(outcome.showResult && { showResult: true }),
    ...(isKnowledgeSearch(tool) && !outcome.error && { knowledge: true }),
    ...(outcome.written !== undefined && { written: outcome.written }),
  };
}

/** The tool and its hooks had the object in their hands: what they made of it may be no data at all. */
function keptArguments(args: JsonObject | null, call: RequestedCall): JsonObject | null {
  try {
    // of an object, `storable` makes an object
    return storable(args, 'arguments') as JsonObject | null;
  } catch {
    return parsedArguments(call);
  }
}

function failed(call: RequestedCall, message: string, args: JsonObject | null): ToolRecord {
  return { callId: call.id, content: message, error: true, args, listed: true };
}

function toolContext(
  execution: AgentExecution,
  call: RequestedCall,
  scope: StepScope,
  state: StateView,
  reports: Reports,
): ToolCallSite {
  const { context, dependencies, metadata } = execution;
  const { run } = context;
  const given = messagesGiven(execution);
  let media: ToolCallSite['media'] | undefined;
  let messages: ToolCallSite['messages'] | undefined;
  let sent = 0;
  return siteWithin(execution, scope.key, {
    runId: run.runId,
    sessionId: run.sessionId,
    userId: run.userId,
    toolCallId: call.id,
    idempotencyKey: scope.idempotencyKey,
    signal: scope.signal,
    state,
    dependencies,
    metadata,
    log: context.log,
    get media() {
      media ??= madeMedia([...run.input.media, ...producedMedia(context.steps())], context.ports.media);
      return media;
    },
    get messages() {
      messages ??= structuredClone(given());
      return messages;
    },
    emit: (fields: JsonObject) => {
      sent += 1;
      return reports.send(
        () => customEvent('agent', fields, { tool_call_id: call.id }),
        `${scope.key}:custom:${run.attempt}:${sent}`,
      );
    },
  });
}

/** What the model was given before it asked for the calls of this turn. Looked up when a tool asks for it. */
function messagesGiven({ given, messages }: AgentExecution): () => readonly Message[] {
  if (given !== null) return () => given.messages;
  // the last one is the model's answer, with the calls
  const count = messages.length - 1;
  return () => messages.slice(0, count);
}

/** Whether the tool itself is called: not for a call that is refused, or whose answer is its result. */
function isExecuted(call: TurnCall): call is TurnCall & { readonly tool: Tool } {
  const { tool, refused, plan } = call;
  return tool !== undefined && !refused && (plan === undefined || 'approval' in plan);
}

function announce({ context }: AgentExecution, turnCall: TurnCall): void {
  if (!isExecuted(turnCall) || isInQuestion(context, turnCall) || wasAnnounced(context, turnCall)) return;
  const { call, key, tool, waits } = turnCall;
  const started = {
    callId: call.id,
    name: call.name,
    args: parsedArguments(call),
    error: null,
    result: null,
    stopAfterCall: tool.stopAfterCall,
    startedAt: context.timers.now(),
    endedAt: null,
    ...(waits !== undefined && { requirements: [waits] }),
  };
  context.emit(toolCallStarted(started), `${key}:started`);
}

/** Whether the call began before and is not simply made again: how it ended is asked, or a person has said it. */
function isInQuestion(context: RunContext, { key, tool, asked }: TurnCall): boolean {
  const began = context.recorded(key);
  if (began?.status !== 'running' || tool?.onUnknownOutcome === 'retry') return false;
  if (cameToQuestion(began, asked)) return false;
  const outcome = readIf(context.recorded(outcomeKeyOf(began)), recordedOutcome);
  return outcome?.outcome !== 'retry';
}

/** A call that waited for a nested run, or for an answer to its tool, is not a new one. */
function wasAnnounced(context: RunContext, { key, asked }: TurnCall): boolean {
  if (context.recorded(key)?.status !== 'running') return false;
  return asked.length > 0 || hasDelegated(context.steps('member'), key);
}

/** A call whose outcome is still being asked for has nothing to report. */
function report({ context }: AgentExecution, step: StepRecord, asked: readonly ToolRequirementState[]): void {
  if (step.status !== 'completed') return;
  const record = read(step, toolRecord);
  if (!record.listed || record.answered) return;
  const own = asked.filter(({ toolKey }) => toolKey === step.key);
  const childRunId = delegatedRunId(context.recorded(memberKeyOf(step.key)));
  const tool = toolExecution(step, record, {
    ...(own.length > 0 && { requirements: own }),
    ...(childRunId !== undefined && { childRunId }),
  });
  context.emit(toolCallCompleted(tool), `${step.key}:completed`);
  if (record.error) context.emit(toolCallError(tool), `${step.key}:error`);
}

function callsLeft({ agent, soFar }: AgentExecution): number {
  const limit = agent.settings.toolCallLimit;
  return limit === undefined ? Number.POSITIVE_INFINITY : Math.max(limit - soFar.toolCalls, 0);
}

function parsedArguments(call: RequestedCall): JsonObject | null {
  const parsed = parseArguments(call.arguments);
  return parsed.ok ? parsed.args : null;
}

/** What a paused turn has to show is what was said before, or what it waits for. */
function throwPause({ context }: AgentExecution, settled: readonly PromiseSettledResult<unknown>[]): void {
  const paused = pauseOf(settled);
  if (paused === undefined) return;
  const requirements = paused.requirements.flatMap((requirement) =>
    isToolWait(requirement)
      ? questionIn(requirement, context.run)
      : workflowQuestion(requirement, context.run),
  );
  context.draft.content ||= pausedText(requirements);
  throw paused;
}
