import { errors } from '../../errors/errors.js';
import type { JsonObject } from '../../json.js';
import type { AnswerSource, ResumeRequest } from '../../runs/resume/resume-run.js';
import type { Run, StepRecord } from '../../runs/run.js';
import { Questions } from '../requirements/call-answers.js';
import { answerInCode, type GivenAnswer } from '../requirements/read-answer.js';
import { teamRequirementsOf } from '../requirements/team-requirements.js';
import type { ToolRequirementState } from '../requirements/tool-requirements.js';
import { nextTurn } from './continuation.js';

/** What comes with `agent.continue()`. */
export interface AgentContinueOptions {
  /** Answers to what a paused run waits for, by the ids of the tool calls or of the requirements. */
  readonly answers?: Readonly<Record<string, GivenAnswer>>;
  /** The user's new message, before the next call of the model. */
  readonly input?: string;
  /**
   * Where a run that is not paused continues: at its `end` (the default), after the `last_user` message, or after so
   * many messages.
   */
  readonly from?: 'end' | 'last_user' | number;
  /** Works on a copy of the run and leaves the run as it is. A completed run always stays as it is. */
  readonly fork?: boolean;
  /** Answers again, in a copy of the run that takes its place in the session. */
  readonly regenerate?: boolean;
  readonly dependencies?: JsonObject;
  readonly metadata?: JsonObject;
  /** Aborting it cancels the run. */
  readonly signal?: AbortSignal;
}

/** What the options ask of a run of an agent or a team. */
export function callRequest(options: AgentContinueOptions): ResumeRequest {
  checkTogether(options);
  const { answers, from = 'end', fork = false, regenerate = false, input = null } = options;
  const { dependencies, metadata } = options;
  return {
    answers: answersInCode(answers),
    from,
    fork,
    regenerate,
    replaceOriginal: true,
    input,
    options: {
      stream: false,
      ...(dependencies !== undefined && { dependencies }),
      ...(metadata !== undefined && { metadata }),
    },
  };
}

function checkTogether({ answers, from, fork, regenerate }: AgentContinueOptions): void {
  if (regenerate && (fork || typeof from === 'number'))
    throw errors.invalidContinue(
      'regenerate always copies the run and starts at an answer: omit fork and a numeric from.',
    );
  if (answers !== undefined && (from !== undefined || fork || regenerate))
    throw errors.invalidContinue('answers cannot be combined with from, fork or regenerate.');
}

function answersInCode(given: AgentContinueOptions['answers']): AnswerSource {
  return {
    given: given !== undefined,
    match(run, steps, resolutions) {
      const open = openRequirements(run, steps);
      const questions = new Questions(run, open);
      for (const [id, answer] of Object.entries(given ?? {})) {
        const state = openCall(open, id);
        if (state === undefined)
          throw errors.invalidAnswer(`Run ${run.runId} does not wait for an answer to the call '${id}'.`);
        questions.put(state, answerInCode(state, answer));
      }
      questions.applyApprovals(resolutions);
      return { ...questions.matched(), turn: nextTurn(steps) };
    },
    unanswered: (run, steps) => errors.invalidAnswer(waitingText(run, openRequirements(run, steps))),
  };
}

function waitingText({ runId }: Run, open: readonly ToolRequirementState[]): string {
  const calls = open.map(({ requirement }) => `'${requirement.callId}' (${requirement.toolName})`);
  return `Run ${runId} waits for answers. Give one to at least one of its calls: ${calls.join(', ')}.`;
}

/** By the id of the call, or by that of the requirement: calls of two members may have the same id. */
function openCall(open: readonly ToolRequirementState[], id: string): ToolRequirementState | undefined {
  return (
    open.find(({ requirement }) => requirement.id === id) ??
    open.find(({ requirement }) => requirement.callId === id)
  );
}

/** What the calls of a run and of its nested runs wait for now. */
export function openRequirements(run: Run, steps: readonly StepRecord[]): readonly ToolRequirementState[] {
  return teamRequirementsOf(run, steps).filter(({ answer: given }) => given === null);
}
