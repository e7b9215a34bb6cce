import type { Json, JsonObject } from '../../json.js';
import { RunPaused, type StepScope } from '../../runs/context.js';
import type { StepRecord } from '../../runs/run.js';
import type { StateView } from '../../runs/session-state.js';
import { executeTool } from '../../tools/execute-tool.js';
import { parseArguments } from '../../tools/parse-arguments.js';
import type { Tool } from '../../tools/tool.js';
import type { ToolCallSite } from '../../tools/tool-context.js';
import { customEvent, toolCallCompleted, toolCallError, toolCallStarted } from '../agent-events.js';
import type { AgentExecution } from '../execution.js';
import type { ModelRecord, ToolRecord } from '../journal-records.js';
import { toolExecution } from '../transcript.js';
import { siteWithin } from './built-in/execution-of-call.js';

type RequestedCall = NonNullable<ModelRecord['toolCalls']>[number];

export interface ToolTurn {
  /** A tool asked for the run to end with this turn. */
  readonly stop: boolean;
  readonly results: { readonly steps: readonly StepRecord[]; readonly shown: readonly string[] };
}

/**
 * The tool calls of one turn: all at once, each journaled, reported in the order of the calls. A call that fails
 * is an answer to the model, not the end of the run.
 */
export async function runToolCalls(
  execution: AgentExecution,
  turn: number,
  calls: readonly RequestedCall[],
): Promise<ToolTurn> {
  const { context } = execution;
  const allowed = callsLeft(execution, turn);
  const runs = calls.map((call, position) => ({
    call,
    key: `tool:${turn}:${position}`,
    refused: position >= allowed,
  }));
  for (const { call, key, refused } of runs) announce(execution, call, key, refused);
  const settled = await Promise.allSettled(
    runs.map((run) => runToolCall(execution, run.call, run.key, run.refused)),
  );
  throwFirst(settled);
  const steps = runs.map(({ key }) => context.recorded(key)!);
  for (const step of steps) report(execution, step);
  const records = steps.map((step) => step.output as ToolRecord);
  return {
    stop: records.some((record) => record.stop === true),
    results: {
      steps,
      shown: records.filter((record) => record.showResult === true).map((record) => record.content),
    },
  };
}

async function runToolCall(
  execution: AgentExecution,
  call: RequestedCall,
  key: string,
  refused: boolean,
): Promise<void> {
  const { context, tools } = execution;
  const tool = tools.get(call.name);
  await context.step<ToolRecord>(
    key,
    {
      kind: 'tool',
      name: call.name,
      ...(tool !== undefined &&
        tool.onUnknownOutcome !== 'retry' && {
          interrupted: {
            policy: tool.onUnknownOutcome,
            lost: (message: string) => failed(call, message, parsedArguments(call)),
          },
        }),
    },
    (scope) => perform(execution, tool, call, scope, refused),
  );
}

async function perform(
  execution: AgentExecution,
  tool: Tool | undefined,
  call: RequestedCall,
  scope: StepScope,
  refused: boolean,
): Promise<ToolRecord> {
  if (refused) {
    const limit = execution.agent.settings.toolCallLimit;
    return {
      ...failed(call, `Not executed: the limit of ${limit} tool calls for this run is reached.`, null),
      listed: false,
    };
  }
  const { timers, media } = execution.context;
  const { toolHooks } = execution.agent.settings;
  const environment = { timers, media, hooks: toolHooks, availableTools: [...execution.tools.keys()] };
  const state = execution.context.state.fork();
  const outcome = await executeTool(tool, call, toolContext(execution, call, scope, state), environment);
  state.merge();
  return {
    callId: call.id,
    content: outcome.content,
    error: outcome.error,
    args: outcome.args,
    listed: tool !== undefined,
    ...(outcome.media !== undefined && { media: outcome.media as unknown as Json }),
    ...(outcome.stop && { stop: true }),
    ...(outcome.showResult && { showResult: true }),
  };
}

function failed(call: RequestedCall, message: string, args: JsonObject | null): ToolRecord {
  return { callId: call.id, content: message, error: true, args, listed: true };
}

function toolContext(
  execution: AgentExecution,
  call: RequestedCall,
  scope: StepScope,
  state: StateView,
): ToolCallSite {
  const { context, dependencies, metadata } = execution;
  const { run } = context;
  let sent = 0;
  return siteWithin(execution, {
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
    emit: (fields: JsonObject) => {
      context.emit(customEvent(fields, call.id), `${scope.key}:custom:${run.attempt}:${sent}`);
      sent += 1;
    },
  });
}

function announce(execution: AgentExecution, call: RequestedCall, key: string, refused: boolean): void {
  const { context, tools } = execution;
  const tool = tools.get(call.name);
  // a call that waits for a person does not start now
  if (tool === undefined || refused || isGated(tool)) return;
  const started = {
    callId: call.id,
    name: call.name,
    args: parsedArguments(call),
    error: null,
    result: null,
    stopAfterCall: tool.stopAfterCall,
    startedAt: context.timers.now(),
    endedAt: null,
  };
  context.emit(toolCallStarted(started), `${key}:started`);
}

function isGated({ gate }: Tool): boolean {
  return (
    gate.requiresConfirmation === true ||
    gate.requiresUserInput ||
    gate.externalExecution ||
    gate.approval === 'required'
  );
}

function report({ context }: AgentExecution, step: StepRecord): void {
  const record = step.output as ToolRecord;
  if (!record.listed) return;
  const tool = toolExecution(step, record);
  context.emit(toolCallCompleted(tool), `${step.key}:completed`);
  if (record.error) context.emit(toolCallError(tool), `${step.key}:error`);
}

function callsLeft({ agent, context }: AgentExecution, turn: number): number {
  const limit = agent.settings.toolCallLimit;
  if (limit === undefined) return Number.POSITIVE_INFINITY;
  const made = context
    .steps()
    .filter(({ key, kind }) => kind === 'tool' && Number(key.split(':')[1]) < turn).length;
  return Math.max(limit - made, 0);
}

function parsedArguments(call: RequestedCall): JsonObject | null {
  const parsed = parseArguments(call.arguments);
  return parsed.ok ? parsed.args : null;
}

/** Lets every call of the turn come to its end before the turn ends: a pause last, after all that could be done. */
function throwFirst(settled: readonly PromiseSettledResult<void>[]): void {
  const reasons = settled
    .filter((result) => result.status === 'rejected')
    .map((result) => result.reason as unknown);
  const failure = reasons.find((reason) => !(reason instanceof RunPaused));
  if (failure !== undefined) throw failure;
  const pauses = reasons.filter((reason) => reason instanceof RunPaused);
  if (pauses.length > 0) throw new RunPaused(pauses.flatMap(({ requirements }) => requirements));
}
