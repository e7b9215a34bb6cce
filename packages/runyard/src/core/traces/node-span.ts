import { isJsonObject, type Json } from '../json.js';
import type { StepRecord } from '../runs/run.js';
import { foldNode } from '../workflows/fold/node-view.js';
import {
  type FunctionRecord,
  isGroup,
  type NodeInput,
  type NodeRecord,
} from '../workflows/journal-records.js';
import { attributesOf, contentAttributes, thrownBy } from './attributes.js';
import { nameInSpan, type SpanAttributes, spanIdOf } from './span.js';
import type { TracedRun } from './traced-run.js';

/** Whether a step is a node of a workflow's tree; the others are functions at work. */
function isNode({ input }: StepRecord): boolean {
  return isJsonObject(input) && 'node' in input;
}

export function stepSpanName({ run }: TracedRun, step: StepRecord): string {
  if (!isNode(step)) return `${nameInSpan(step.name)}.function`;
  const streams = run.input.options.stream && (step.input as NodeInput).node !== 'Parallel';
  return `${nameInSpan(step.name)}.${streams ? 'aexecute_stream' : 'aexecute'}`;
}

/** The attributes of a part of a workflow: a node of its tree, or a function that does the work of one. */
export function stepAttributes(traced: TracedRun, step: StepRecord, rootRunId: string): SpanAttributes {
  if (!isNode(step)) return functionAttributes(traced, step);
  const { node, executor } = step.input as NodeInput;
  const group = step.status === 'completed' && isGroup(step.output as NodeRecord);
  return {
    ...attributesOf({
      'graph.node.id': spanIdOf(rootRunId, traced.prefix + step.key),
      'graph.node.name': step.name,
      'graph.node.parent_id':
        step.parentKey === null ? undefined : spanIdOf(rootRunId, traced.prefix + step.parentKey),
      'runyard.step.type': node,
      'agno.step.type': executor?.type,
      [`agno.step.${executor?.type ?? 'executor'}_name`]: executor?.name,
      'agno.parallel.step_count':
        node === 'Parallel' && group ? childrenOf(step.output as NodeRecord).length : undefined,
      'gen_ai.operation.name': 'invoke_workflow',
    }),
    ...contentAttributes('input', inputOf(traced, step)),
    ...contentAttributes('output', outputOf(traced, step)),
  };
}

function functionAttributes(traced: TracedRun, step: StepRecord): SpanAttributes {
  const node = step.parentKey === null ? undefined : traced.step(step.parentKey);
  const record = step.status === 'completed' ? (step.output as FunctionRecord | Json) : undefined;
  const made = isJsonObject(record) && 'content' in record ? (record.content as Json) : undefined;
  return {
    ...attributesOf({ 'runyard.step.type': 'function' }),
    ...contentAttributes('input', node === undefined ? traced.run.input.content : inputOf(traced, node)),
    ...contentAttributes('output', typeof record === 'string' ? record : made),
  };
}

function childrenOf(record: NodeRecord): readonly string[] {
  return isGroup(record) ? record.children : [];
}

/** What went wrong in a part of a workflow. */
export function stepFailure(step: StepRecord): string | undefined {
  const thrown = thrownBy(step)?.message;
  if (thrown !== undefined || step.status !== 'completed') return thrown;
  const { error, failure } = step.output as { error?: string | null; failure?: { message: string } };
  return failure?.message ?? error ?? undefined;
}

function outputOf(traced: TracedRun, step: StepRecord): Json | undefined {
  if (step.status !== 'completed') return undefined;
  return foldNode((key) => traced.step(key), step.key).output.content;
}

/** What a node was given: what the run inside of it was, or what the node before it made. */
function inputOf(traced: TracedRun, step: StepRecord): Json | undefined {
  const inside = traced.steps.find(({ parentKey, input }) => parentKey === step.key && isChildInput(input));
  if (inside !== undefined) return (inside.input as ChildInput).input.content;
  const group = step.parentKey === null ? undefined : traced.step(step.parentKey);
  const isParallel = group !== undefined && (group.input as NodeInput).node === 'Parallel';
  const before = isParallel
    ? undefined
    : traced.steps.findLast(
        (other) => other.seq < step.seq && other.parentKey === step.parentKey && isDone(other),
      );
  if (before !== undefined) return outputOf(traced, before);
  return group === undefined ? traced.run.input.content : inputOf(traced, group);
}

type ChildInput = { readonly input: { readonly content: string } };

function isChildInput(input: Json): boolean {
  return isJsonObject(input) && 'runId' in input;
}

function isDone(step: StepRecord): boolean {
  return step.kind === 'step' && step.status === 'completed' && isNode(step);
}
