import type { JsonObject } from '../../json.js';
import type { Requirement } from '../../runs/context.js';
import { decoded, read } from '../../runs/journal/codec.js';
import type { Run, StepRecord } from '../../runs/run.js';
import type { ToolAnswer, ToolRequirement } from '../../tools/questions/requirement.js';
import type { StepWaitKind } from '../../workflows/review/step-requirement.js';
import { recordedOutcome, toolAnswer, toolRequirement } from '../journal-records.js';

/** A call that waits, or waited, for a person or an external system. */
export interface ToolRequirementState {
  /** The key of the step that waits. */
  readonly waitKey: string;
  /** The key of the call's own step. */
  readonly toolKey: string;
  readonly requirement: ToolRequirement;
  readonly answer: ToolAnswer | null;
  /** The run that made the call, if it is nested in the run that pauses. */
  readonly member?: RequirementMember;
  /** Set for a question of a workflow that runs as a tool: what its step waits for. */
  readonly stepKind?: StepWaitKind;
}

export interface RequirementMember {
  readonly componentId: string;
  readonly name: string | null;
  readonly runId: string;
}

export function memberOf({ componentId, componentName, runId }: Run): RequirementMember {
  return { componentId, name: componentName, runId };
}

const waitKeys = /^wait:(tool:(\d+):(\d+))(?::(?:outcome|ask):(\d+))?$/;

export function waitKeyOf(toolKey: string): string {
  return `wait:${toolKey}`;
}

/** The step that asks how an interrupted call ended. */
export function outcomeKeyOf({ key, attempt }: StepRecord): string {
  return `${waitKeyOf(key)}:outcome:${attempt}`;
}

/** The step of a question that the tool itself asks, by its place among the questions of the call. */
export function askKeyOf(toolKey: string, place: number): string {
  return `${waitKeyOf(toolKey)}:ask:${place}`;
}

export function isAskKey(key: string): boolean {
  return /wait:tool:\d+:\d+:ask:\d+$/.test(key);
}

/** What a call of this run waits for. */
export function questionIn({ key, data }: Requirement, { runId }: Pick<Run, 'runId'>): ToolRequirement {
  return decoded(toolRequirement, data, { runId, key });
}

/** Everything that the tool calls of a run wait or waited for, in the order of the calls. */
export function requirementsOf(steps: readonly StepRecord[]): readonly ToolRequirementState[] {
  return steps
    .map(requirementOf)
    .filter((state) => state !== undefined)
    .sort((left, right) => comparePlaces(placeOf(left), placeOf(right)));
}

/** The record of the approval that was applied last. */
export function approvalOfRun(steps: readonly StepRecord[]): JsonObject | undefined {
  let last: { at: number; approval: JsonObject } | undefined;
  for (const step of steps) {
    const answer = requirementOf(step)?.answer ?? null;
    const approval = answer !== null && 'approval' in answer ? answer.approval : undefined;
    const at = step.endedAt ?? 0;
    if (approval !== undefined && (last === undefined || at >= last.at)) last = { at, approval };
  }
  return last?.approval;
}

/** The state of one such step; undefined for any other step. */
export function requirementOf(step: StepRecord): ToolRequirementState | undefined {
  const toolKey = step.kind === 'wait' ? waitKeys.exec(step.key)?.[1] : undefined;
  if (toolKey === undefined) return undefined;
  const requirement = read(step, toolRequirement);
  return {
    waitKey: step.key,
    toolKey,
    requirement,
    answer: step.status === 'completed' ? answerIn(requirement, step) : null,
  };
}

/** Turn, position, and when it was asked: the question before the execution comes first. */
function placeOf({ waitKey, requirement }: ToolRequirementState): readonly number[] {
  const [, , turn, position, number] = waitKeys.exec(waitKey) ?? [];
  const later = number === undefined ? [-1] : [requirement.createdAt, Number(number)];
  return [Number(turn), Number(position), ...later];
}

/** Compares number by number. */
export function comparePlaces(left: readonly number[], right: readonly number[]): number {
  for (const [index, value] of left.entries()) {
    const difference = value - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function answerIn({ kind }: ToolRequirement, step: StepRecord): ToolAnswer {
  if (kind !== 'unknown_outcome') return read(step, toolAnswer);
  const recorded = read(step, recordedOutcome);
  if (recorded.answer !== undefined) return recorded.answer;
  if (recorded.outcome === 'retry') return { answer: 'confirmed', confirmed: true };
  if (recorded.outcome === 'failed') return { answer: 'confirmed', confirmed: false, note: recorded.message };
  return { answer: 'result', result: recorded.output.content };
}
