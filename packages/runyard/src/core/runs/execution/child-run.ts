import { thrownError } from '../../errors/thrown-error.js';
import { newId } from '../../ids.js';
import type { JsonObject } from '../../json.js';
import { type RunContext, RunPaused, recordedStep } from '../context.js';
import { teamPrefix } from '../events/event-origin.js';
import { type Executable, RunCancelled, type RunEnd } from '../executable.js';
import { childPrefix, stepsByChild } from '../journal/child-steps.js';
import { read, readIf } from '../journal/codec.js';
import type { StepIdentity } from '../journal/journal-match.js';
import { type ChildInput, type ChildOutcome, childInput, childOutcome } from '../journal/records.js';
import type { Run, RunEntry, RunInput, RunResult, RunStatus, StepRecord } from '../run.js';
import { failureOf } from '../run-failure.js';

/** How deep components may call each other: a component that calls itself would never end. */
export const deepestRun = 20;

/** A component that is to run within another run. */
export interface ChildRequest {
  /** The key of the step that the run is the work of. */
  readonly key: string;
  readonly kind: 'member' | 'step';
  /** The step that this is a part of. Left out: the run around it. */
  readonly parentKey?: string;
  readonly executable: Executable;
  readonly input: RunInput;
  /** What its events carry beside the component's own fields: what it is a part of. */
  readonly fields: JsonObject;
  readonly depth: number;
  /** Ends it alone, as cancelled; the reason of the abort is thrown. */
  readonly signal?: AbortSignal;
}

/** A run within another one, as the journal records it. */
export interface ChildView {
  readonly step: StepRecord;
  readonly run: Run;
  readonly steps: readonly StepRecord[];
}

/**
 * Runs a component as a step of another run. Its failure is an outcome; that it waits for an answer, or that the
 * outermost run is cancelled, is passed on.
 */
export async function runChild(context: RunContext, request: ChildRequest): Promise<ChildOutcome> {
  const { key, kind, executable } = request;
  const identity = childIdentity(executable);
  const earlier = context.recorded(key, { kind, name: executable.id, identity });
  const input = readIf(earlier, childInput) ?? newRecord(request);
  const spec = {
    kind,
    name: executable.id,
    identity,
    contains: true,
    input,
    record: childOutcome,
    failed: ({ status }: ChildOutcome) => status === 'error',
    ...(request.parentKey !== undefined && { parentKey: request.parentKey }),
  };
  return context.step(key, spec, () => {
    const entry = earlier === undefined ? 'started' : context.entry;
    const child = childContext(context, recordedStep(context, key), entry, request.signal, executable);
    return execute(child, executable, context.signal);
  });
}

/** A run inside belongs to the component that began it: another one does not answer for it. */
export function childIdentity({ kind, id }: Executable): StepIdentity {
  return {
    is: `${kind} '${id}'`,
    was: (step) => `${readIf(step, childInput)?.kind ?? 'run'} '${step.name}'`,
  };
}

/** Emits the end of the nested runs that do not end by themselves, the innermost first. */
export function cancelChildren(context: RunContext, executable: Executable, reason: string): void {
  for (const { step, run } of childrenOf(context.run, context.steps())) {
    const inside = step.status === 'running' ? executable.inside?.(run, context) : undefined;
    if (inside === undefined) continue;
    const child = childContext(context, step, context.entry);
    cancelChildren(child, inside, reason);
    const end: RunEnd = { status: 'cancelled', reason, result: { content: reason, contentType: 'str' } };
    emitEnd(child, inside, end);
    inside.leave?.(child, end);
  }
}

function childContext(
  context: RunContext,
  step: StepRecord,
  entry: RunEntry,
  signal?: AbortSignal,
  limited?: Executable,
): RunContext {
  const { runId, fields, prefix, depth } = read(step, childInput);
  const run = runOf(context.run, step, 'running', null);
  const origin = { runId, fields, prefix, depth };
  return context.child({
    key: step.key,
    run,
    entry,
    origin,
    ...(signal !== undefined && { signal }),
    ...(limited !== undefined && { limited }),
  });
}

/** The direct children of a run, in the order in which they began. */
export function childrenOf(run: Run, steps: readonly StepRecord[]): ChildView[] {
  const children = steps.filter(isChildStep);
  if (children.length === 0) return [];
  const byChild = stepsByChild(steps);
  return children.map((step) => childView(run, step, byChild.get(step.key) ?? []));
}

