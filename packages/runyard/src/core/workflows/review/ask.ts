import type { RunEvent } from '../../events/run-event.js';
import type { JsonObject } from '../../json.js';
import { RunCancelled } from '../../runs/executable.js';
import type { Codec } from '../../runs/journal/codec.js';
import { dueAtOf } from '../../runs/journal/due-questions.js';
import type { ReviewSettings } from '../definition/node.js';
import { type Flow, type Place, tell } from '../execution/flow.js';
import { nodeKey } from '../journal-records.js';
import { type Covered, covering, questionIdentity } from './question-identity.js';
import type { StepRequirement, StepWaitKind } from './step-requirement.js';

export interface Question {
  /** The part of the key after that of the node. */
  readonly what: string;
  readonly kind: StepWaitKind;
  readonly requirement: JsonObject;
  /** Sends the event that says what the run waits for. */
  readonly event: RunEvent;
  readonly timeoutMs?: number;
  /** What the answer decides about beside the step itself: what is within it, or the ways to choose from. */
  readonly covers?: Covered;
  /** The step that asks. Left out: the node. */
  readonly parentKey?: string;
  /** Called before the question is asked for the first time. */
  readonly before?: () => void;
}

/** Asks a person and pauses the run; answers at once when they have. */
export async function ask<Answer>(
  flow: Flow,
  place: Place,
  answer: Codec<Answer>,
  question: Question,
): Promise<Answer> {
  const { context } = flow;
  const key = `${nodeKey(place.path)}:${question.what}`;
  const asked = context.recorded(`wait:${key}`);
  if (asked === undefined) {
    question.before?.();
    tell(flow, place, `${question.what}:asked`, question.event);
  }
  const { timeoutMs, kind, requirement, covers, parentKey = nodeKey(place.path) } = question;
  const dueAt = asked === undefined ? await dueIn(flow, timeoutMs) : dueAtOf(asked);
  const wait = {
    key,
    kind,
    identity: questionIdentity(kind, requirement, covers),
    parentKey,
    data: covering(covers, {
      ...requirement,
      ...(dueAt !== undefined && { timeout_at: isoTime(dueAt) }),
    }),
    ...(dueAt !== undefined && { dueAt }),
  };
  return context.wait(wait, answer);
}

async function dueIn({ context }: Flow, timeoutMs: number | undefined): Promise<number | undefined> {
  return timeoutMs === undefined ? undefined : context.deadline(timeoutMs);
}

/** Whether the answer came with the last request to continue the run. */
export function isNews({ context }: Flow, place: Place, what: string): boolean {
  const step = context.recorded(`wait:${nodeKey(place.path)}:${what}`);
  return step?.status === 'completed' && step.attempt >= context.continuedIn;
}

function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('Z', '+00:00');
}

export function timeoutOf({ timeoutMs }: ReviewSettings): Pick<Question, 'timeoutMs'> {
  return timeoutMs === undefined ? {} : { timeoutMs };
}

/** Ends the workflow because a person, or the time, said so. */
export function cancelled({ step_name }: Pick<StepRequirement, 'step_name'>, why: string): RunCancelled {
  return new RunCancelled(`Workflow was cancelled: '${step_name}' ${why}`);
}
