import { errors } from '../../errors/errors.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import type { Resolutions } from '../../runs/approval.js';
import { childrenOf } from '../../runs/execution/child-run.js';
import type { AnswerSource, MatchedAnswers } from '../../runs/resume/resume-run.js';
import type { Run, StepRecord } from '../../runs/run.js';
import { canonicalJson } from '../../tools/call/canonical-json.js';
import type { ToolAnswer } from '../../tools/questions/requirement.js';
import { nextTurn } from '../continuation/continuation.js';
import { toolExecutionsOf } from '../tool-executions.js';
import { answerOfApproval, auditRecordOf } from './approvals.js';
import { type GivenAnswer, readAnswer } from './read-answer.js';
import { teamRequirementsOf } from './team-requirements.js';
import type { ToolRequirementState } from './tool-requirements.js';
import { toWaitOutput } from './wait-output.js';
import { answerInRequirement, answerInTool, wrongStructure } from './wire-answer.js';

/** Lists of the wire with the answers of a client. */
interface CallAnswers {
  readonly tools: readonly JsonObject[];
  readonly requirements: readonly JsonObject[];
}

/**
 * Answers to the calls of an agent or a team. Clients send back whole lists: what was answered before is passed over,
 * what the run never asked is refused, and of each entry only the answer is read.
 */
export function callAnswers({ tools, requirements }: CallAnswers): AnswerSource {
  return {
    given: tools.length + requirements.length > 0,
    match(run, steps, resolutions) {
      const questions = new Questions(run, teamRequirementsOf(run, steps), callIdsOf(run, steps));
      for (const tool of tools) {
        const callId = tool.tool_call_id;
        if (typeof callId !== 'string') throw wrongStructure('tools', 'each tool needs its tool_call_id');
        questions.answer(questions.ofCall(callId), answerInTool(tool));
      }
      for (const requirement of requirements) {
        questions.answer(questions.ofRequirement(requirement), answerInRequirement(requirement));
      }
      questions.applyApprovals(resolutions);
      return { ...questions.matched(), turn: nextTurn(steps) };
    },
    unanswered: () => errors.unresolvedRequirements('requirements'),
  };
}

/** The ids of all calls of a run and of its nested runs. */
function callIdsOf(run: Run, steps: readonly StepRecord[]): string[] {
  const inside = childrenOf(run, steps).flatMap((child) => callIdsOf(child.run, child.steps));
  return [...toolExecutionsOf(steps).map(({ callId }) => callId), ...inside];
}

/** What the tool calls of a run and of its nested runs wait or waited for, with the given answers. */
export class Questions {
  private readonly callIds: ReadonlySet<string>;
  private readonly answers = new Map<ToolRequirementState, ToolAnswer>();

  /** `calls`: the ids of calls that wait for nothing; a client sends them back too. */
  constructor(
    private readonly run: Run,
    private readonly states: readonly ToolRequirementState[],
    calls: readonly string[] = [],
  ) {
    this.callIds = new Set([...calls, ...states.map(({ requirement }) => requirement.callId)]);
  }

  /** The open question about this call; undefined without one. */
  ofCall(callId: string): ToolRequirementState | undefined {
    const states = this.open().filter((open) => open.requirement.callId === callId && !this.asksAgain(open));
    // calls of two members may have the same id
    const state = states.find((open) => !this.answers.has(open)) ?? states[0];
    if (state === undefined && !this.callIds.has(callId))
      throw errors.invalidContinue(
        `Run ${this.run.runId} has no tool call with the tool_call_id '${callId}'.`,
      );
    return state;
  }

  ofRequirement(given: JsonObject): ToolRequirementState | undefined {
    const { id, tool_execution: tool } = given;
    const known = this.states.find(({ requirement }) => requirement.id === id);
    if (known !== undefined) return known.answer === null ? known : undefined;
    const callId = isJsonObject(tool) ? tool.tool_call_id : undefined;
    if (typeof callId === 'string') return this.ofCall(callId);
    throw errors.invalidContinue(`Run ${this.run.runId} has no requirement with the id '${String(id)}'.`);
  }

  answer(state: ToolRequirementState | undefined, given: GivenAnswer): void {
    const answer = state && readAnswer(state, given);
    if (state === undefined || answer === undefined) return;
    const other = this.answers.get(state);
    if (other !== undefined && canonicalJson(other) !== canonicalJson(answer))
      throw errors.invalidContinue(
        `The tool call '${state.requirement.callId}' is answered twice, in different ways.`,
      );
    this.put(state, answer);
  }

  put(state: ToolRequirementState, answer: ToolAnswer): void {
    this.answers.set(state, answer);
  }

  /** Only the decision on an approval answers such a call, and nothing in the request does. */
  applyApprovals(resolutions: Resolutions): void {
    for (const state of this.open()) {
      const { approval } = state.requirement;
      const resolution = approval?.type === 'required' && resolutions.get(approval.id ?? '');
      const answer = resolution ? answerOfApproval(state, resolution) : undefined;
      if (answer !== undefined) this.put(state, answer);
    }
  }

  matched(): Pick<MatchedAnswers, 'answers' | 'approvals'> {
    const entries = [...this.answers];
    const now = Date.now();
    return {
      answers: new Map(entries.map(([state, answer]) => [state.waitKey, toWaitOutput(state, answer)])),
      approvals: entries.flatMap(([state, answer]) => {
        const approval = auditRecordOf(this.run, state, answer, now);
        return approval === undefined ? [] : [{ kind: 'record', approval } as const];
      }),
    };
  }

  /** A tool that asks once more: an answer that names the call alone may have been meant for what came before. */
  private asksAgain({ requirement: { askedIn, callId }, member }: ToolRequirementState): boolean {
    const isEarlier = (other: ToolRequirementState) =>
      other.answer !== null && other.requirement.callId === callId && other.member?.runId === member?.runId;
    return askedIn !== undefined && this.states.some(isEarlier);
  }

  private open(): readonly ToolRequirementState[] {
    return this.states.filter(({ answer }) => answer === null);
  }
}
