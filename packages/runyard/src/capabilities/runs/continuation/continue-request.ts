import { callAnswers } from '../../../core/agents/requirements/call-answers.js';
import { type AnswersField, wrongStructure } from '../../../core/agents/requirements/wire-answer.js';
import { errors } from '../../../core/errors/errors.js';
import { isJsonObject, type Json, type JsonObject } from '../../../core/json.js';
import type { ContinueFrom } from '../../../core/runs/resume/continuation.js';
import type { AnswerSource, ResumeRequest } from '../../../core/runs/resume/resume-run.js';
import type { RunKind, RunOptions } from '../../../core/runs/run.js';
import { stepAnswers } from '../../../core/workflows/review/step-answers.js';
import type { BoundValues } from '../../../platform/auth/caller.js';
import { parseUntrustedJson } from '../../../platform/http/request/json-text.js';
import { checkOptions, optionsOf } from '../request/run-request.js';
import type { Following } from '../request/started-run.js';
import {
  type ContinueForm,
  type ContinueRunForm,
  type ContinueWorkflowRunForm,
  continueRunForm,
} from '../schema.js';

/** The request to continue a run, read from a form. */
export interface ContinueRequest extends ResumeRequest, Following {}

/** Reads the form that continues a run, and checks that its fields are consistent. */
export async function continueRequestOf(
  kind: RunKind,
  form: ContinueForm,
  following: Following,
  bound: BoundValues,
): Promise<ContinueRequest> {
  // the route of each kind has the schema of its form
  const read =
    kind === 'workflow'
      ? workflowRequestOf(form as ContinueWorkflowRunForm, following, bound)
      : conversationRequestOf(form as ContinueRunForm, following, bound);
  return { ...(await read), ...following };
}

/** The run of a workflow continues where it paused or failed, or a new one starts at one of its steps. */
async function workflowRequestOf(
  form: ContinueWorkflowRunForm,
  following: Following,
  bound: BoundValues,
): Promise<ResumeRequest> {
  const { continue_from: step } = form;
  const answers = stepAnswers({
    stepRequirements: answersOf('step_requirements', form.step_requirements),
    errorRequirements: answersOf('error_requirements', form.error_requirements),
  });
  if (step !== undefined && answers.given)
    throw errors.invalidContinue(
      'continue_from starts a new run: it cannot be combined with step_requirements or error_requirements.',
    );
  return {
    answers,
    from: step === undefined ? 'end' : { step },
    fork: step !== undefined,
    regenerate: false,
    replaceOriginal: false,
    input: null,
    options: await checkedOptions({}, {}, following, bound),
  };
}

async function conversationRequestOf(
  form: ContinueRunForm,
  following: Following,
  bound: BoundValues,
): Promise<ResumeRequest> {
  const tools = answersOf('tools', form.tools);
  const requirements = answersOf('requirements', form.requirements);
  const answers = callAnswers({ tools, requirements });
  const from = continueFromOf(form.continue_from);
  checkTogether(form, from, answers.given);
  return {
    answers: from === 'end' ? answers : { ...answers, match: refuseFrom },
    from,
    fork: form.fork ?? false,
    regenerate: form.regenerate ?? false,
    replaceOriginal: form.replace_original ?? true,
    input: form.input ?? form.additional_instructions ?? null,
    options: await checkedOptions(form, continueRunForm.shape, following, bound),
  };
}

async function checkedOptions(...given: Parameters<typeof optionsOf>): Promise<JsonObject & RunOptions> {
  const options = optionsOf(...given);
  await checkOptions(options);
  return options;
}

const refuseFrom: AnswerSource['match'] = ({ runId }) => {
  throw errors.invalidContinue(
    `Run ${runId} waits for an answer: continue_from requires fork=true, which continues a copy.`,
  );
};

function answersOf(field: AnswersField, text: string | undefined): readonly JsonObject[] {
  if (text === undefined) return [];
  let value: Json;
  try {
    value = parseUntrustedJson(text);
  } catch {
    throw errors.invalidContinue(`Invalid JSON in ${field} field`);
  }
  if (!Array.isArray(value)) throw wrongStructure(field, 'it must be an array');
  return value.map((item, position) => {
    if (isJsonObject(item)) return item;
    throw wrongStructure(field, `item ${position} must be an object`);
  });
}

function continueFromOf(text: string | undefined): ContinueFrom {
  const value = text?.trim() ?? 'end';
  if (value === 'end' || value === 'last_user') return value;
  if (/^\d{1,15}$/.test(value)) return Number(value);
  throw errors.invalidContinue(
    `Invalid continue_from '${value.slice(0, 40)}': send 'end', 'last_user', or how many messages to keep.`,
  );
}

/** Which fields contradict each other, or would do nothing. */
function checkTogether(form: ContinueRunForm, from: ContinueFrom, answers: boolean): void {
  const refuse = (text: string): never => {
    throw errors.invalidContinue(text);
  };
  const { regenerate, fork, input, additional_instructions: instructions } = form;
  if (regenerate && fork) refuse('regenerate cannot be combined with fork: it works on a copy anyway.');
  if (regenerate && typeof from === 'number')
    refuse('regenerate cannot be combined with a numeric continue_from.');
  if (form.replace_original !== undefined && !regenerate) refuse('replace_original needs regenerate=true.');
  if (input !== undefined && instructions !== undefined)
    refuse('Send either input or additional_instructions, not both.');
  if (instructions !== undefined && !regenerate)
    refuse('additional_instructions needs regenerate=true. To say something more, send input.');
  if (answers && (fork || regenerate || from !== 'end'))
    refuse('Answers (tools, requirements) cannot be combined with fork, regenerate or continue_from.');
}
