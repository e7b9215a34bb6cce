import { errors } from '../../../core/errors/errors.js';
import { isJsonObject, type Json, type JsonObject } from '../../../core/json.js';
import type { CallerMessage, CallerToolCall } from '../../../core/runs/caller-input.js';
import { addMedia, type MediaFields } from '../chat/content-parts.js';

/** What a client sends for something that a run waits for. `id`: how the output item of the response named it. */
export type GivenAnswer =
  | { readonly type: 'output'; readonly id: string; readonly output: string }
  | { readonly type: 'approval'; readonly id: string; readonly approve: boolean; readonly reason?: string };

/** The input of a response, read. */
export interface GivenInput {
  /** What the user says after the last thing that the model said; undefined if they say nothing. */
  readonly message: string | undefined;
  readonly media: MediaFields;
  /** The texts of system and developer messages. */
  readonly instructions: readonly string[];
  /** What was said before the message, as far as the input has it. */
  readonly earlier: readonly CallerMessage[];
  /** Outputs and decisions after the last thing that the model said. */
  readonly answers: readonly GivenAnswer[];
}

type Entry =
  | { readonly type: 'user' | 'assistant' | 'instructions'; readonly text: string }
  | ({ readonly type: 'call' } & CallerToolCall)
  | GivenAnswer;

const kinds =
  'message, function_call, function_call_output, mcp_approval_request, mcp_approval_response, mcp_call, reasoning';

/** Reads the input of a response. `name`: of the parameter, for errors. */
export function readInput(input: string | readonly JsonObject[], name = 'input'): GivenInput {
  const media: MediaFields = {};
  const entries = typeof input === 'string' ? [{ type: 'user' as const, text: input }] : [];
  const read: Entry[] = [...entries];
  if (typeof input !== 'string')
    for (const [at, item] of input.entries()) read.push(...entriesOf(item, `${name}[${at}]`, media));
  const last = read.findLastIndex(({ type }) => type === 'assistant' || type === 'call');
  const after = read.slice(last + 1);
  const said = after.flatMap((entry) => (entry.type === 'user' ? [entry.text] : []));
  return {
    message: said.length > 0 ? said.join('\n\n') : undefined,
    media,
    instructions: read.flatMap((entry) => (entry.type === 'instructions' ? [entry.text] : [])),
    earlier: conversationOf([...read.slice(0, last + 1), ...after.filter(({ type }) => type !== 'user')]),
    answers: after.filter((entry) => entry.type === 'output' || entry.type === 'approval'),
  };
}

function entriesOf(item: JsonObject, at: string, media: MediaFields): Entry[] {
  const type = item.type ?? 'message';
  switch (type) {
    case 'message':
      return messageEntry(item, at, media);
    case 'function_call':
      return [callEntry(item, textField(item, 'call_id', at), at)];
    case 'function_call_output': {
      const id = textField(item, 'call_id', at);
      return [{ type: 'output', id, output: contentText(item.output, `${at}.output`) }];
    }
    case 'mcp_approval_response': {
      const { approve, reason } = item;
      if (typeof approve !== 'boolean') throw missing(`${at}.approve`, 'true or false');
      const id = textField(item, 'approval_request_id', at);
      return [{ type: 'approval', id, approve, ...(typeof reason === 'string' && { reason }) }];
    }
    case 'mcp_call': {
      // a call that the component executed itself: what came of it is in the item
      const id = textField(item, 'id', at);
      const output = String(item.output ?? item.error ?? '');
      return [callEntry(item, id, at), { type: 'output', id, output }];
    }
    case 'mcp_approval_request':
    case 'reasoning':
      return [];
    default:
      throw errors.openaiRequest(
        `Items of the type '${String(type).slice(0, 100)}' are not accepted. Types: ${kinds}.`,
        `${at}.type`,
      );
  }
}

function callEntry(item: JsonObject, id: string, at: string): Entry {
  return { type: 'call', id, name: textField(item, 'name', at), arguments: textField(item, 'arguments', at) };
}

