import type { RequirementBody } from '@runyard/client';
import { objectsIn, textIn } from '../run/read-fields.js';
import type { Pause, WaitingStep } from '../run/run-view.js';

/** What a person is asked for. */
export type Asked = 'approval' | 'outcome' | 'result' | 'choice' | 'input' | 'confirmation';

export function askedBy(requirement: RequirementBody): Asked {
  const call = requirement.tool_execution;
  if (call.approval_type === 'required') return 'approval';
  if (requirement.outcome_unknown) return 'outcome';
  if (call.external_execution_required) return 'result';
  if (objectsIn(requirement.user_feedback_schema).length > 0) return 'choice';
  return Array.isArray(requirement.user_input_schema) ? 'input' : 'confirmation';
}

/** A run that was answered in part still lists what was answered. */
export function isOpen({
  confirmation,
  external_execution_result: result,
  tool_execution: call,
}: RequirementBody) {
  return confirmation === undefined && result === undefined && (call.answered ?? null) === null;
}

export function openIn(step: WaitingStep): readonly RequirementBody[] {
  return (step.executor_requirements ?? []).filter(isOpen);
}

/** Whether both ask the same. */
export function asksSame(one: Pause | undefined, other: Pause | undefined): boolean {
  return JSON.stringify(one && askedIn(one)) === JSON.stringify(other && askedIn(other));
}

function askedIn({ requirements, steps, errors }: Pause): unknown {
  return [
    requirements.filter(isOpen).map(({ id }) => id),
    ...steps.map((step) => [stepKey(step), openIn(step).map(({ id }) => id)]),
    ...errors.map(stepKey),
  ];
}

/** A step that is repeated asks again. */
export function stepKey(asked: {
  readonly step_id: string;
  readonly retry_count: number;
  readonly question_name?: string | null;
}): string {
  return `${asked.step_id} ${asked.retry_count} ${asked.question_name ?? ''}`;
}

export interface Question {
  readonly question: string;
  readonly header: string | undefined;
  readonly isMultiple: boolean;
  readonly options: readonly { readonly label: string; readonly description: string | undefined }[];
}

export function questionsOf(given: unknown): readonly Question[] {
  return objectsIn(given).map(({ question, header, multi_select: multiple, options }) => ({
    question: textIn(question) ?? '',
    header: textIn(header),
    isMultiple: multiple === true,
    options: objectsIn(options).map(({ label, description }) => ({
      label: String(label),
      description: textIn(description),
    })),
  }));
}
