import type { Requirement, RunContext } from '../../runs/context.js';
import { childPrefix } from '../../runs/journal/child-steps.js';
import { read } from '../../runs/journal/codec.js';
import { anyQuestion } from '../../runs/journal/records.js';
import type { StepRecord } from '../../runs/run.js';

/**
 * What an agent or a team within a run waits for when nothing has changed since it paused: it is then not executed
 * again, because there is nothing that it could do. Undefined for one that can continue, or has not begun.
 */
export function questionsAtRest(context: RunContext, key: string): readonly Requirement[] | undefined {
  // a replay looks at what is asked inside
  if (context.replay !== null) return undefined;
  if (context.recorded(key)?.status !== 'running') return undefined;
  const steps = context.stepsInside(key);
  const open = steps.filter(({ kind, status }) => kind === 'wait' && status === 'running');
  if (open.length === 0) return undefined;
  const completed = new Set(steps.filter(({ status }) => status === 'completed').map((step) => step.key));
  const calls = new Set(open.map(askedAbout));
  const canGoOn = steps.some((step) =>
    step.kind === 'wait'
      ? step.status === 'completed' && !completed.has(askedAbout(step)) && !calls.has(askedAbout(step))
      : step.status === 'running' && !open.some((question) => holds(step, question)),
  );
  if (canGoOn) return undefined;
  return open.map((step) => ({
    key: step.key.replace('wait:', ''),
    kind: step.name,
    data: read(step, anyQuestion),
  }));
}

/** The call that a question is about. */
function askedAbout({ key }: StepRecord): string {
  return key.replace(/wait:(tool:\d+:\d+)(:(?:outcome|ask):\d+)?$/, '$1');
}

/** Whether a step has not ended because of the question. */
function holds(step: StepRecord, question: StepRecord): boolean {
  if (step.kind !== 'tool') return question.key.startsWith(childPrefix(step.key));
  if (askedAbout(question) === step.key) return true;
  const delegated = step.key.replace(/tool:(\d+:\d+)$/, 'member:$1');
  return question.key.startsWith(`${delegated}:`) || question.key.startsWith(childPrefix(delegated));
}
