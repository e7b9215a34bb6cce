import { Questions } from '../agents/requirements/call-answers.js';
import { answerInCode, type GivenAnswer } from '../agents/requirements/read-answer.js';
import { errors } from '../errors/errors.js';
import type { Json, JsonObject } from '../json.js';
import type { AnswerSource, ResumeRequest } from '../runs/resume/resume-run.js';
import { readStepAnswer } from './review/read-step-answer.js';
import { callsOf } from './review/step-answers.js';
import { type StepRequirementState, workflowRequirementsOf } from './review/workflow-requirements.js';

/** An answer to one step; which of it counts depends on what the step waits for. */
export interface GivenStepAnswer {
  readonly confirmed?: boolean;
  /** Why it was rejected: the next attempt of the step receives it. */
  readonly feedback?: string;
  readonly userInput?: JsonObject;
  /** The choices of a router. */
  readonly selected?: readonly string[];
  /** Takes the place of what the step made. */
  readonly editedOutput?: Json;
  /** What becomes of a step that failed. */
  readonly decision?: 'retry' | 'skip';
  /** Answers to the tool calls of its agent or team, by their ids. */
  readonly calls?: Readonly<Record<string, GivenAnswer>>;
}

export interface WorkflowContinueOptions {
  /**
   * Answers to what a paused run waits for, by the names of the steps, or by the `requirement_id` where a step waits for
   * several things. The decisions on the approvals of its calls are answers, too.
   */
  readonly answers?: Readonly<Record<string, GivenStepAnswer>>;
  /**
   * The name of a step: a new run starts there, with what the steps before it made in this one. Left out: the run itself
   * continues, a failed one with the step that failed.
   */
  readonly from?: string;
  /** Aborting it cancels the run. */
  readonly signal?: AbortSignal;
}

/** What the options ask of a run of a workflow. */
export function stepRequest({ answers, from }: WorkflowContinueOptions): ResumeRequest {
  if (answers !== undefined && from !== undefined)
    throw errors.invalidContinue('answers cannot be combined with from, which starts a new run.');
  return {
    answers: answersInCode(answers ?? {}),
    from: from === undefined ? 'end' : { step: from },
    fork: from !== undefined,
    regenerate: false,
    replaceOriginal: false,
    input: null,
    options: { stream: false },
  };
}

function answersInCode(given: NonNullable<WorkflowContinueOptions['answers']>): AnswerSource {
  return {
    given: Object.keys(given).length > 0,
    match(run, steps, resolutions) {
      const { open } = workflowRequirementsOf(run, steps);
      const answers = new Map<string, unknown>();
      const calls = new Questions(run, open.flatMap(callsOf));
      for (const [name, answer] of Object.entries(given)) {
        const state =
          open.find(({ body }) => body.requirement_id === name) ??
          open.find(({ stepName }) => stepName === name);
        if (state === undefined)
          throw errors.invalidAnswer(`Run ${run.runId} does not wait for an answer to the step '${name}'.`);
        if (state.kind === 'executor') answerCalls(calls, state, answer);
        else {
          const read = readStepAnswer(state, wireAnswer(answer));
          if (read !== undefined && state.waitKey) answers.set(state.waitKey, read);
        }
      }
      calls.applyApprovals(resolutions);
      const ofCalls = calls.matched();
      return { ...ofCalls, answers: new Map([...answers, ...ofCalls.answers]), turn: 0 };
    },
    unanswered(run, steps) {
      const names = workflowRequirementsOf(run, steps).open.map(({ stepName }) => `'${stepName}'`);
      return errors.invalidAnswer(
        `Run ${run.runId} waits for answers. Give one to at least one of its steps: ${names.join(', ')}.`,
      );
    },
  };
}

function wireAnswer(given: GivenStepAnswer): JsonObject {
  const { confirmed, feedback, userInput, selected, editedOutput, decision } = given;
  return {
    ...(confirmed !== undefined && { confirmed }),
    ...(feedback !== undefined && { rejection_feedback: feedback }),
    ...(userInput !== undefined && { user_input: userInput }),
    ...(selected !== undefined && { selected_choices: [...selected] }),
    ...(editedOutput !== undefined && { edited_output: editedOutput }),
    ...(decision !== undefined && { decision }),
  };
}

function answerCalls(
  calls: Questions,
  state: StepRequirementState,
  { calls: given = {} }: GivenStepAnswer,
): void {
  for (const [callId, answer] of Object.entries(given)) {
    const call = callsOf(state).find(
      ({ requirement, answer: known }) => requirement.callId === callId && known === null,
    );
    if (call === undefined)
      throw errors.invalidAnswer(
        `Step '${state.stepName}' does not wait for an answer to the call '${callId}'.`,
      );
    calls.put(call, answerInCode(call, answer));
  }
}
