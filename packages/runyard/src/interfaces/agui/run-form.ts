import { type CreateForm, createRunForm } from '../../capabilities/runs/schema.js';
import { errors } from '../../core/errors/errors.js';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../core/json.js';
import { classifyFile } from '../../core/media/classify-file.js';
import type { CallerInput, CallerTool } from '../../core/runs/caller-input.js';
import { validatePart } from '../../platform/http/request/validation.js';
import { factoryInputField } from '../common/factory-input.js';
import type { AguiCall } from './call.js';
import { type InputMessage, lastUserMessage, type RunInput } from './run-input.js';

/** The fields of a run's form that hold media. */
const mediaFields = { image: 'images', audio: 'audio', video: 'videos', document: 'input_files' } as const;
type MediaType = keyof typeof mediaFields;

const users = createRunForm.pick({ user_id: true });

/** The form of the run that a request starts: the last message of the user, the state, and the context. */
export function createFormOf({ caller, input }: AguiCall): CreateForm {
  const message = lastUserMessage(input);
  if (message === undefined)
    throw errors.invalidAguiInput('The request has no message of the user, and answers nothing.');
  const { forwardedProps: forwarded, state, context } = input;
  const { user_id: named, factory_input: factoryInput } = isJsonObject(forwarded) ? forwarded : {};
  // only a caller without a name of their own may say whom a run belongs to
  const user = caller.userId === null && typeof named === 'string' && named !== '' ? { user_id: named } : {};
  const checked = validatePart('body', users, user, true);
  if (!checked.ok) throw errors.invalidRequest(checked.items);
  return {
    ...checked.value,
    message: textOf(message.content),
    session_id: input.threadId,
    run_id: input.runId,
    stream: true,
    on_disconnect: 'continue',
    ...(isJsonObject(state) && Object.keys(state).length > 0 && { session_state: state }),
    ...(context.length > 0 && { dependencies: dependenciesIn(context) }),
    ...(context.length > 0 && { add_dependencies_to_context: true }),
    ...factoryInputField(factoryInput),
    ...mediaIn(message.content),
  };
}

/** The tools of the front end. The conversation is the session's: its history counts. */
export function callerInputOf({ input, target }: AguiCall): CallerInput | undefined {
  const tools = input.tools.map(toolOf);
  if (target.kind === 'workflow' && tools.length === 0) return undefined;
  return { ...(tools.length > 0 && { tools }), isChat: true };
}

function toolOf({ name, description, parameters }: RunInput['tools'][number]): CallerTool {
  // a tool without parameters takes an empty object
  const inputSchema = isJsonObject(parameters) ? parameters : { type: 'object', properties: {} };
  return { name, ...(description ? { description } : {}), inputSchema };
}

function dependenciesIn(context: RunInput['context']): JsonObject {
  return Object.fromEntries(context.map(({ description, value }) => [description, jsonOrText(value)]));
}

export function jsonOrText(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** The text of a message: itself, or its text parts. */
export function textOf(content: InputMessage['content']): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return content ? JSON.stringify(content) : '';
  return content.flatMap(({ type, text }) => (type === 'text' ? [String(text ?? '')] : [])).join('\n');
}

type Media = Partial<Record<(typeof mediaFields)[MediaType], Json[]>>;

function mediaIn(content: InputMessage['content']): Media {
  const media: Media = {};
  for (const part of Array.isArray(content) ? content : []) {
    if (part.type === 'text') continue;
    const { field, object } = mediaOf(part);
    media[field] = [...(media[field] ?? []), object];
  }
  return media;
}

type Part = Extract<InputMessage['content'], readonly unknown[]>[number];

/** A part with a source, or `binary` of the 0.x clients, which has its fields itself. */
function mediaOf(part: Part): { field: (typeof mediaFields)[MediaType]; object: JsonObject } {
  const facts = part.type === 'binary' ? part : sourceOf(part);
  const mimeType = textField(facts.mimeType);
  const filename = textField(part.filename) ?? metadataName(part.metadata);
  const url = textField(facts.url);
  const data = textField(facts.data);
  if (url === undefined && data === undefined)
    throw errors.invalidAguiInput(
      `The part '${part.type.slice(0, 40)}' of the message has neither data nor a URL. Files that are stored at a model's provider cannot be used here.`,
    );
  const path = url !== undefined && URL.canParse(url) ? new URL(url).pathname : '';
  const found = classifyFile(mimeType ?? '', filename ?? path);
  const [family = ''] = (mimeType ?? '').split('/', 1);
  const kind = isMediaType(part.type) ? part.type : isMediaType(family) ? family : kindOf(found?.kind);
  const type = mimeType?.endsWith('/*') ? undefined : (mimeType ?? found?.mimeType);
  return {
    field: mediaFields[kind],
    object: {
      ...(url === undefined ? { content: data ?? '' } : { url }),
      ...(type !== undefined && { mime_type: type }),
      ...(filename !== undefined && { filename }),
      ...(found?.format !== undefined && { format: found.format }),
    },
  };
}

function sourceOf({ type, source }: Part): { url?: unknown; data?: unknown; mimeType?: unknown } {
  if (!isJsonObject(source) || !isMediaType(type))
    throw errors.invalidAguiInput(`A message cannot have a part of the type '${type.slice(0, 40)}'.`);
  const { type: from, value, mimeType } = source;
  return { mimeType, ...(from === 'url' && { url: value }), ...(from === 'data' && { data: value }) };
}

function metadataName(metadata: unknown): string | undefined {
  return isJsonObject(metadata) ? textField(metadata.filename ?? metadata.name) : undefined;
}

function textField(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function isMediaType(type: string): type is MediaType {
  return Object.hasOwn(mediaFields, type);
}

function kindOf(kind: string | undefined): MediaType {
  return kind !== undefined && isMediaType(kind) ? kind : 'document';
}