function messageEntry(item: JsonObject, at: string, media: MediaFields): Entry[] {
  const { role, content = null } = item;
  const text = contentText(content, `${at}.content`);
  switch (role) {
    case 'user':
      if (Array.isArray(content)) addMedia(media, mediaParts(content), `${at}.content`);
      return [{ type: 'user', text }];
    case 'assistant':
      return [{ type: 'assistant', text }];
    case 'system':
    case 'developer':
      return [{ type: 'instructions', text }];
    default:
      throw missing(`${at}.role`, 'user, assistant, system or developer');
  }
}

type ChatParts = Exclude<Parameters<typeof addMedia>[1], string>;

/** The parts of this API in the form that those of the other have. A text holds the place of a part without a file. */
function mediaParts(parts: readonly Json[]): ChatParts {
  return parts.map((part): ChatParts[number] => {
    const given = isJsonObject(part) ? part : {};
    const detail = typeof given.detail === 'string' ? given.detail : null;
    if (given.type === 'input_image')
      return {
        type: 'image_url',
        image_url: { url: String(given.image_url ?? given.file_id ?? ''), detail },
      };
    if (given.type === 'input_file') {
      const data = given.file_data ?? given.file_url;
      const id = given.file_id;
      return {
        type: 'file',
        file: {
          ...(typeof data === 'string' && { file_data: data }),
          ...(typeof given.filename === 'string' && { filename: given.filename }),
          ...(typeof id === 'string' && data === undefined && { file_id: id }),
        },
      };
    }
    if (given.type === 'input_audio' && isJsonObject(given.input_audio)) {
      const { data, format } = given.input_audio;
      return { type: 'input_audio', input_audio: { data: String(data), format: String(format) } };
    }
    return { type: 'text', text: '' };
  });
}

const partTypes = new Set([
  'input_text',
  'output_text',
  'text',
  'refusal',
  'input_image',
  'input_file',
  'input_audio',
]);

/** A text, or the texts of a list of parts. */
function contentText(content: Json | undefined, at: string): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw missing(at, 'a text or a list of parts');
  return content
    .map((part, position) => {
      const { type, text, refusal } = isJsonObject(part) ? part : {};
      if (!partTypes.has(String(type)))
        throw missing(`${at}[${position}].type`, `one of ${[...partTypes].join(', ')}`);
      return typeof text === 'string' ? text : typeof refusal === 'string' ? refusal : '';
    })
    .filter((text) => text !== '')
    .join('\n');
}

/** The entries as messages. Calls whose output is not there are left out: no model accepts them. */
function conversationOf(entries: readonly Entry[]): CallerMessage[] {
  const answered = new Set(entries.flatMap((entry) => (entry.type === 'output' ? [entry.id] : [])));
  const called = new Set(entries.flatMap((entry) => (entry.type === 'call' ? [entry.id] : [])));
  const messages: CallerMessage[] = [];
  for (const entry of entries) {
    const last = messages.at(-1);
    if (entry.type === 'user' || entry.type === 'assistant')
      messages.push({ role: entry.type, content: entry.text });
    if (entry.type === 'call' && answered.has(entry.id)) {
      const { type: _type, ...one } = entry;
      if (last?.role === 'assistant')
        messages[messages.length - 1] = { ...last, toolCalls: [...(last.toolCalls ?? []), one] };
      else messages.push({ role: 'assistant', content: '', toolCalls: [one] });
    }
    if (entry.type === 'output' && called.has(entry.id))
      messages.push({ role: 'tool', content: entry.output, toolCallId: entry.id });
  }
  return messages;
}

function textField(item: JsonObject, name: string, at: string): string {
  const value = item[name];
  if (typeof value === 'string') return value;
  throw missing(`${at}.${name}`, 'a text');
}

function missing(param: string, what: string): Error {
  return errors.openaiRequest(`${param} has to be ${what}.`, param);
}
