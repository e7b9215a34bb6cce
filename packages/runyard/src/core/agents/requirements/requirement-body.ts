import type { RequirementBody } from '../../events/agent-event.js';
import { waitingExecution } from '../tool-executions.js';
import { answerFields, toolExecutionBody } from './tool-execution-body.js';
import type { ToolRequirementState } from './tool-requirements.js';

/** RunRequirement of the wire. Fields without a value are left out. */
export function requirementBody(state: ToolRequirementState): RequirementBody {
  const { requirement, answer } = state;
  const { confirmed, confirmation_note, user_input_schema, user_feedback_schema } = answerFields(state);
  return {
    id: requirement.id,
    created_at: new Date(requirement.createdAt).toISOString().replace('Z', '+00:00'),
    tool_execution: toolExecutionBody(waitingExecution(state)),
    ...(typeof confirmed === 'boolean' && { confirmation: confirmed }),
    ...(typeof confirmation_note === 'string' && { confirmation_note }),
    ...(answer?.answer === 'result' && { external_execution_result: answer.result }),
    ...(user_input_schema !== undefined && { user_input_schema }),
    ...(user_feedback_schema !== undefined && { user_feedback_schema }),
    ...(requirement.kind === 'unknown_outcome' && { outcome_unknown: true }),
    ...((requirement.kind === 'unknown_outcome' || requirement.askedIn !== undefined) && {
      message: requirement.message ?? '',
    }),
    ...(state.member !== undefined && {
      member_agent_id: state.member.componentId,
      member_agent_name: state.member.name,
      member_run_id: state.member.runId,
    }),
  };
}
