import { isJsonObject, type Json, type JsonObject, parseJson } from '../../json.js';
import type { ToolCall } from '../message.js';
import { argumentsObject as parsed } from '../provider/answer/tool-arguments.js';
import { wireName } from '../provider/wire-name.js';

/** The result of a call, ready to be put into an item. */
export interface CallResult {
  readonly text: string;
  readonly failed: boolean;
  /** The text with the images and files that came with it. */
  readonly content: Json;
  /** The address of the first image. */
  readonly image: string | undefined;
}

/** One of OpenAI's own tools that the client executes, or one kind of question that it answers. */
interface ClientCallKind {
  readonly name: (item: JsonObject) => string;
  /** The arguments as a JSON text; undefined when the item lacks them. */
  readonly arguments: (item: JsonObject) => string | undefined;
  /** The same arguments as the fields of the item. */
  readonly fields: (text: string) => JsonObject;
  /** What goes back; undefined when the result does not have what the item needs. */
  readonly output: (id: string, result: CallResult, args: JsonObject) => JsonObject | undefined;
  /** What the result needs to have, in words. */
  readonly needs?: string;
}

const object = (value: Json | undefined) => (isJsonObject(value) ? JSON.stringify(value) : undefined);

const kinds: Readonly<Record<string, ClientCallKind>> = {
  custom_tool_call: {
    name: ({ name }) => String(name ?? ''),
    arguments: ({ input }) => (typeof input === 'string' ? JSON.stringify({ input }) : undefined),
    fields: parsed,
    output: (call_id, { content }) => ({ type: 'custom_tool_call_output', call_id, output: content }),
  },
  local_shell_call: {
    name: () => 'local_shell',
    arguments: ({ action }) => object(action),
    fields: (text) => ({ action: parsed(text) }),
    // The reference names the id of the call `id`, the guide `call_id`.
    output: (id, { text }) => ({ type: 'local_shell_call_output', id, call_id: id, output: text }),
  },
  shell_call: {
    name: () => 'shell',
    arguments: ({ action }) => object(action),
    fields: (text) => ({ action: parsed(text) }),
    output: (call_id, result, { max_output_length }) => ({
      type: 'shell_call_output',
      call_id,
      output: shellOutput(result),
      ...(typeof max_output_length === 'number' && { max_output_length }),
    }),
  },
  apply_patch_call: {
    name: () => 'apply_patch',
    arguments: ({ operation }) => object(operation),
    fields: (text) => ({ operation: parsed(text) }),
    output: (call_id, { text, failed }) => {
      const { status, output } = parsed(text);
      const isPlain = status !== 'completed' && status !== 'failed';
      const plain = { status: failed ? 'failed' : 'completed', output: text };
      return {
        type: 'apply_patch_call_output',
        call_id,
        ...(isPlain ? plain : { status, output: output ?? '' }),
      };
    },
  },
  computer_call: {
    name: () => 'computer',
    arguments: ({ action, actions, pending_safety_checks }) =>
      action === undefined && actions === undefined
        ? undefined
        : JSON.stringify({ action, actions, pending_safety_checks }),
    fields: parsed,
    output: (call_id, { text, image }) => {
      const { image_url, file_id, acknowledged_safety_checks } = parsed(text);
      const url = image ?? image_url ?? (/^(https?:|data:image\/)\S+$/.test(text) ? text : undefined);
      const file = file_id === undefined ? undefined : { file_id };
      const screenshot: JsonObject | undefined = url === undefined ? file : { image_url: url };
      if (screenshot === undefined) return undefined;
      return {
        type: 'computer_call_output',
        call_id,
        output: { type: 'computer_screenshot', ...screenshot },
        ...(Array.isArray(acknowledged_safety_checks) && { acknowledged_safety_checks }),
      };
    },
    needs: 'a screenshot: an image, its URL, or an object with image_url or file_id',
  },
  tool_search_call: {
    name: () => 'tool_search',
    arguments: ({ arguments: given }) => (typeof given === 'string' ? given : object(given)),
    fields: (text) => ({ arguments: parsed(text) }),
    output: (call_id, { text, failed }) => {
      const value = json(text);
      const tools = isJsonObject(value) ? value.tools : value;
      if (!failed && !Array.isArray(tools)) return undefined;
      const found = failed || !Array.isArray(tools) ? [] : tools;
      return { type: 'tool_search_output', call_id, execution: 'client', status: 'completed', tools: found };
    },
    needs: 'a list of tool definitions',
  },
  mcp_approval_request: {
    name: ({ server_label, name }) => wireName(`${String(server_label ?? 'mcp')}_${String(name ?? '')}`),
    arguments: ({ arguments: given }) => (typeof given === 'string' ? given : undefined),
    fields: (text) => ({ arguments: text }),
    output: (approval_request_id, { text, failed }) => ({
      type: 'mcp_approval_response',
      approval_request_id,
      approve: !failed,
      ...(failed && { reason: text }),
    }),
  },
};

