import { boundedResult } from '../../tools/call/tool-outcome.js';
import type { ToolAnswer, ToolRequirement } from '../../tools/questions/requirement.js';
import type { StepAnswer } from '../../workflows/review/step-requirement.js';
import type { RecordedOutcome, ToolRecord } from '../journal-records.js';
import type { ToolRequirementState } from './tool-requirements.js';
import { toStepAnswer } from './workflow-questions.js';

/** What is stored as the output of the step that waited: for an interrupted call, how it ended. */
export function toWaitOutput(
  { requirement, stepKind }: ToolRequirementState,
  answer: ToolAnswer,
): ToolAnswer | RecordedOutcome | StepAnswer {
  if (stepKind !== undefined) return toStepAnswer(stepKind, requirement.toolName, answer);
  return requirement.kind === 'unknown_outcome' ? outcomeOf(requirement, answer) : answer;
}

function outcomeOf(requirement: ToolRequirement, answer: ToolAnswer): RecordedOutcome {
  if (answer.answer === 'result') return { outcome: 'done', output: doneRecord(requirement, answer), answer };
  if (answer.answer === 'confirmed' && answer.confirmed) return { outcome: 'retry', answer };
  const note = answer.answer === 'confirmed' ? answer.note : undefined;
  const message = `${requirement.message ?? `How '${requirement.toolName}' ended is not known.`} It is not called again.`;
  return { outcome: 'failed', message: note ?? message, answer };
}

function doneRecord(
  { callId, args }: ToolRequirement,
  { result }: Extract<ToolAnswer, { answer: 'result' }>,
): ToolRecord {
  return { callId, ...boundedResult(result), args, listed: true };
}
