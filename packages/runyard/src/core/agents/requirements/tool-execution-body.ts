import type { QuestionFields, ToolCallBody } from '../../events/agent-event.js';
import { type JsonObject, schemaData } from '../../json.js';
import type { ToolAnswer, ToolRequirement } from '../../tools/questions/requirement.js';
import type { ToolExecution } from '../tool-executions.js';
import type { ToolRequirementState } from './tool-requirements.js';

/** The wire fields of a call that needs a person; fields without a value are left out. */
const nothingAsked = {
  requires_confirmation: null,
  confirmed: null,
  confirmation_note: null,
  requires_user_input: null,
  user_input_schema: null,
  user_feedback_schema: null,
  answered: null,
  external_execution_required: null,
  external_execution_silent: null,
  approval_type: null,
  approval_id: null,
} satisfies QuestionFields;

/** ToolExecution of the wire: every key is always there. */
export function toolExecutionBody(tool: ToolExecution): ToolCallBody {
  const { startedAt, endedAt } = tool;
  return {
    tool_call_id: tool.callId,
    tool_name: tool.name,
    tool_args: tool.args,
    tool_call_error: tool.error,
    result: tool.result,
    metrics:
      endedAt === null
        ? null
        : {
            start_time: startedAt / 1000,
            end_time: endedAt / 1000,
            duration: (endedAt - startedAt) / 1000,
          },
    child_run_id: tool.childRunId ?? null,
    stop_after_tool_call: tool.stopAfterCall,
    created_at: Math.floor(startedAt / 1000),
    ...nothingAsked,
    // what was asked last is what is shown
    ...Object.assign({}, ...(tool.requirements ?? []).map(answerFields)),
  };
}

/** What one requirement and its answer look like. */
export function answerFields({ requirement, answer }: ToolRequirementState): Partial<QuestionFields> {
  const { approval } = requirement;
  return {
    ...askedFields(requirement, answer),
    ...decisionFields(answer),
    ...(approval !== undefined && { approval_type: approval.type, approval_id: approval.id ?? null }),
  };
}

function askedFields(requirement: ToolRequirement, answer: ToolAnswer | null): Partial<QuestionFields> {
  switch (requirement.kind) {
    case 'confirmation':
    case 'unknown_outcome':
      return { requires_confirmation: true };
    case 'user_input':
      return {
        requires_user_input: true,
        user_input_schema: inputSchema(requirement, answer),
        answered: answeredField(answer),
      };
    case 'user_feedback':
      return {
        requires_user_input: true,
        user_feedback_schema: feedbackSchema(requirement, answer),
        answered: answeredField(answer),
      };
    case 'external_execution':
      return {
        external_execution_required: true,
        external_execution_silent: requirement.silent ?? false,
      };
  }
}

function answeredField(answer: ToolAnswer | null): boolean | null {
  return answer === null ? null : answer.answer !== 'confirmed';
}

function decisionFields(answer: ToolAnswer | null): Partial<QuestionFields> {
  // a new question about the same call has no answer yet, whatever was said before
  if (answer === null) return { confirmed: null, confirmation_note: null };
  if (answer.answer !== 'confirmed') return {};
  const { confirmed, note, approval } = answer;
  const unexplained = !confirmed && approval !== undefined ? 'Tool call was rejected' : null;
  return { confirmed, confirmation_note: note ?? unexplained };
}

function inputSchema({ inputFields = [] }: ToolRequirement, answer: ToolAnswer | null): JsonObject[] {
  const values = answer?.answer === 'input' ? answer.values : {};
  return inputFields.map(({ name, type, description = null, optional, schema }) => ({
    name,
    field_type: type,
    description,
    ...(optional === true && { required: false }),
    ...(schema !== undefined && { schema: schemaData(schema) }),
    value: (Object.hasOwn(values, name) ? values[name] : undefined) ?? null,
  }));
}

function feedbackSchema({ questions = [] }: ToolRequirement, answer: ToolAnswer | null): JsonObject[] {
  return questions.map(({ question, header, multiSelect, options }, index) => {
    const selected = answer?.answer === 'feedback' ? (answer.selected[index] ?? []) : null;
    return {
      question,
      header,
      multi_select: multiSelect,
      selected_options: selected === null ? null : [...selected],
      options: options.map(({ label, description }) => ({
        label,
        description,
        selected: selected?.includes(label) ?? false,
      })),
    };
  });
}