/** One of them. `steps`: those of the child, with the keys that they have there. */
export function childView(run: Run, step: StepRecord, steps: readonly StepRecord[]): ChildView {
  const { runId } = read(step, childInput);
  const inside = steps.map((inner) => ({ ...inner, runId }));
  const outcome = step.status === 'completed' ? read(step, childOutcome) : null;
  const status = outcome?.status ?? (wasGivenUp(step) ? 'cancelled' : unendedStatus(run, inside));
  return { step, run: runOf(run, step, status, outcome?.result ?? null), steps: inside };
}

/** Whether the run was stopped while the run around it continued: it is never executed again. */
export function wasGivenUp({ status }: StepRecord): boolean {
  return status === 'error';
}

/** `outer` is aborted when the run around it ends: that run then reports the end. */
async function execute(child: RunContext, executable: Executable, outer: AbortSignal): Promise<ChildOutcome> {
  const { runId } = child.run;
  try {
    const work = () => executable.execute(child);
    const result = await (child.guard === undefined ? work() : child.guard.within(work));
    return finish(child, executable, { status: 'completed', result });
  } catch (thrown) {
    // one that met a limit of its own has failed: the run around it continues
    const exceeded = child.guard?.exceeded;
    const error = exceeded ?? thrownError(thrown);
    if (outer.aborted) throw error;
    if (exceeded !== undefined) cancelChildren(child, executable, exceeded.message);
    else if (child.signal.aborted || error instanceof RunCancelled) {
      const reason = error.message;
      cancelChildren(child, executable, reason);
      const end: RunEnd = { status: 'cancelled', reason, result: { content: reason, contentType: 'str' } };
      emitEnd(child, executable, end);
      executable.leave?.(child, end);
      throw error;
    }
    const metrics = executable.metrics?.(child);
    const shown: RunResult = {
      ...child.draft,
      contentType: 'str',
      ...(metrics !== undefined && { metrics }),
    };
    if (error instanceof RunPaused) {
      if (child.replay !== null) throw error;
      const end: RunEnd = { status: 'paused', result: shown, requirements: error.requirements };
      emitEnd(child, executable, end);
      throw error;
    }
    const failure = failureOf(error);
    child.log.warn({ err: error, runId }, 'a nested run failed');
    const result = { ...shown, content: failure.message, error: failure };
    const end = { status: 'error', failure, result } as const;
    executable.leave?.(child, end);
    return finish(child, executable, end);
  }
}

function finish(
  child: RunContext,
  executable: Executable,
  end: RunEnd & { readonly status: ChildOutcome['status'] },
): ChildOutcome {
  emitEnd(child, executable, end);
  return { runId: child.run.runId, status: end.status, result: end.result };
}

function emitEnd(child: RunContext, executable: Executable, end: RunEnd): void {
  for (const [position, event] of executable.endEvents(end, child).entries()) {
    // one that paused may still be cancelled in the same execution
    child.emit(event, `end:${child.run.attempt}:${end.status}:${position}`);
  }
}

function newRecord({ executable, input, fields, depth }: ChildRequest): ChildInput {
  return {
    fields: { ...executable.eventFields, ...fields },
    ...(executable.kind === 'team' && { prefix: teamPrefix }),
    depth,
    runId: newId(),
    kind: executable.kind,
    componentId: executable.id,
    componentName: executable.name,
    model: executable.model?.id ?? null,
    modelProvider: executable.model?.provider ?? null,
    input: ownInput(executable, input),
  };
}

/** The settings of the run around it are not its own. */
function ownInput({ forgets }: Executable, { options, ...input }: RunInput): RunInput {
  const { forgets: _around, ...given } = options;
  return { ...input, options: { ...given, ...(forgets !== undefined && { forgets }) } };
}

function isChildStep(step: StepRecord): boolean {
  return !step.key.includes(childPrefix('')) && isRunInside(step);
}

/** Whether the step is a run within the one that has it in its journal, at any depth. */
export function isRunInside({ kind, input }: StepRecord): boolean {
  return (
    (kind === 'member' || kind === 'step') && typeof input === 'object' && input !== null && 'runId' in input
  );
}

function runOf(parent: Run, step: StepRecord, status: RunStatus, result: RunResult | null): Run {
  const { fields: _fields, prefix: _prefix, depth: _depth, ...record } = read(step, childInput);
  return {
    ...parent,
    ...record,
    parentRunId: parent.runId,
    createdAt: step.startedAt,
    updatedAt: step.endedAt ?? step.startedAt,
    status,
    result,
    lineage: null,
  };
}

/** One that has not ended waits, is running, or was left when the run around it ended. */
function unendedStatus(parent: Run, steps: readonly StepRecord[]): RunStatus {
  const waits = steps.some(({ kind, status }) => kind === 'wait' && status === 'running');
  if (parent.status === 'paused') return waits ? 'paused' : 'running';
  return parent.status === 'running' || parent.status === 'pending' ? parent.status : 'cancelled';
}