/** The call in an item that the client has to answer, with what else goes back; undefined for any other item. */
export function clientCallOf(item: JsonObject): { call: ToolCall; data: JsonObject } | undefined {
  const kind = kindOf(item.type);
  if (kind === undefined || isExecutedThere(item)) return undefined;
  const isRequest = item.type === 'mcp_approval_request';
  const id = isRequest ? item.id : item.call_id;
  const name = kind.name(item);
  const text = kind.arguments(item);
  if (typeof id !== 'string' || text === undefined)
    throw new Error(`a call of '${name}' without its ${text === undefined ? 'arguments' : 'id'}`);
  const fields = kind.fields(text);
  return {
    call: { id, name, arguments: text, client: isRequest ? 'confirmation' : 'execution' },
    data: Object.fromEntries(Object.entries(item).filter(([field]) => !(field in fields))),
  };
}

/** The item of an earlier call, from what was kept of it. */
export function clientCallItem({ arguments: text }: ToolCall, data: JsonObject): JsonObject {
  return { ...data, ...kindOf(data.type)?.fields(text) };
}

/** The item that answers the call; a text that says what the result lacks for it. */
export function clientCallOutput(call: ToolCall, data: JsonObject, result: CallResult): JsonObject | string {
  const kind = kindOf(data.type);
  return kind?.output(call.id, result, parsed(call.arguments)) ?? `${kind?.needs}`;
}

/** The name under which a tool of the agent answers the calls of one of OpenAI's own tools. */
export function answeringName({ type, name }: JsonObject): string | undefined {
  if (type === 'custom') return String(name);
  if (type === 'computer_use_preview') return 'computer';
  return kindOf(`${String(type)}_call`) && String(type);
}

function kindOf(type: Json | undefined): ClientCallKind | undefined {
  return typeof type === 'string' && Object.hasOwn(kinds, type) ? kinds[type] : undefined;
}

function isExecutedThere({ type, execution, environment }: JsonObject): boolean {
  if (type === 'tool_search_call') return execution !== 'client';
  return isJsonObject(environment) && environment.type === 'container_reference';
}

/** Results in the API's own form, one of `{ stdout, stderr, exit_code }`, or just a text. */
function shellOutput({ text, failed }: CallResult): Json[] {
  const value = json(text);
  const given = Array.isArray(value)
    ? value
    : isJsonObject(value) && Array.isArray(value.output)
      ? value.output
      : [value];
  const exit = (code: Json | undefined) => ({ type: 'exit', exit_code: code ?? (failed ? 1 : 0) });
  const isOutput = (part: Json): part is JsonObject =>
    isJsonObject(part) && ['stdout', 'stderr', 'outcome'].some((name) => name in part);
  if (given.length === 0 || !given.every(isOutput))
    return [{ stdout: failed ? '' : text, stderr: failed ? text : '', outcome: exit(undefined) }];
  return given.map(({ stdout, stderr, outcome, exit_code }) => ({
    stdout: String(stdout ?? ''),
    stderr: String(stderr ?? ''),
    outcome: outcome ?? exit(exit_code),
  }));
}

function json(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}
