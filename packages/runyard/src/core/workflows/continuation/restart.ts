import { errors } from '../../errors/errors.js';
import { childPrefix, ownSteps } from '../../runs/journal/child-steps.js';
import { read } from '../../runs/journal/codec.js';
import type { Continuation } from '../../runs/resume/continuation.js';
import type { Run, StepRecord } from '../../runs/run.js';
import { isNodeInput, nodeInput } from '../journal-records.js';

/**
 * What a new run takes over that starts at a step of an earlier one: all that ended before that step. Branches beside
 * it are no part of its past or future: those that ended are taken over, too.
 */
export function restartAt({ runId }: Run, steps: readonly StepRecord[], wanted: string): Continuation {
  const own = ownSteps(steps);
  const nodes = own.filter(({ input }) => isNodeInput(input));
  // the first iteration of a loop is the first to have it
  const target = nodes.find(({ name }) => name === wanted);
  if (target === undefined) throw unknownStep(runId, wanted, nodes);
  const byPath = new Map(nodes.map((node) => [pathOf(node.key), node]));
  const path = pathOf(target.key);
  const kept = new Set(own.filter((step) => isBefore(step, { target, path, byPath })).map(({ key }) => key));
  const outermost = ({ key }: StepRecord) => {
    const end = key.indexOf(childPrefix(''));
    return end === -1 ? key : key.slice(0, end);
  };
  return { steps: steps.filter((step) => kept.has(outermost(step))), messageIndex: 0, turn: 0 };
}

interface Target {
  readonly target: StepRecord;
  readonly path: string;
  readonly byPath: ReadonlyMap<string, StepRecord>;
}

function isBefore(step: StepRecord, { target, path, byPath }: Target): boolean {
  const own = /^(?:wait:)?node:/.test(step.key) ? pathOf(step.key) : undefined;
  if (step.status === 'running') return false;
  // what is no part of the tree, such as the run of an agent in front, comes first
  if (own === undefined) return step.seq < target.seq;
  if (isWithin(own, path)) return false;
  // of a group around the step, what was decided on the way to it
  if (isWithin(path, own)) return !isNodeInput(step.input) && step.seq < target.seq;
  const node = byPath.get(own);
  if (node?.status === 'running') return false;
  if (isBeside(own, path, byPath)) return node?.status === 'completed';
  return (node ?? step).seq < target.seq;
}

/** The path of the node that a step is, or belongs to. */
function pathOf(key: string): string {
  return key.replace(/^(?:wait:)?node:/, '').replace(/:.*$/, '');
}

function isWithin(path: string, group: string): boolean {
  return path === group || path.startsWith(`${group}.`) || path.startsWith(`${group}@`);
}

const sideBySide: ReadonlySet<string> = new Set(['Parallel', 'Foreach']);

/** Whether the innermost group that holds both does its steps side by side. */
function isBeside(path: string, other: string, byPath: Target['byPath']): boolean {
  for (let group = around(path); group !== ''; group = around(group)) {
    const node = byPath.get(group);
    if (node !== undefined && isWithin(other, group)) return sideBySide.has(read(node, nodeInput).node);
  }
  return false;
}

/** The path without its last part. */
function around(path: string): string {
  return path.replace(/(?:^|[.@])[^.@]*$/, '');
}

function unknownStep(runId: string, wanted: string, nodes: readonly StepRecord[]): Error {
  const names = [...new Set(nodes.map(({ name }) => `'${name}'`))];
  const known = names.length === 0 ? 'It has executed no step.' : `It has: ${names.slice(0, 50).join(', ')}.`;
  return errors.invalidContinue(`Run ${runId} has not executed a step '${wanted.slice(0, 100)}'. ${known}`);
}
