import { idFrom } from '../ids.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import type { FeedbackQuestion, InputField, InputFieldType } from '../tools/questions/person-form.js';
import type { RequirementKind, ToolAnswer, ToolRequirement } from '../tools/questions/requirement.js';
import { objectsIn, textIn } from './remote-body.js';

/** The call that a requirement of the wire is about. */
export function callIn(requirement: JsonObject): JsonObject {
  return isJsonObject(requirement.tool_execution) ? requirement.tool_execution : {};
}

/** Whether only an approver at the other service decides on the call. */
export function needsApprovalThere(call: JsonObject): boolean {
  return call.approval_type === 'required';
}

/** A requirement of a remote run as a question of the local one; undefined for one that is answered. */
export function questionIn(requirement: JsonObject, now: number): ToolRequirement | undefined {
  const call = callIn(requirement);
  const kind = kindOf(requirement, call);
  if (kind === undefined) return undefined;
  const inputSchema = schemaIn('user_input_schema', requirement, call);
  const feedbackSchema = schemaIn('user_feedback_schema', requirement, call);
  return {
    // the same each time: by it the question is recognised
    id: textIn(requirement.id) ?? idFrom(`remote:${String(call.tool_call_id)}`),
    kind,
    callId: String(call.tool_call_id ?? ''),
    toolName: String(call.tool_name ?? ''),
    args: isJsonObject(call.tool_args) ? call.tool_args : {},
    createdAt: now,
    ...(kind === 'user_input' && { inputFields: inputSchema.map(fieldIn) }),
    ...(kind === 'user_feedback' && { questions: feedbackSchema.map(feedbackIn) }),
    ...(call.external_execution_silent === true && { silent: true }),
    ...(typeof requirement.message === 'string' && { message: requirement.message }),
  };
}

function kindOf(requirement: JsonObject, call: JsonObject): RequirementKind | undefined {
  const decided = requirement.confirmation ?? call.confirmed ?? null;
  if (call.external_execution_required === true) {
    const result = requirement.external_execution_result ?? call.result ?? null;
    return result === null && decided !== false ? 'external_execution' : undefined;
  }
  const isRefused = decided === false;
  const questions = schemaIn('user_feedback_schema', requirement, call);
  if (questions.length > 0) {
    const open = questions.some(({ selected_options: selected }) => !Array.isArray(selected));
    return open && !isRefused ? 'user_feedback' : undefined;
  }
  if (call.requires_user_input === true) {
    const fields = schemaIn('user_input_schema', requirement, call);
    const open = call.answered !== true && fields.some(({ value }) => value === null || value === undefined);
    return open && !isRefused ? 'user_input' : undefined;
  }
  if (decided !== null) return undefined;
  if (requirement.outcome_unknown === true) return 'unknown_outcome';
  return call.requires_confirmation === true ? 'confirmation' : undefined;
}

/** Distinguishes the open requirements of a run from those of another pause: of calls, and of the steps of a workflow. */
export function openIds(requirements: readonly JsonObject[]): string[] {
  return requirements.flatMap((requirement) => {
    if (requirement.step_id === undefined) return questionIn(requirement, 0)?.id ?? [];
    const inside = openIds(objectsIn(requirement.executor_requirements));
    if (inside.length === 0 && !isOpenStep(requirement)) return [];
    const { step_id, requirement_id, is_post_execution, retry_count } = requirement;
    return [[requirement_id ?? step_id, is_post_execution, retry_count, ...inside].map(String).join(' ')];
  });
}

/** Whether nobody has answered what a step of a workflow waits for. */
export function isOpenStep(requirement: JsonObject): boolean {
  const { confirmed = null, user_input: input = null, selected_choices: choices = null } = requirement;
  if ('error_message' in requirement) return (requirement.decision ?? null) === null;
  if (requirement.requires_executor_input === true) return false;
  if (requirement.requires_route_selection === true) return choices === null;
  if (requirement.requires_user_input === true) return input === null && confirmed === null;
  return confirmed === null;
}

/** The outer copy of a form counts, and the one of the call where there is no outer one. */
function schemaIn(
  name: 'user_input_schema' | 'user_feedback_schema',
  requirement: JsonObject,
  call: JsonObject,
): JsonObject[] {
  const outer = objectsIn(requirement[name]);
  return outer.length > 0 ? outer : objectsIn(call[name]);
}

const fieldTypes: readonly InputFieldType[] = ['str', 'int', 'float', 'bool', 'list', 'dict'];

function fieldIn({ name, field_type: given, description, required, schema }: JsonObject): InputField {
  const type = fieldTypes.find((one) => one === given) ?? 'str';
  return {
    name: String(name ?? ''),
    type,
    description: textIn(description) ?? null,
    ...(required === false && { optional: true }),
    ...(isJsonObject(schema) && { schema }),
  };
}

function feedbackIn({ question, header, multi_select: multiSelect, options }: JsonObject): FeedbackQuestion {
  return {
    question: String(question ?? ''),
    header: textIn(header) ?? null,
    multiSelect: multiSelect === true,
    options: objectsIn(options).map(({ label, description }) => ({
      label: String(label ?? ''),
      description: textIn(description) ?? null,
    })),
  };
}

/** The requirement with the answer in it, in both of the places that services read: of itself and of its call. */
export function answered(requirement: JsonObject, answer: ToolAnswer): JsonObject {
  const call = callIn(requirement);
  const filled = (
    name: 'user_input_schema' | 'user_feedback_schema',
    fill: (entry: JsonObject, index: number) => Json,
  ) => {
    const schema = schemaIn(name, requirement, call).map((entry, index) => fill(entry, index));
    return { ...requirement, [name]: schema, tool_execution: { ...call, [name]: schema, answered: true } };
  };
  switch (answer.answer) {
    case 'confirmed': {
      const { confirmed, note = null, cancelled } = answer;
      const dismissed: JsonObject = cancelled === true ? { cancelled } : {};
      return {
        ...requirement,
        confirmation: confirmed,
        confirmation_note: note,
        ...dismissed,
        tool_execution: { ...call, confirmed, confirmation_note: note, ...dismissed },
      };
    }
    case 'input':
      return filled('user_input_schema', (entry) => ({
        description: null,
        field_type: 'str',
        ...entry,
        value: answer.values[String(entry.name)] ?? null,
      }));
    case 'feedback':
      return filled('user_feedback_schema', (entry, index) => ({
        ...entry,
        selected_options: [...(answer.selected[index] ?? [])],
      }));
    case 'result':
      return {
        ...requirement,
        external_execution_result: answer.result,
        tool_execution: { ...call, result: answer.result },
      };
  }
}
