import type { StepOutput } from '../../events/workflow-event.js';
import type { StepRecord } from '../../runs/run.js';
import { foldNode } from '../fold/node-view.js';
import { childPath, type GroupRecord, type LeafRecord } from '../journal-records.js';

const outputReview = /^wait:(node:[^:]+):review:(\d+)$/;
const iterationReview = /^wait:(node:([^:]+)):iteration:(\d+):(\d+)$/;

/** What the person who is asked looks at; undefined when nothing has been made yet. */
export function reviewedOutput(wait: StepRecord, steps: readonly StepRecord[]): StepOutput | undefined {
  const [, stepKey, round = ''] = outputReview.exec(wait.key) ?? [];
  if (stepKey !== undefined) return outputOfRound(stepKey, round, steps);
  const [, loopKey, path = '', iteration, retry] = iterationReview.exec(wait.key) ?? [];
  if (loopKey === undefined) return undefined;
  return outputOfIteration(loopKey, childPath.iteration(path, Number(iteration), Number(retry)), steps);
}

/** The last execution of the round: the others failed. */
function outputOfRound(stepKey: string, round: string, steps: readonly StepRecord[]): StepOutput | undefined {
  const runs = steps.filter(({ key }) => new RegExp(`^${escaped(stepKey)}:run:${round}(-\\d+)?$`).test(key));
  const made = runs.findLast(({ status }) => status === 'completed');
  if (made === undefined) return undefined;
  return folded(stepKey, { from: made.key, success: true, error: null, stop: false }, steps);
}

function outputOfIteration(loopKey: string, path: string, steps: readonly StepRecord[]): StepOutput {
  const inside = new RegExp(`^node:${escaped(path)}\\.\\d+$`);
  const children = steps
    .filter(({ key, status }) => inside.test(key) && status === 'completed')
    .map(({ key }) => key);
  return folded(loopKey, { children, iterations: [children.length], stop: false }, steps);
}

function folded(key: string, record: LeafRecord | GroupRecord, steps: readonly StepRecord[]): StepOutput {
  const byKey = new Map(steps.map((step) => [step.key, step]));
  const find = (other: string) => {
    const step = byKey.get(other);
    return step !== undefined && other === key ? { ...step, output: record } : step;
  };
  return foldNode(find, key).output;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\~@]/g, '\\$&');
}
