import { mediaBody } from '../../agents/agent-events.js';
import { endingOf } from '../../agents/answer/ending.js';
import type { StepOutput } from '../../events/workflow-event.js';
import type { Json, JsonObject } from '../../json.js';
import type { Media } from '../../media/media.js';
import type { AnswerEnding } from '../../models/model.js';
import { read } from '../../runs/journal/codec.js';
import { childInput, thrownBy } from '../../runs/journal/records.js';
import type { StepRecord } from '../../runs/run.js';
import { isRunInside } from '../../runs/run-usage.js';
import {
  type GroupRecord,
  isChildOf,
  isGroup,
  type LeafRecord,
  nodeInput,
  nodeRecord,
  roundRecord,
} from '../journal-records.js';
import { groupContent } from './group-content.js';

/** Finds a step of the run by its key. */
export type FindStep = (key: string) => StepRecord | undefined;

/** What a step made; of one that is a run, how its answer ended. */
interface LastContent {
  readonly content: Json;
  readonly contentType: string;
  readonly ending: Partial<AnswerEnding>;
}

/** The result of a node, as the steps after it see it. */
export interface NodeView {
  readonly output: StepOutput;
  /** What the last step within it made; undefined when nothing was done. */
  readonly last: LastContent | undefined;
  readonly media: readonly Media[];
}

/** Folds a node that has ended. */
export function foldNode(find: FindStep, key: string): NodeView {
  const step = find(key);
  if (step === undefined) throw new Error(`The step '${key}' is not in the journal of its run.`);
  const record = read(step, nodeRecord);
  return isGroup(record) ? foldGroup(find, step, record) : foldLeaf(find, step, record);
}

function foldLeaf(find: FindStep, step: StepRecord, record: LeafRecord): NodeView {
  const made = madeBy(record.from === undefined ? undefined : find(record.from));
  // a function may make null
  const content = record.content === undefined ? (made.content ?? '') : record.content;
  const media = record.media ?? made.media;
  const { node, step_id, executor } = read(step, nodeInput);
  // one literal: objects put together by spreading cost more than all that is in them, and there is one for each step
  const output: StepOutput = {
    content,
    step_name: step.name,
    step_id,
    step_type: node,
    executor_type: executor?.type ?? null,
    executor_name: executor?.name ?? null,
    step_run_id: made.runId,
    images: listed(media, 'image'),
    videos: listed(media, 'video'),
    audio: listed(media, 'audio'),
    files: listed(media, 'file'),
    metrics: made.metrics ?? durationOf(step),
    success: record.success,
    error: record.error,
    stop: record.stop,
    is_paused: false,
  };
  if (record.skipped) return { output: { ...output, skipped: true }, last: undefined, media };
  const isAsMade = record.content === undefined;
  const contentType = (isAsMade ? made.contentType : undefined) ?? contentTypeOf(content);
  return { output, last: { content, contentType, ending: isAsMade ? made.ending : {} }, media };
}

function foldGroup(find: FindStep, step: StepRecord, record: GroupRecord): NodeView {
  const views = record.children.map((child) => foldNode(find, child));
  const steps = views.map(({ output }) => output);
  const failed = steps.find(({ success }) => !success);
  // the next step gets what was made of the whole list
  const isList = read(step, nodeInput).node === 'Foreach' && record.note === undefined;
  const output: StepOutput = {
    ...described(step),
    content: isList ? views.map(itemContent) : groupContent(step, record, steps),
    step_run_id: null,
    images: null,
    videos: null,
    audio: null,
    files: null,
    metrics: null,
    success: failed === undefined,
    error: failed?.error ?? null,
    stop: record.stop,
    ...(record.skipped && { skipped: true }),
    steps,
  };
  return {
    output,
    last: isList
      ? { content: output.content, contentType: 'list', ending: {} }
      : views.findLast(({ last }) => last !== undefined)?.last,
    media: views.flatMap(({ media }) => media),
  };
}

/** What an item of a list became; null for one that failed and was skipped. */
function itemContent({ output, last }: NodeView): Json {
  return output.success ? (last?.content ?? output.content) : null;
}

/** A node of a run that ended early, or is in progress: what was done in it, and that it did not end. */
export function unendedOutput(
  steps: readonly StepRecord[],
  step: StepRecord,
  why: string,
  paused: boolean,
): StepOutput {
  const find: FindStep = (key) => steps.find((other) => other.key === key);
  const inside = steps
    .filter(({ key }) => isChildOf(key, step.key))
    .map((child) =>
      child.status === 'completed'
        ? foldNode(find, child.key).output
        : unendedOutput(steps, child, why, paused),
    );
  const error = step.status === 'error' ? (thrownBy(step)?.message ?? 'It failed') : why;
  const made = steps.findLast(
    ({ key, kind }) => kind === 'step' && key.startsWith(`${step.key}:run:`) && !key.includes('/'),
  );
  const { node } = read(step, nodeInput);
  const isLeaf = node === 'Step' || node === 'Workflow';
  return {
    ...described(step),
    content: error,
    step_run_id: made !== undefined && isRunInside(made) ? read(made, childInput).runId : null,
    images: null,
    videos: null,
    audio: null,
    files: null,
    metrics: null,
    success: false,
    error,
    stop: false,
    is_paused: paused,
    ...(!isLeaf && { steps: inside }),
  };
}

function described(step: StepRecord) {
  const { node, step_id, executor } = read(step, nodeInput);
  return {
    step_name: step.name,
    step_id,
    step_type: node,
    executor_type: node === 'Parallel' ? ('parallel' as const) : (executor?.type ?? null),
    executor_name: node === 'Parallel' ? step.name : (executor?.name ?? null),
    is_paused: false,
  };
}

interface Made {
  readonly content?: Json;
  readonly contentType?: string;
  readonly ending: Partial<AnswerEnding>;
  readonly media: readonly Media[];
  readonly runId: string | null;
  readonly metrics?: JsonObject;
}

const nothingMade: Made = { ending: {}, media: [], runId: null };

/** What one execution of a step made: a run within this one, or a function. */
function madeBy(step: StepRecord | undefined): Made {
  if (step?.status !== 'completed') return nothingMade;
  const output = read(step, roundRecord);
  if ('result' in output) {
    const { content, contentType, media = [], metrics } = output.result;
    const made = { content, contentType, ending: endingOf(output.result), media, runId: output.runId };
    return { ...made, ...(metrics !== undefined && { metrics }) };
  }
  if ('failure' in output) return nothingMade;
  const media = output.media ?? [];
  return { ending: {}, media, runId: null, ...(output.content !== undefined && { content: output.content }) };
}

function durationOf({ startedAt, endedAt }: StepRecord): JsonObject {
  return { duration: ((endedAt ?? startedAt) - startedAt) / 1000 };
}

export function contentTypeOf(content: Json): string {
  if (typeof content === 'string') return 'str';
  if (typeof content === 'boolean') return 'bool';
  if (typeof content === 'number') return Number.isInteger(content) ? 'int' : 'float';
  if (content === null) return 'NoneType';
  return Array.isArray(content) ? 'list' : 'dict';
}

function listed(media: readonly Media[], kind: Media['kind']): JsonObject[] | null {
  if (media.length === 0) return null;
  const bodies = media.filter((item) => item.kind === kind).map((item) => mediaBody(item));
  return bodies.length === 0 ? null : bodies;
}
