import { teamRequirementsOf } from '../../../core/agents/requirements/team-requirements.js';
import { isJsonObject, type JsonObject } from '../../../core/json.js';
import type { Run } from '../../../core/runs/run.js';
import { openRequirements, PausedRun } from '../../common/answers/paused-run.js';
import type { Question } from '../../common/answers/question.js';
import { callOf, shownCallId } from '../chat/call-ids.js';
import type { RunJournal } from '../chat/outcome.js';

/** What a paused run asks for, in the items that clients know. */
export interface Pause {
  readonly calls: readonly CallItem[];
  readonly approvals: readonly JsonObject[];
  /** The questions for which the protocol has no item, in words. */
  readonly text: string;
  /** As the run API shows them. */
  readonly requirements: readonly JsonObject[];
}

export interface CallItem {
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
}

/** Calls that the client executes are functions, and confirmations are approvals as those of MCP tools. */
export function pauseOf(
  { runId, kind, componentId }: Pick<Run, 'runId' | 'kind' | 'componentId'>,
  body: Readonly<Record<string, unknown>>,
): Pause {
  const requirements = openRequirements(body);
  const { questions } = new PausedRun(kind, body);
  const named = new Map(requirements.flatMap(namesIn));
  const subject = (question: Question) =>
    named.get(question.id) ?? { name: question.id, arguments: JSON.stringify({ message: question.message }) };
  const calls = questions.filter(({ asked }) => asked.kind === 'result');
  const approvals = questions.filter(isApproval);
  const others = questions.filter((one) => one.asked.kind !== 'result' && !isApproval(one));
  return {
    calls: calls.map((one) => ({ callId: shownCallId({ runId, callId: one.id }), ...subject(one) })),
    approvals: approvals.map((one) => ({
      id: approvalId(runId, one.id),
      type: 'mcp_approval_request',
      server_label: componentId,
      ...subject(one),
    })),
    text: others.map(({ message }) => message).join('\n'),
    requirements,
  };
}

/** Only the decision on an approval answers what an administrator has to approve: the client cannot. */
function isApproval({ asked, needsApproval }: Question): boolean {
  return asked.kind === 'confirmation' && !needsApproval;
}

type Subject = Omit<CallItem, 'callId'>;

/** By how an answer names it: the calls and the steps in a requirement. */
function namesIn(requirement: JsonObject): [string, Subject][] {
  const { tool_execution: call, executor_requirements: inside, step_id: stepId } = requirement;
  if (isJsonObject(call))
    return [
      [
        String(call.tool_call_id ?? requirement.id),
        { name: String(call.tool_name), arguments: JSON.stringify(call.tool_args ?? {}) },
      ],
    ];
  const calls = Array.isArray(inside) ? inside.filter(isJsonObject).flatMap(namesIn) : [];
  const message = requirement.confirmation_message ?? requirement.output_review_message;
  const step = {
    name: String(requirement.step_name ?? stepId),
    arguments: JSON.stringify(typeof message === 'string' ? { message } : {}),
  };
  return [[String(stepId), step], ...calls];
}

/** What was answered to items of an output, as the items of the client that said so. */
export function answerItems(output: readonly JsonObject[], { run, steps }: RunJournal): JsonObject[] {
  const states = run.kind === 'workflow' ? [] : teamRequirementsOf(run, steps);
  return output.flatMap((item): JsonObject[] => {
    const shown = String(item.type === 'function_call' ? item.call_id : item.id);
    const callId = askedBy(shown)?.callId;
    const answer = states.findLast(({ requirement }) => requirement.callId === callId)?.answer;
    if (item.type === 'function_call' && answer?.answer === 'result') {
      const { result } = answer;
      return [
        {
          id: `fco_${shown}`,
          type: 'function_call_output',
          call_id: shown,
          output: result,
          status: 'completed',
        },
      ];
    }
    if (item.type !== 'mcp_approval_request' || answer?.answer !== 'confirmed') return [];
    const { confirmed, note = null } = answer;
    const about = { approval_request_id: shown, approve: confirmed, reason: note };
    return [{ id: `mcpa_${shown}`, type: 'mcp_approval_response', ...about }];
  });
}

const approvalPrefix = 'mcpr_';

function approvalId(runId: string, callId: string): string {
  return approvalPrefix + shownCallId({ runId, callId });
}

/** The question that an id of an item leads to; undefined for an id that another service made. */
export function askedBy(id: string): ReturnType<typeof callOf> {
  return callOf(id.startsWith(approvalPrefix) ? id.slice(approvalPrefix.length) : id);
}
