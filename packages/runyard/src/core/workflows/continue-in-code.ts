import { auditRecordOf } from '../agents/requirements/approvals.js';
import { answerInCode, type GivenAnswer } from '../agents/requirements/read-answer.js';
import { toWaitOutput } from '../agents/requirements/wait-output.js';
import { errors } from '../errors/errors.js';
import type { Json, JsonObject } from '../json.js';
import type { ApprovalWrite } from '../runs/approval.js';
import type { RunEngine } from '../runs/engine.js';
import type { Executable } from '../runs/executable.js';
import type { RunHandle } from '../runs/execution/executor.js';
import type { RunJournal } from '../runs/journal/ports.js';
import type { Run } from '../runs/run.js';
import { readStepAnswer } from './review/read-step-answer.js';
import { type StepRequirementState, workflowRequirementsOf } from './review/workflow-requirements.js';

/** What somebody says about one step; which of it counts depends on what the step waits for. */
export interface GivenStepAnswer {
  readonly confirmed?: boolean;
  /** Why it was rejected: whoever does the step again is told. */
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
  /** By the names of the steps. */
  readonly answers: Readonly<Record<string, GivenStepAnswer>>;
  /** Aborting it cancels the run. */
  readonly signal?: AbortSignal;
}

export async function continueWorkflow(
  engine: RunEngine,
  journal: RunJournal,
  workflow: Executable,
  runId: string,
  options: WorkflowContinueOptions,
): Promise<RunHandle> {
  const stored = await journal.load(runId);
  if (stored === undefined || stored.run.componentId !== workflow.id || stored.run.kind !== workflow.kind)
    throw errors.runNotFound();
  const { run, steps } = stored;
  if (run.status !== 'paused') throw errors.cannotContinue(runId, run.status);
  const { open } = workflowRequirementsOf(run, steps);
  const answers = new Map<string, Json>();
  const approvals: ApprovalWrite[] = [];
  for (const [name, given] of Object.entries(options.answers)) {
    const state = open.find(({ stepName }) => stepName === name);
    if (state === undefined)
      throw errors.invalidAnswer(`Run ${runId} does not wait for an answer to the step '${name}'.`);
    if (state.kind === 'executor') answerCalls(run, state, given, answers, approvals);
    else {
      const answer = readStepAnswer(state, wireAnswer(given));
      if (answer !== undefined) answers.set(state.waitKey!, answer as Json);
    }
  }
  if (answers.size === 0) {
    const names = open.map(({ stepName }) => `'${stepName}'`).join(', ');
    throw errors.invalidAnswer(
      `Run ${runId} waits for answers. Give one to at least one of its steps: ${names}.`,
    );
  }
  const continuation = { turn: 0, input: null, options: { stream: false } };
  return engine.answer(runId, { answers, approvals, continuation });
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
  run: Run,
  { stepName, calls }: StepRequirementState,
  { calls: given = {} }: GivenStepAnswer,
  answers: Map<string, Json>,
  approvals: ApprovalWrite[],
): void {
  for (const [callId, said] of Object.entries(given)) {
    const call = calls.find(({ state }) => state.requirement.callId === callId && state.answer === null);
    if (call === undefined)
      throw errors.invalidAnswer(`Step '${stepName}' does not wait for an answer to the call '${callId}'.`);
    const answer = answerInCode(call.state, said);
    answers.set(call.waitKey, toWaitOutput(call.state, answer));
    const audit = auditRecordOf(run, call.state, answer, Date.now());
    if (audit !== undefined) approvals.push({ kind: 'record', approval: audit });
  }
}
