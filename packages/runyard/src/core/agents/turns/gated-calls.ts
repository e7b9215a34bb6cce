import { newId } from '../../ids.js';
import type { Model } from '../../models/model.js';
import { ModelError } from '../../models/model-error.js';
import {
  type InterruptedPolicy,
  type Requirement,
  type RunContext,
  recordedStep,
} from '../../runs/context.js';
import { read } from '../../runs/journal/codec.js';
import { Approval, openGate } from '../../tools/call/gate.js';
import { judgeCall, type WaitingCall } from '../../tools/call/judge-call.js';
import { parseArguments } from '../../tools/call/parse-arguments.js';
import { boundedResult } from '../../tools/call/tool-outcome.js';
import { toolSourcesOf } from '../../tools/collect-tools.js';
import type { ToolAnswer, ToolRequirement } from '../../tools/questions/requirement.js';
import type { Tool } from '../../tools/tool.js';
import type { AgentExecution } from '../execution.js';
import { type RequestedCall, type ToolRecord, toolRequirement } from '../journal-records.js';
import { pendingApproval } from '../requirements/approvals.js';
import { assertToolFits, questionAbout } from '../requirements/question-of-call.js';
import {
  memberOf,
  outcomeKeyOf,
  requirementOf,
  type ToolRequirementState,
  waitKeyOf,
} from '../requirements/tool-requirements.js';

/**
 * What the call under this key waits for. That is decided once: what was recorded counts, and a call that began
 * without waiting needs no answer.
 */
export async function requirementOfCall(
  { agent, context, model }: Pick<AgentExecution, 'agent' | 'context' | 'model'>,
  tool: Tool | undefined,
  call: RequestedCall,
  key: string,
): Promise<ToolRequirementState | undefined> {
  const waits = context.recorded(waitKeyOf(key), questionAbout(call));
  const asked = waits && requirementOf(waits);
  if (!isForClient(tool, call, asked)) await assertCallFits(agent, context, tool, asked, key);
  if (waits !== undefined) return asked;
  // whether a call waits is for the application to say
  if (context.recorded(key) !== undefined || context.replay !== null) return undefined;
  const waiting =
    tool === undefined ? questionForClient(call, model) : await questionOfTool(context, tool, call);
  if (waiting === undefined) return undefined;
  const now = await context.deadline(0);
  const requirement: ToolRequirement = {
    id: newId(),
    callId: call.id,
    toolName: call.name,
    createdAt: now,
    ...waiting,
    ...approvalPart(tool, tool?.gate.approval, now),
  };
  return { waitKey: waitKeyOf(key), toolKey: key, requirement, answer: null };
}

function questionOfTool(
  context: RunContext,
  tool: Tool,
  call: RequestedCall,
): Promise<WaitingCall | undefined> | undefined {
  // an open gate asks nothing of the application
  if (tool.gate === openGate) return undefined;
  return context.callApplication(tool.name, () => judgeCall(tool, call));
}

const clientKinds = { execution: 'external_execution', confirmation: 'confirmation' } as const;

/** What a call of the provider's own tools waits for that no tool of the agent answers. */
function questionForClient(call: RequestedCall, model: Model): WaitingCall | undefined {
  if (call.client === undefined) return undefined;
  const parsed = parseArguments(call.arguments);
  if (parsed.ok) return { kind: clientKinds[call.client], args: parsed.args };
  throw new ModelError(`The call of '${call.name}' cannot be answered. ${parsed.message}`, {
    provider: model.provider,
    kind: 'protocol',
  });
}

/** Whether the question was asked, or will be, because there is no tool. A tool that asked and is gone is a difference. */
function isForClient(
  tool: Tool | undefined,
  { client }: RequestedCall,
  asked: ToolRequirementState | undefined,
): boolean {
  return tool === undefined && client !== undefined && asked?.requirement.kind === clientKinds[client];
}

/**
 * Before a call that was asked about, or that has begun, is continued: it has to be one of the tool that the code has.
 * Which tools sources offer, and what a factory builds, is not known before the run is executed.
 */
