import type { Media } from '../media/media.js';
import { ownSteps } from '../runs/journal/child-steps.js';
import { read, readIf } from '../runs/journal/codec.js';
import { childInput } from '../runs/journal/records.js';
import type { StepRecord } from '../runs/run.js';
import { type ToolRecord, toolRecord } from './journal-records.js';
import {
  comparePlaces,
  requirementsOf,
  type ToolRequirementState,
} from './requirements/tool-requirements.js';

/** One tool call of a run, as the wire's ToolExecution needs it. Times are milliseconds. */
export interface ToolExecution {
  readonly callId: string;
  readonly name: string;
  readonly args: ToolRecord['args'];
  /** Null for a call that waits. */
  readonly error: boolean | null;
  readonly result: string | null;
  /** Of a tool with an output schema: how `result` holds the value that it returned. */
  readonly written?: ToolRecord['written'];
  readonly stopAfterCall: boolean;
  /** What the call brought beside its result. */
  readonly media?: readonly Media[];
  readonly startedAt: number;
  readonly endedAt: number | null;
  /** What the call waits for, or waited for. */
  readonly requirements?: readonly ToolRequirementState[];
  /** The run of the one member that the call asked. */
  readonly childRunId?: string;
}

/** The key of the step under which a call runs a member; those of several members begin with it. */
export function memberKeyOf(toolKey: string): string {
  return toolKey.replace(/^tool:/, 'member:');
}

/** The key of the call under which a member runs. */
export function toolKeyOf(memberKey: string): string {
  return memberKey
    .split(':')
    .slice(0, 3)
    .join(':')
    .replace(/^member:/, 'tool:');
}

export function delegatedRunId(member: StepRecord | undefined): string | undefined {
  return readIf(member, childInput)?.runId;
}

/** Whether the call has begun to run a member. */
export function hasDelegated(steps: readonly StepRecord[], toolKey: string): boolean {
  const key = memberKeyOf(toolKey);
  return steps.some((step) => step.kind === 'member' && `${step.key}:`.startsWith(`${key}:`));
}

/** The tool calls of a run, those that wait included, in the order in which they were asked for. */
export function toolExecutionsOf(all: readonly StepRecord[]): ToolExecution[] {
  const steps = ownSteps(all);
  if (!steps.some(({ kind }) => kind === 'tool' || kind === 'wait')) return [];
  const members = new Map(steps.filter(({ kind }) => kind === 'member').map((step) => [step.key, step]));
  const asked = new Map<string, ToolRequirementState[]>();
  for (const state of requirementsOf(steps)) {
    const earlier = asked.get(state.toolKey);
    if (earlier === undefined) asked.set(state.toolKey, [state]);
    else earlier.push(state);
  }
  const executions = new Map<string, ToolExecution>();
  for (const step of steps) {
    if (step.kind !== 'tool' || step.status !== 'completed') continue;
    const record = read(step, toolRecord);
    if (!record.listed) continue;
    const requirements = asked.get(step.key);
    const childRunId = delegatedRunId(members.get(memberKeyOf(step.key)));
    const found = {
      ...(requirements !== undefined && { requirements }),
      ...(childRunId !== undefined && { childRunId }),
    };
    executions.set(step.key, toolExecution(step, record, found));
  }
  for (const [key, states] of asked) {
    const [first, ...later] = states;
    if (first && !executions.has(key)) executions.set(key, waitingExecution(first, ...later));
  }
  return [...executions].sort(byPlace).map(([, execution]) => execution);
}

/** A call that ended. */
export function toolExecution(
  step: StepRecord,
  record: ToolRecord,
  found: Pick<ToolExecution, 'requirements' | 'childRunId'> = {},
): ToolExecution {
  return {
    callId: record.callId,
    name: step.name,
    args: record.args,
    error: record.error,
    result: record.forgotten ? null : record.content,
    ...(record.written !== undefined && { written: record.written }),
    stopAfterCall: record.stop ?? false,
    ...(record.media !== undefined && { media: record.media }),
    startedAt: step.startedAt,
    endedAt: step.endedAt,
    ...found,
  };
}

/** A call that has not ended: it waits, or what it waited for is there and it is about to be executed. */
export function waitingExecution(
  ...states: [ToolRequirementState, ...ToolRequirementState[]]
): ToolExecution {
  const { callId, toolName, args, createdAt } = states[0].requirement;
  return {
    callId,
    name: toolName,
    args,
    error: null,
    result: null,
    stopAfterCall: false,
    startedAt: createdAt,
    endedAt: null,
    requirements: states,
  };
}

function byPlace([left]: [string, ToolExecution], [right]: [string, ToolExecution]): number {
  return comparePlaces(placeOf(left), placeOf(right));
}

/** Turn and position, from the key of the step. */
function placeOf(key: string): readonly number[] {
  return key.split(':').slice(1).map(Number);
}
