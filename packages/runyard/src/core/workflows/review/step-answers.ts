import { Questions } from '../../agents/requirements/call-answers.js';
import {
  type AnswersField,
  answerInRequirement,
  wrongStructure,
} from '../../agents/requirements/wire-answer.js';
import { errors } from '../../errors/errors.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import type { AnswerSource } from '../../runs/resume/resume-run.js';
import type { Run } from '../../runs/run.js';
import { readStepAnswer } from './read-step-answer.js';
import { type StepRequirementState, workflowRequirementsOf } from './workflow-requirements.js';

/** Lists of the wire with the answers of a client. */
interface StepAnswers {
  readonly stepRequirements: readonly JsonObject[];
  readonly errorRequirements: readonly JsonObject[];
}

/**
 * Answers to the steps of a workflow, in the lists that a client sends back. Of each entry only the answer is read;
 * what was asked comes from the journal, and entries about what was answered before are passed over.
 */
export function stepAnswers({ stepRequirements, errorRequirements }: StepAnswers): AnswerSource {
  return {
    given: stepRequirements.length + errorRequirements.length > 0,
    match(run, steps, resolutions) {
      const asked = workflowRequirementsOf(run, steps);
      checkKnown(run, 'step_requirements', stepRequirements, asked.stepRequirements);
      checkKnown(run, 'error_requirements', errorRequirements, asked.errorRequirements);
      const calls = new Questions(run, asked.open.flatMap(callsOf));
      const answers = new Map<string, unknown>();
      for (const state of asked.open) {
        const list = state.kind === 'error' ? errorRequirements : stepRequirements;
        const entry = list.findLast((given) => isAbout(given, state));
        if (entry === undefined) continue;
        if (state.kind === 'executor') {
          for (const requirement of executorRequirements(entry))
            calls.answer(
              calls.ofRequirement(requirement),
              answerInRequirement(requirement, 'step_requirements'),
            );
          continue;
        }
        const answer = readStepAnswer(state, entry);
        if (answer !== undefined && state.waitKey !== null) answers.set(state.waitKey, answer);
      }
      calls.applyApprovals(resolutions);
      const ofCalls = calls.matched();
      return { ...ofCalls, answers: new Map([...answers, ...ofCalls.answers]), turn: 0 };
    },
    unanswered: () => errors.unresolvedRequirements('step_requirements'),
  };
}

/** A step that the run never asked about is refused: the client means another run. */
function checkKnown(
  run: Run,
  field: AnswersField,
  given: readonly JsonObject[],
  asked: readonly JsonObject[],
): void {
  const known = new Set(asked.map(({ step_id: stepId }) => stepId));
  for (const { step_id: stepId } of given) {
    if (typeof stepId !== 'string') throw wrongStructure(field, 'each needs its step_id');
    if (!known.has(stepId))
      throw errors.invalidContinue(
        `Run ${run.runId} asked nothing about a step with the step_id '${stepId}'.`,
      );
  }
}

/** What distinguishes the questions about one step. */
const marks = ['requirement_id', 'executor_run_id', 'is_post_execution', 'retry_count'] as const;

/** An entry that was the answer to an earlier question about the same step answers no other. */
function isAbout(given: JsonObject, { stepId, body }: StepRequirementState): boolean {
  const isSame = (mark: string) => (given[mark] ?? null) === null || given[mark] === body[mark];
  return given.step_id === stepId && marks.every(isSame);
}

/** The calls of an executor, with the keys that they have in the journal of the workflow. */
export function callsOf({ calls }: StepRequirementState) {
  return calls.map(({ state, waitKey }) => ({ ...state, waitKey }));
}

function executorRequirements({ executor_requirements: given }: JsonObject): readonly JsonObject[] {
  if (given === undefined || given === null) return [];
  if (Array.isArray(given) && given.every(isJsonObject)) return given;
  throw wrongStructure('step_requirements', 'executor_requirements must be an array of objects');
}
