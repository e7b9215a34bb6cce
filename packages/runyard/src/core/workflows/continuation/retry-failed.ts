import { settingsKey } from '../../agents/context/settings-of-run.js';
import type { Executable } from '../../runs/executable.js';
import { type ChildView, childrenOf, wasGivenUp } from '../../runs/execution/child-run.js';
import { childPrefix, ownSteps } from '../../runs/journal/child-steps.js';
import { read } from '../../runs/journal/codec.js';
import { childOutcome } from '../../runs/journal/records.js';
import { triedKey } from '../../runs/journal/try-keys.js';
import type { Continuation } from '../../runs/resume/continuation.js';
import type { Run, StepRecord } from '../../runs/run.js';
import { isOpenQuestion } from '../../runs/run-ends.js';
import { chatKey } from '../chat-agent.js';
import { wholeKey } from '../execution/run-whole.js';
import { functionRecord, isNodeInput, nodeInput } from '../journal-records.js';

/**
 * What a failed workflow continues with: all that has ended. The step that failed is done again; the agent, team or
 * workflow of it continues where it failed.
 */
export function retryFailed(
  run: Run,
  steps: readonly StepRecord[],
  inside: (run: Run) => Executable | undefined,
): Continuation {
  const own = ownSteps(steps);
  const undone = undoneNodes(own);
  const dropped = new Set(own.filter((step) => isUndone(step, undone)).map(({ key }) => key));
  const reopened = new Set<string>();
  for (const child of lastRuns(childrenOf(run, steps), undone, own)) {
    const { step } = child;
    if (!wasGivenUp(step) && !hasFailed(step)) continue;
    const kept = wasGivenUp(step)
      ? undefined
      : inside(child.run)?.continuation?.(child.run, child.steps, 'end');
    const prefix = childPrefix(step.key);
    // one whose time was up, and one that is not known, begins anew
    (kept === undefined ? dropped : reopened).add(step.key);
    for (const key of droppedInside(child, kept)) dropped.add(prefix + key);
    for (const { key } of kept?.reopened ?? []) reopened.add(prefix + key);
  }
  // a question of a failed run can no longer be answered: it is asked again
  const kept = steps
    .filter((step) => !dropped.has(step.key) && !isOpenQuestion(step))
    .map((step) => (reopened.has(step.key) ? asBegun(step) : step));
  return {
    steps: kept,
    reopened: kept.filter(({ key }) => reopened.has(key)),
    messageIndex: 0,
    turn: 0,
  };
}

/** A step that had ended, as it was before. */
function asBegun(step: StepRecord): StepRecord {
  return { ...step, status: 'running', output: null, error: null, endedAt: null };
}

const leafKinds: ReadonlySet<string> = new Set(['Step', 'Workflow']);

/** The keys of the nodes that have not ended, and that do their work themselves. */
function undoneNodes(own: readonly StepRecord[]): ReadonlySet<string> {
  const isLeaf = (step: StepRecord) => isNodeInput(step.input) && leafKinds.has(read(step, nodeInput).node);
  return new Set(own.filter((step) => step.status !== 'completed' && isLeaf(step)).map(({ key }) => key));
}

/** Whether a step of the workflow itself is done again. */
function isUndone(step: StepRecord, undone: ReadonlySet<string>): boolean {
  const { key, kind, status } = step;
  // limits that a function chose may be what the run failed with
  if (undone.has(key) || key === settingsKey) return true;
  if (kind === 'decision') return status !== 'completed';
  if (kind === 'try') return undone.has(workOf(triedKey(step)));
  // the return value of a function that a person reviews, or would have been asked about
  if (kind !== 'step' || !key.includes(':run:') || !undone.has(workOf(key)) || isRunInside(step))
    return false;
  return status !== 'completed' || 'failure' in read(step, functionRecord);
}

/** The key of the node whose work a step is. */
function workOf(key: string): string {
  return key.replace(/:run:.*$/, '');
}

function isRunInside({ input }: StepRecord): boolean {
  return typeof input === 'object' && input !== null && 'runId' in input;
}

/** The last run of each node that has not ended, and the runs that are no work of a node. */
function lastRuns(
  children: readonly ChildView[],
  undone: ReadonlySet<string>,
  own: readonly StepRecord[],
): Iterable<ChildView> {
  const isWholeUndone = own.some(({ key, status }) => key === wholeKey && status !== 'completed');
  const last = new Map<string, ChildView>();
  for (const child of children) {
    const { key } = child.step;
    // the runs that a function began have names of their own
    if (undone.has(workOf(key))) last.set(/:run:\d+(-\d+)?$/.test(key) ? workOf(key) : key, child);
    else if (key === chatKey || (isWholeUndone && key.startsWith(`${wholeKey}:`))) last.set(key, child);
  }
  return last.values();
}

function hasFailed(step: StepRecord): boolean {
  return step.status === 'completed' && read(step, childOutcome).status === 'error';
}

/** What of a run inside is done again. */
function droppedInside({ steps }: ChildView, kept: Continuation | undefined): string[] {
  const { unfinished = [], unpassed = [] } = kept ?? {};
  const keys = new Set([...(kept?.steps ?? []), ...unfinished, ...unpassed].map(({ key }) => key));
  return steps.map(({ key }) => key).filter((key) => !keys.has(key));
}
