import { type CreateForm, createRunForm } from '../../../capabilities/runs/schema.js';
import { errors } from '../../../core/errors/errors.js';
import type { JsonObject } from '../../../core/json.js';
import type { CallerInput, CallerTool } from '../../../core/runs/caller-input.js';
import { validatePart } from '../../../platform/http/request/validation.js';
import { factoryInputField } from '../../common/factory-input.js';
import type { ModelTarget } from '../model-names.js';
import type { OpenaiCall } from '../routes.js';
import type { Said } from './conversation.js';
import type { ChatBody } from './request-body.js';

const ids = createRunForm.pick({ session_id: true });

/** The form of the run that a request starts. */
export function createFormOf(call: OpenaiCall, target: ModelTarget, body: ChatBody, said: Said): CreateForm {
  const { session_id: _session, ...metadata } = body.metadata ?? {};
  const userId = namedUser(call, body);
  return {
    ...sessionOf(call, body),
    ...(userId !== undefined && { user_id: userId }),
    ...(target.version !== undefined && { version: target.version }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...outputOf(target, body),
    ...factoryInputField(body.runyard?.factory_input),
    ...said.media,
    message: said.message,
    stream: body.stream ?? false,
    on_disconnect: 'continue',
  };
}

/** A session that the client names; the header is for clients that cannot set metadata. */
function sessionOf({ request }: OpenaiCall, { metadata }: ChatBody): { session_id?: string | undefined } {
  const named = metadata?.session_id ?? request.headers['x-session-id'];
  if (named === undefined || named === '') return {};
  const checked = validatePart('body', ids, { session_id: String(named) });
  if (!checked.ok) throw errors.invalidRequest(checked.items);
  return checked.value;
}

/** Only a caller without a name of their own may say whom a run belongs to. */
function namedUser({ request: { caller } }: OpenaiCall, { user }: ChatBody): string | undefined {
  return caller.userId === null && user != null && user !== '' ? user : undefined;
}

const anyObject = { type: 'object', additionalProperties: true };

function outputOf({ kind }: ModelTarget, { response_format: format }: ChatBody): Partial<CreateForm> {
  if (format == null || format.type === 'text') return {};
  if (kind === 'workflow')
    throw errors.openaiRequest(
      'A workflow has no response format: its last step decides what the answer is.',
      'response_format',
      'unsupported_parameter',
    );
  const { name, schema } =
    format.type === 'json_schema'
      ? { name: format.json_schema.name, schema: format.json_schema.schema ?? anyObject }
      : { name: 'json_object', schema: anyObject };
  return {
    output_schema: { type: 'json_schema', json_schema: { name, schema } },
    use_json_schema: true,
  };
}

/** The tools and the conversation of a request; undefined for one that has neither. */
export function callerInputOf(
  { kind }: ModelTarget,
  body: ChatBody,
  said: Said,
  inSession: boolean,
): CallerInput | undefined {
  const tools = toolsOf(body);
  const choice = body.tool_choice;
  const mode =
    typeof choice === 'object' && choice?.type === 'allowed_tools' ? choice.allowed_tools.mode : choice;
  if (tools.length === 0 && mode !== 'none' && mode !== 'auto' && mode != null)
    throw errors.openaiRequest('tool_choice needs tools.', 'tool_choice');
  const toolChoice =
    mode === 'required'
      ? mode
      : typeof mode === 'object' && mode?.type === 'function'
        ? { name: mode.function.name }
        : undefined;
  // a workflow has one input: what was said before is not a part of it
  const conversation = kind === 'workflow' ? undefined : conversationOf(said, inSession);
  const input: CallerInput = {
    ...(tools.length > 0 && { tools }),
    ...(toolChoice !== undefined && { toolChoice }),
    ...(conversation !== undefined && { conversation }),
    ...(inSession && kind !== 'workflow' && { isChat: true as const }),
  };
  return Object.keys(input).length > 0 ? input : undefined;
}

/** In a session, its stored history counts; else what the client sends. */
function conversationOf({ instructions, earlier }: Said, inSession: boolean): CallerInput['conversation'] {
  const messages = inSession || earlier.length === 0 ? undefined : earlier;
  if (instructions === undefined && messages === undefined) return undefined;
  return {
    ...(instructions !== undefined && { instructions }),
    ...(messages !== undefined && { messages }),
  };
}

const noArguments: JsonObject = { type: 'object', properties: {} };

function toolsOf({ tools, tool_choice: choice }: ChatBody): CallerTool[] {
  if (choice === 'none') return [];
  const allowed =
    typeof choice === 'object' && choice?.type === 'allowed_tools'
      ? new Set(choice.allowed_tools.tools.map((tool) => tool.function.name))
      : undefined;
  return (tools ?? [])
    .map(({ function: { name, description, parameters, strict } }) => ({
      name,
      ...(description != null && { description }),
      inputSchema: parameters ?? noArguments,
      ...(strict != null && { strict }),
    }))
    .filter(({ name }) => allowed?.has(name) ?? true);
}
