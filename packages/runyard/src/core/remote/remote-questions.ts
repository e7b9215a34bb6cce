import { pausedText } from '../agents/requirements/paused-text.js';
import {
  questionIn as questionOf,
  requirementOf,
  type ToolRequirementState,
} from '../agents/requirements/tool-requirements.js';
import { waitFor } from '../agents/turns/gated-calls.js';
import { idFrom } from '../ids.js';
import type { JsonObject } from '../json.js';
import { type RunContext, recordedStep } from '../runs/context.js';
import { RunFailed } from '../runs/executable.js';
import { pauseOf, throwFailure } from '../runs/settled.js';
import type { ToolRequirement } from '../tools/questions/requirement.js';
import { refused } from './remote-failures.js';
import { answered, callIn, needsApprovalThere, questionIn } from './remote-requirements.js';

/** A requirement of a remote run, and the place that its call has in the local journal. */
export interface PlacedRequirement {
  readonly requirement: JsonObject;
  readonly toolKey: string;
}

interface AskedQuestion {
  readonly requirement: JsonObject;
  readonly approvalThere: boolean;
  readonly state: ToolRequirementState;
}

/**
 * Asks here what calls of a remote run wait for there, and pauses the run until all of it is answered. Returns the
 * requirements with their answers; `known` has the ids of those that were answered in a leg before.
 */
export async function askHere(
  context: RunContext,
  address: string,
  placed: readonly PlacedRequirement[],
  leg: number,
  known: Set<string>,
): Promise<ReadonlyMap<JsonObject, JsonObject>> {
  const now = await context.deadline(0);
  const asked = placed.flatMap(({ requirement, toolKey }): AskedQuestion[] => {
    const question = questionIn(requirement, now);
    if (question === undefined) return [];
    const approvalThere = needsApprovalThere(callIn(requirement));
    if (approvalThere)
      return [{ requirement, approvalThere, state: approvalState(context, address, question, toolKey, leg) }];
    if (known.has(question.id)) return [];
    const outcome = question.kind === 'unknown_outcome' ? `:outcome:${leg}` : '';
    return [{ requirement, approvalThere, state: stateOf(`wait:${toolKey}${outcome}`, toolKey, question) }];
  });
  const waits = await Promise.allSettled(asked.map(({ state }) => context.wait(waitFor(context, state))));
  throwFailure(waits);
  const paused = pauseOf(waits);
  if (paused !== undefined) {
    const open = paused.requirements.map((requirement) => questionOf(requirement, context.run));
    context.draft.content ||= pausedText(open);
    throw paused;
  }
  const filled = new Map<JsonObject, JsonObject>();
  for (const { requirement, state, approvalThere } of asked) {
    // what an approver decides there, no answer from here decides
    if (approvalThere) continue;
    const recorded = requirementOf(recordedStep(context, state.waitKey));
    const answer = recorded?.answer ?? null;
    // the answer was to another question: a service could ask so for ever
    if (recorded !== undefined && recorded.requirement.id !== state.requirement.id)
      throw new RunFailed({
        type: refused,
        message: `${address} asks about the call '${state.requirement.callId}' again, which was answered.`,
      });
    known.add(state.requirement.id);
    if (answer !== null) filled.set(requirement, answered(requirement, answer));
  }
  return filled;
}

function stateOf(waitKey: string, toolKey: string, requirement: ToolRequirement): ToolRequirementState {
  return { waitKey, toolKey, requirement, answer: null };
}

function approvalState(
  { run }: RunContext,
  address: string,
  question: ToolRequirement,
  toolKey: string,
  leg: number,
): ToolRequirementState {
  const message = `'${question.toolName}' waits for an approval at ${address}. Decide on it there, then confirm here to continue.`;
  // it may be asked again after each answer
  const id = idFrom(`${question.id}:${leg}`);
  const asked = { ...question, id, kind: 'confirmation', askedIn: run.attempt, message } as const;
  return stateOf(`wait:${toolKey}:ask:${leg}`, toolKey, asked);
}
