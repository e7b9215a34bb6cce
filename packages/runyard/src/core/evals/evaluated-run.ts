import { type ToolRecord, toolRecord } from '../agents/journal-records.js';
import { requirementsOf } from '../agents/requirements/tool-requirements.js';
import type { Json, JsonObject } from '../json.js';
import type { ModelPrices } from '../models/prices.js';
import { ownSteps, stepsByChild } from '../runs/journal/child-steps.js';
import { read } from '../runs/journal/codec.js';
import type { Run, RunKind, StepRecord } from '../runs/run.js';
import { usageOf } from '../runs/run-usage.js';

/** A run as an eval sees it: just executed, or stored long ago. */
export interface EvaluatedRun {
  readonly runId: string;
  readonly sessionId: string;
  readonly status: 'completed' | 'paused' | 'error' | 'cancelled';
  readonly input: string;
  readonly content: Json;
  /** The content as text: what judges read. */
  readonly output: string;
  /** The tool calls in the order in which they were requested, with those of members and steps at any depth. */
  readonly toolCalls: readonly EvaluatedToolCall[];
  /** Of a run that failed or was cancelled. */
  readonly error?: { readonly code: string; readonly message: string };
  readonly usage: RunUsageTotals;
  /** How long the run was executed. */
  readonly durationMs: number;
}

export interface EvaluatedToolCall {
  readonly name: string;
  readonly arguments: JsonObject;
  /** `refused` and `paused` calls were requested and not executed. */
  readonly outcome: 'succeeded' | 'failed' | 'refused' | 'paused';
  readonly result: string | null;
}

export interface RunUsageTotals {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  /** In US dollars; null where a price is not known. */
  readonly cost: number | null;
}

/** What an eval executes. The library runs a component in this process, a service through its runs. */
export interface EvalSubject {
  readonly kind: RunKind;
  readonly id: string;
  readonly name: string | null;
  readonly model: { readonly id: string; readonly provider: string } | null;
  /**
   * Executes the component once and waits for the end of the run. A run that was started under this id before is not
   * started again: its end is awaited. Rejects when the run could not be started, or the signal aborts; a run that
   * ended in any way is a value.
   */
  run(request: SubjectRun): Promise<EvaluatedRun>;
}

export interface SubjectRun {
  /** Of the case that is executed: what grades stored runs finds the run by it. */
  readonly caseId: string;
  readonly runId: string;
  readonly sessionId: string;
  readonly input: string;
  readonly sessionState?: JsonObject;
  readonly dependencies?: JsonObject;
  /** Aborting it cancels the run. */
  readonly signal: AbortSignal;
}

/** What an eval sees of a run that has ended or paused: a fold of its journal, whether it was just executed or is old. */
export function evaluatedRunOf(
  run: Run,
  steps: readonly StepRecord[],
  prices: ModelPrices = {},
): EvaluatedRun {
  const { runId, sessionId, status, input, result, createdAt, updatedAt } = run;
  const content = result?.content ?? '';
  return {
    runId,
    sessionId,
    status: evaluatedStatus(run),
    input: input.content,
    content,
    output: typeof content === 'string' ? content : JSON.stringify(content),
    toolCalls: requestedCalls(steps)
      .sort((left, right) => left.requestedAt - right.requestedAt)
      .map(({ call }) => call),
    ...((status === 'error' || status === 'cancelled') && { error: failureOfRun(run) }),
    usage: totalsOf(run, steps, prices),
    durationMs: result?.executedMs ?? Math.max(updatedAt - createdAt, 0),
  };
}

function evaluatedStatus({ status, runId }: Run): EvaluatedRun['status'] {
  // a run that was replaced by a copy had completed
  if (status === 'regenerated') return 'completed';
  if (status === 'pending' || status === 'running') throw new Error(`Run ${runId} has not ended.`);
  return status;
}

function failureOfRun({ status, result }: Run): { code: string; message: string } {
  const { content, error } = result ?? {};
  if (error !== undefined) return { code: error.type, message: error.message };
  if (status === 'cancelled') return { code: 'run_cancelled', message: 'The run was cancelled.' };
  return { code: 'run_failed', message: typeof content === 'string' ? content : 'The run failed.' };
}

function totalsOf(run: Run, steps: readonly StepRecord[], prices: ModelPrices): RunUsageTotals {
  const totals = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
  let cost: number | null = 0;
  for (const used of usageOf(run, steps, prices).models) {
    totals.inputTokens += used.inputTokens;
    totals.outputTokens += used.outputTokens;
    totals.totalTokens += used.totalTokens;
    // a part of the costs would pass for all of them
    cost = cost === null || used.cost === null ? null : cost + used.cost;
  }
  return { ...totals, cost };
}

interface RequestedCall {
  readonly call: EvaluatedToolCall;
  readonly requestedAt: number;
}

/** The calls of a run and of the runs within it; also those that reached no tool. */
function requestedCalls(all: readonly StepRecord[]): RequestedCall[] {
  const steps = ownSteps(all);
  // of several questions about a call, the first says when it was requested
  const questions = [...requirementsOf(steps)].reverse();
  const waits = new Map(questions.map((state) => [state.toolKey, state.requirement]));
  const calls: RequestedCall[] = [];
  for (const step of steps) {
    if (step.kind !== 'tool' || step.status !== 'completed') continue;
    const record = read(step, toolRecord);
    const requestedAt = Math.min(step.startedAt, waits.get(step.key)?.createdAt ?? step.startedAt);
    waits.delete(step.key);
    const call = {
      name: step.name,
      arguments: record.args ?? {},
      outcome: outcomeOf(record),
      result: record.content,
    };
    calls.push({ call, requestedAt });
  }
  for (const { toolName, args, createdAt } of waits.values()) {
    const call = { name: toolName, arguments: args, outcome: 'paused', result: null } as const;
    calls.push({ call, requestedAt: createdAt });
  }
  for (const inside of stepsByChild(all).values()) calls.push(...requestedCalls(inside));
  return calls;
}

/** A call that reached no tool was refused, and so was one to which a person said no. */
function outcomeOf({ error, listed, answered }: ToolRecord): EvaluatedToolCall['outcome'] {
  if (!listed || (error && answered === true)) return 'refused';
  return error ? 'failed' : 'succeeded';
}
