import { newId } from '../../ids.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { ApprovalRecord, ApprovalStatus, PauseType, ResolvedApproval } from '../../runs/approval.js';
import type { Run } from '../../runs/run.js';
import type { RequirementKind, ToolAnswer, ToolRequirement } from '../../tools/questions/requirement.js';
import { fitValue } from './fit-value.js';
import { resultText } from './read-answer.js';
import { requirementBody } from './requirement-body.js';
import type { ToolRequirementState } from './tool-requirements.js';

const pauseTypes: Readonly<Record<RequirementKind, PauseType>> = {
  confirmation: 'confirmation',
  unknown_outcome: 'confirmation',
  user_input: 'user_input',
  user_feedback: 'user_input',
  external_execution: 'external_execution',
};

/** The approval that a requirement names, before it is decided. */
export function pendingApproval(run: Run, state: ToolRequirementState): ApprovalRecord {
  const { approval, createdAt } = state.requirement;
  return {
    ...approvalBase(run, state),
    approvalId: approval?.id ?? newId(),
    approvalType: 'required',
    status: 'pending',
    resolvedAt: null,
    expiresAt: approval?.expiresAt ?? null,
    createdAt,
  };
}

/** What is written down about an answer that a caller gave; undefined when the tool does not ask for that. */
export function auditRecordOf(
  run: Run,
  state: ToolRequirementState,
  answer: ToolAnswer,
  now: number,
): ApprovalRecord | undefined {
  if (state.requirement.approval?.type !== 'audit') return undefined;
  return {
    ...approvalBase(run, { ...state, answer }),
    approvalId: newId(),
    approvalType: 'audit',
    status: isRejection(answer) ? 'rejected' : 'approved',
    resolvedAt: now,
    expiresAt: null,
    createdAt: now,
  };
}

function approvalBase(run: Run, state: ToolRequirementState) {
  const { kind, toolName, args } = state.requirement;
  return {
    runId: run.runId,
    sessionId: run.sessionId,
    sourceType: run.kind,
    componentId: run.componentId,
    sourceName: run.componentName,
    userId: run.userId,
    scheduleId: run.input.options.schedule?.scheduleId ?? null,
    scheduleRunId: run.input.options.schedule?.scheduleRunId ?? null,
    pauseType: pauseTypes[kind],
    toolName,
    toolArgs: args,
    requirement: requirementBody(state),
    resolutionData: null,
    resolvedBy: null,
  };
}

/** The answer that follows from a decision; undefined without a decision. */
export function answerOfApproval(
  { requirement }: ToolRequirementState,
  { status, resolutionData, record }: ResolvedApproval,
): ToolAnswer | undefined {
  if (status === 'pending') return undefined;
  const data = resolutionData ?? {};
  if (status === 'approved') return approved(requirement, data, record);
  return rejection(notes[status] ?? noteIn(data), record);
}

const notes: Partial<Record<ApprovalStatus, string>> = {
  expired: 'The approval of this call expired without a decision.',
  cancelled: 'The approval of this call was cancelled.',
};

function approved(requirement: ToolRequirement, data: JsonObject, approval: JsonObject): ToolAnswer {
  const { kind, inputFields = [] } = requirement;
  const { result = null } = data;
  switch (kind) {
    case 'user_input':
      return { answer: 'input', values: valuesIn(inputFields, data), approval };
    case 'external_execution':
      if (result === null) return rejection('The call was approved, but without a result of it.', approval);
      return { answer: 'result', result: resultText(result), approval };
    case 'unknown_outcome':
      if (result !== null) return { answer: 'result', result: resultText(result), approval };
      return { answer: 'confirmed', confirmed: true, approval };
    default:
      return { answer: 'confirmed', confirmed: true, approval };
  }
}

/** What does not fit stays as it is: the decision stands, and the tool's own check reports it to the model. */
function valuesIn(fields: NonNullable<ToolRequirement['inputFields']>, data: JsonObject): JsonObject {
  const given = isJsonObject(data.values) ? data.values : data;
  const filled = fields.flatMap(({ name, type }): [string, Json][] => {
    const value = Object.hasOwn(given, name) ? given[name] : null;
    if (value == null) return [];
    const fit = fitValue(type, value);
    return [[name, fit.fits ? fit.value : value]];
  });
  return Object.fromEntries(filled);
}

function rejection(note: string | undefined, approval: JsonObject): ToolAnswer {
  return { answer: 'confirmed', confirmed: false, ...(note !== undefined && { note }), approval };
}

function noteIn({ note, reason }: JsonObject): string | undefined {
  return [note, reason].find((text): text is string => typeof text === 'string' && text !== '');
}

function isRejection(answer: ToolAnswer): boolean {
  return answer.answer === 'confirmed' && !answer.confirmed;
}
