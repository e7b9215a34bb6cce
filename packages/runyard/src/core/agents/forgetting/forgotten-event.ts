import { emptyCustomEvent } from '../../events/custom-event.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { Forgets } from '../../runs/run.js';
import { eventWithoutMedia } from './forgotten-media.js';

type ForgetsOf = (runId: string) => Forgets | undefined;

/**
 * An event without what its run forgets; the same event if it has nothing of that. The bodies of runs within the run,
 * such as those of members, are looked at by the settings of those runs.
 */
export function forgottenEvent(event: JsonObject, of: ForgetsOf): JsonObject {
  const left = forgottenIn(event, undefined, of);
  return isJsonObject(left) ? left : event;
}

function forgottenIn(value: Json, around: Forgets | undefined, of: ForgetsOf): Json {
  if (Array.isArray(value)) {
    const left = value.map((member) => forgottenIn(member, around, of));
    return left.some((member, position) => member !== value[position]) ? left : value;
  }
  if (!isJsonObject(value)) return value;
  const forgets = typeof value.run_id === 'string' ? of(value.run_id) : around;
  const described = forgets?.media ? eventWithoutMedia(value) : value;
  const own = forgets?.toolMessages ? withoutToolMessages(described) : described;
  let left = own;
  for (const [key, member] of Object.entries(own)) {
    if (opaque.has(key)) continue;
    const kept = forgottenIn(member, forgets, of);
    if (kept === member) continue;
    if (left === own) left = { ...own };
    left[key] = kept;
  }
  return left;
}

/** What the application, the user or the model put there looks like nothing of this by more than accident. */
const opaque: ReadonlySet<string> = new Set(['content', 'session_state', 'metadata', 'metrics']);

const emptyQuestion = {
  confirmation_note: null,
  user_input_schema: null,
  user_feedback_schema: null,
};

function withoutToolMessages(value: JsonObject): JsonObject {
  const { event } = value;
  if (event === 'CustomEvent') return 'tool_call_id' in value ? emptyCustomEvent(value) : value;
  if (typeof event === 'string' && event.replace(/^Team/, '') in ofTools) return withoutDetails(value, event);
  // the tasks of a team are what its leader called tools with
  if (typeof event === 'string' && /^(?:Team)?Task[A-Z]/.test(event)) return withoutTasks(value);
  // as `toolExecutionBody` writes a call, and `requirementBody` a question about one
  if ('tool_call_id' in value && 'tool_args' in value)
    return { ...value, ...emptyQuestion, tool_args: null, result: null };
  if ('tool_execution' in value) return withoutAnswer(value);
  return withoutRepeated(value);
}

const ofTools = { ToolCallStarted: true, ToolCallCompleted: true, ToolCallError: true, RunPaused: true };

/** The words of the event repeat what its call has. */
function withoutDetails(value: JsonObject, event: string): JsonObject {
  if (event.endsWith('ToolCallError')) return { ...value, error: '' };
  return 'content' in value ? { ...value, content: '' } : value;
}

function withoutTasks({
  tasks,
  description: _description,
  result: _result,
  ...event
}: JsonObject): JsonObject {
  const texts = ['title', 'task_summary', 'completion_summary'].filter((name) => name in event);
  return {
    ...event,
    ...Object.fromEntries(texts.map((name) => [name, ''])),
    ...(Array.isArray(tasks) && { tasks: [] }),
  };
}

function withoutAnswer(requirement: JsonObject): JsonObject {
  const {
    confirmation_note: _note,
    external_execution_result: _result,
    user_input_schema: _fields,
    user_feedback_schema: _questions,
    message: _message,
    ...kept
  } = requirement;
  return kept;
}

/** Bodies of runs, and the last events of runs, repeat what searches found and what the provider said. */
function withoutRepeated(value: JsonObject): JsonObject {
  const repeats = 'references' in value || 'model_provider_data' in value || 'messages' in value;
  if (!repeats) return value;
  const { references: _references, model_provider_data: _data, messages, ...kept } = value;
  if (!Array.isArray(messages)) return { ...kept, ...(messages !== undefined && { messages }) };
  return { ...kept, messages: messages.filter((message) => !isOfTools(message)) };
}

function isOfTools(message: Json): boolean {
  return isJsonObject(message) && (message.role === 'tool' || 'tool_calls' in message);
}
