import { isJsonObject, type Json } from '../json.js';
import { read } from '../runs/journal/codec.js';
import { anyRecord, childInput, thrownBy } from '../runs/journal/records.js';
import type { StepRecord } from '../runs/run.js';
import { isRunInside } from '../runs/run-usage.js';
import { foldNode } from '../workflows/fold/node-view.js';
import { isGroup, nodeInput, nodeRecord } from '../workflows/journal-records.js';
import { attributesOf, contentAttributes } from './attributes.js';
import { nameInSpan, type SpanAttributes, spanIdOf } from './span.js';
import type { TracedRun } from './traced-run.js';

/** Whether a step is a node of a workflow's tree; the others are functions. */
function isNode({ input }: StepRecord): boolean {
  return isJsonObject(input) && 'node' in input;
}

function isSideBySide(step: StepRecord): boolean {
  const { node } = read(step, nodeInput);
  return node === 'Parallel' || node === 'Foreach';
}

export function stepSpanName({ run }: TracedRun, step: StepRecord): string {
  if (!isNode(step)) return `${nameInSpan(step.name)}.function`;
  const streams = run.input.options.stream && !isSideBySide(step);
  return `${nameInSpan(step.name)}.${streams ? 'aexecute_stream' : 'aexecute'}`;
}

/** The attributes of a part of a workflow: a node of its tree, or a function that does the work of one. */
export function stepAttributes(traced: TracedRun, step: StepRecord, rootRunId: string): SpanAttributes {
  if (!isNode(step)) return functionAttributes(traced, step);
  const { node, executor } = read(step, nodeInput);
  const count = step.status === 'completed' && isSideBySide(step) ? childrenOf(step).length : undefined;
  return {
    ...attributesOf({
      'graph.node.id': spanIdOf(rootRunId, traced.prefix + step.key),
      'graph.node.name': step.name,
      'graph.node.parent_id':
        step.parentKey === null ? undefined : spanIdOf(rootRunId, traced.prefix + step.parentKey),
      'runyard.step.type': node,
      'agno.step.type': executor?.type,
      [`agno.step.${executor?.type ?? 'executor'}_name`]: executor?.name,
      'agno.parallel.step_count': count,
      'gen_ai.operation.name': 'invoke_workflow',
    }),
    ...contentAttributes('input', inputOf(traced, step)),
    ...contentAttributes('output', outputOf(traced, step)),
  };
}

function functionAttributes(traced: TracedRun, step: StepRecord): SpanAttributes {
  const node = step.parentKey === null ? undefined : traced.step(step.parentKey);
  const record = step.status === 'completed' ? read(step, anyRecord) : undefined;
  const made = isJsonObject(record) ? record.content : undefined;
  return {
    ...attributesOf({ 'runyard.step.type': 'function' }),
    ...contentAttributes('input', node === undefined ? traced.run.input.content : inputOf(traced, node)),
    ...contentAttributes('output', typeof record === 'string' ? record : made),
  };
}

function childrenOf(step: StepRecord): readonly string[] {
  const record = read(step, nodeRecord);
  return isGroup(record) ? record.children : [];
}

/** What went wrong in a part of a workflow. */
export function stepFailure(step: StepRecord): string | undefined {
  const thrown = thrownBy(step)?.message;
  if (thrown !== undefined || step.status !== 'completed') return thrown;
  const record = read(step, anyRecord);
  if (!isJsonObject(record)) return undefined;
  const { error, failure } = record;
  const message = isJsonObject(failure) ? failure.message : error;
  return typeof message === 'string' ? message : undefined;
}

function outputOf(traced: TracedRun, step: StepRecord): Json | undefined {
  if (step.status !== 'completed') return undefined;
  return foldNode((key) => traced.step(key), step.key).output.content;
}

/** The input of a node: that of the run within it, or the output of the node before it. */
function inputOf(traced: TracedRun, step: StepRecord): Json | undefined {
  const inside = traced.steps.find((other) => other.parentKey === step.key && isRunInside(other));
  if (inside !== undefined) return read(inside, childInput).input.content;
  const group = step.parentKey === null ? undefined : traced.step(step.parentKey);
  const isParallel = group !== undefined && isSideBySide(group);
  const before = isParallel
    ? undefined
    : traced.steps.findLast(
        (other) => other.seq < step.seq && other.parentKey === step.parentKey && isDone(other),
      );
  if (before !== undefined) return outputOf(traced, before);
  return group === undefined ? traced.run.input.content : inputOf(traced, group);
}

function isDone(step: StepRecord): boolean {
  return step.kind === 'step' && step.status === 'completed' && isNode(step);
}