async function assertCallFits(
  agent: AgentExecution['agent'],
  context: RunContext,
  tool: Tool | undefined,
  asked: ToolRequirementState | undefined,
  key: string,
): Promise<void> {
  const begun = context.recorded(key);
  if (begun?.status === 'completed') return;
  const isOpen = begun === undefined && (asked === undefined || asked.answer === null);
  if (isOpen && context.replay === null) return;
  const mayBeOffered = context.replay !== null && toolSourcesOf(agent.toolEntries).length > 0;
  if (asked !== undefined)
    await assertToolFits(context, tool, mayBeOffered, { key: asked.waitKey, requirement: asked.requirement });
  if (begun !== undefined && tool === undefined && !mayBeOffered)
    throw context.definitionChanged({
      key,
      was: `a call of '${begun.name}'`,
      is: `without the tool '${begun.name}'`,
    });
}

function approvalPart(
  tool: Tool | undefined,
  type: Tool['gate']['approval'],
  now: number,
): Pick<ToolRequirement, 'approval'> {
  if (type === undefined) return {};
  if (type === 'audit') return { approval: { type } };
  const timeout = tool?.gate.approvalTimeoutMs;
  return { approval: { type, id: newId(), ...(timeout !== undefined && { expiresAt: now + timeout }) } };
}

/** What the run waits for, with the approval that a person must give. */
export function waitFor({ run, root }: RunContext, state: ToolRequirementState): Requirement {
  const { requirement } = state;
  // callers continue the outermost run
  const placed = run.runId === root.runId ? state : { ...state, member: memberOf(run) };
  return {
    key: state.waitKey.slice('wait:'.length),
    kind: requirement.kind,
    data: requirement,
    ...(requirement.approval?.type === 'required' && { approval: pendingApproval(root, placed) }),
  };
}

/** Asks how an interrupted call ended: the person who allowed it is asked again. */
export function questionOf(
  context: RunContext,
  tool: Tool | undefined,
  call: RequestedCall,
  key: string,
): NonNullable<InterruptedPolicy<ToolRecord>['question']> {
  return async (message) => {
    const waitKey = outcomeKeyOf(recordedStep(context, key));
    const asked = context.recorded(waitKey);
    if (asked !== undefined) return { data: read(asked, toolRequirement) };
    const now = await context.deadline(0);
    const gated = context.recorded(waitKeyOf(key));
    const type = gated && requirementOf(gated)?.requirement.approval?.type;
    const parsed = parseArguments(call.arguments);
    const requirement: ToolRequirement = {
      id: newId(),
      kind: 'unknown_outcome',
      callId: call.id,
      toolName: call.name,
      args: parsed.ok ? parsed.args : {},
      createdAt: now,
      message,
      ...approvalPart(tool, type, now),
    };
    const { data, approval } = waitFor(context, { waitKey, toolKey: key, requirement, answer: null });
    return { data, ...(approval !== undefined && { approval }) };
  };
}

/** What becomes of a call that was answered: it is executed with the person's word for it, or it has its result. */
export type AnsweredCallPlan = { readonly approval: Approval } | { readonly record: ToolRecord };

export function planOfAnswer(
  tool: Tool | undefined,
  requirement: ToolRequirement,
  answer: ToolAnswer,
): AnsweredCallPlan {
  const { callId, toolName, args } = requirement;
  if (answer.answer === 'confirmed' && !answer.confirmed)
    return {
      record: answered(requirement, answer.note ?? 'Function call was rejected by the user', true),
    };
  // what the provider executes itself has its answer with the yes
  if (tool === undefined && answer.answer === 'confirmed')
    return { record: answered(requirement, 'The call was confirmed.', false) };
  const result = resultIn(requirement, answer);
  if (result !== undefined) {
    const { content, error } = boundedResult(result);
    return {
      record: {
        ...answered(requirement, content, error),
        ...(!error && tool?.stopAfterCall && { stop: true }),
        ...(!error && tool?.showResult && { showResult: true }),
      },
    };
  }
  const input = answer.answer === 'input' ? { input: answer.values } : {};
  return { approval: Approval.ofRecordedAnswer({ callId, toolName, args, ...input }) };
}

/** The result that came with the answer; undefined when the call is to be executed here. */
function resultIn(requirement: ToolRequirement, answer: ToolAnswer): string | undefined {
  if (answer.answer === 'result') return answer.result;
  if (answer.answer === 'input')
    return requirement.answerIsResult ? JSON.stringify(answer.values) : undefined;
  if (answer.answer === 'confirmed') return undefined;
  const choices = (requirement.questions ?? []).map(({ question }, index) => ({
    question,
    selected_options: answer.selected[index] ?? [],
  }));
  return JSON.stringify(choices);
}

function answered({ callId, args }: ToolRequirement, content: string, error: boolean): ToolRecord {
  return { callId, content, error, args, listed: true, answered: true };
}
