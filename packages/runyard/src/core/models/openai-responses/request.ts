import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { Media, MediaContents } from '../../media/media.js';
import type { Message, ToolCall } from '../message.js';
import type { ModelRequest, OutputFormat, ToolChoice } from '../model.js';
import { ModelError } from '../model-error.js';
import { type AnswerPiece, type PieceOwner, piecesOf } from '../provider/answer/answer-pieces.js';
import { argumentsText } from '../provider/answer/tool-arguments.js';
import { forCall } from '../provider/call-parameters.js';
import { withPairedToolCalls } from '../provider/conversation.js';
import {
  audioFormat,
  base64,
  bytesOf,
  dataUrl,
  describedInWords,
  forOneRequest,
  isText,
  loaded,
  nameOf,
  notTaken,
} from '../provider/media-parts.js';
import type { BodyOptions } from '../provider/protocol.js';
import { fitsStrictMode } from '../provider/strict-schema.js';
import { wireName } from '../provider/wire-name.js';
import { answeringName, clientCallItem, clientCallOutput } from './client-calls.js';

export interface ResponsesSettings {
  readonly id: string;
  readonly provider: string;
  readonly maxTokens: number | undefined;
  readonly reasons: boolean;
  readonly reasoning: { readonly effort?: string; readonly summary?: string } | undefined;
  readonly parameters: JsonObject;
}

/** The body of a request to the Responses API. */
export async function responsesBody(
  request: ModelRequest,
  settings: ResponsesSettings,
  { stream, unsigned }: BodyOptions,
): Promise<string> {
  const { parameters, provider } = forCall(settings, request);
  const owner = unsigned ? undefined : { protocol: 'openai-responses', model: settings.id };
  const place = { contents: forOneRequest(request.media), provider };
  const turns = turnsOf(withPairedToolCalls(request.messages, /^.{1,64}$/s));
  const last = turns.findLast(([message]) => message.role === 'assistant');
  const items = await Promise.all(
    turns.map((turn) => inputItems(turn, { ...place, isLast: turn === last }, owner)),
  );
  const ownTools = Array.isArray(parameters.tools) ? parameters.tools.filter(isJsonObject) : [];
  const tools = toolsOf(request, ownTools);
  const own = Array.isArray(parameters.include) ? parameters.include : [];
  const include = settings.reasons ? ['reasoning.encrypted_content', ...own] : own;
  return JSON.stringify({
    model: settings.id,
    store: false,
    ...(settings.maxTokens !== undefined && { max_output_tokens: settings.maxTokens }),
    ...(settings.reasoning && { reasoning: settings.reasoning }),
    ...parameters,
    input: items.flat(),
    ...(include.length > 0 && { include }),
    ...(tools.length > 0 && { tools }),
    ...(request.tools.length > 0 &&
      request.toolChoice && { tool_choice: wireToolChoice(request.toolChoice, ownTools) }),
    ...(request.output && { text: textFormat(request.output, parameters.text) }),
    ...(stream && { stream: true }),
  });
}

/** Strict only by name: it demands schemas without optional properties, and arguments are validated here anyway. */
function toolsOf({ tools }: ModelRequest, own: readonly JsonObject[]): Json[] {
  // the model knows a tool that answers the calls of one of OpenAI's own by that one
  const answering = new Set(own.map(answeringName));
  return [
    ...own,
    ...tools
      .filter(({ name }) => !answering.has(name))
      .map(({ name, description, inputSchema, strict = false }) => ({
        type: 'function',
        name,
        description,
        parameters: inputSchema,
        strict,
      })),
  ];
}

function wireToolChoice(choice: ToolChoice, own: readonly JsonObject[]): Json {
  if (typeof choice === 'string') return choice;
  const { type = 'function' } = own.find((tool) => answeringName(tool) === choice.name) ?? {};
  return type === 'function' || type === 'custom' ? { type, name: choice.name } : { type };
}

function textFormat({ name, schema, strict }: OutputFormat, given: Json | undefined): JsonObject {
  return {
    ...(isJsonObject(given) && given),
    format: {
      type: 'json_schema',
      name: wireName(name),
      schema,
      strict: strict && fitsStrictMode(schema),
    },
  };
}

/** Where the parts of a message are from, and where they are sent. */
interface Place {
  readonly contents: MediaContents;
  readonly provider: string;
}

type Turn = [Message, ...Message[]];

/** Each answer with the results of its calls; any other message alone. */
function turnsOf(messages: readonly Message[]): Turn[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (last !== undefined && message.role === 'tool') last.push(message);
    else turns.push([message]);
  }
  return turns;
}

async function inputItems(
  [message, ...results]: Turn,
  place: Place & { readonly isLast: boolean },
  owner: PieceOwner | undefined,
): Promise<Json[]> {
  const { role, content, media } = message;
  if (role === 'system') return [{ role: 'developer', content }];
  if (role === 'assistant') return answerItems(piecesOf(message, owner), results, place);
  if (!media?.length) return [{ role: 'user', content }];
  return [{ role: 'user', content: await contentParts(message, place, mediaPart) }];
}

async function contentParts(
  { content, media = [] }: Message,
  place: Place,
  part: (media: Media, place: Place) => Promise<JsonObject>,
): Promise<JsonObject[]> {
  const text = content === '' ? [] : [{ type: 'input_text', text: content }];
  return [...text, ...(await Promise.all(media.map((item) => part(item, place))))];
}

/** Reasoning is refused without the item that followed from it: what was thought last and led to nothing stays out. */
async function answerItems(
  pieces: readonly AnswerPiece[],
  results: readonly Message[],
  place: Place & { readonly isLast: boolean },
): Promise<Json[]> {
  const calls = new Map(pieces.flatMap((piece) => (piece.type === 'call' ? [[piece.call.id, piece]] : [])));
  const outputs = await Promise.all(
    results.map((result) => toolOutput(result, calls.get(result.toolCallId ?? ''), place)),
  );
  const asFunctions = new Set(outputs.map(({ type, call_id }) => type === 'function_call_output' && call_id));
  const items = (
    await Promise.all(pieces.map((piece) => answerItem(piece, place, (id) => asFunctions.has(id))))
  ).flat();
  while (items.length > 0 && items.at(-1)?.type === 'reasoning') items.pop();
  return [...items, ...outputs];
}

async function answerItem(
  piece: AnswerPiece,
  { contents }: Place,
  isFunction: (callId: string) => boolean,
): Promise<JsonObject[]> {
  switch (piece.type) {
    case 'text':
      if (piece.text === '') return [];
      return [{ role: 'assistant', content: piece.text, ...piece.data }];
    case 'call':
      if (piece.data?.type !== undefined && !isFunction(piece.call.id))
        return [clientCallItem(piece.call, piece.data)];
      return [functionCall(piece.call, piece.data)];
    case 'reasoning':
      return piece.data ? [reasoningItem(piece.text, piece.data)] : [];
    default:
      return piece.block.type === 'image_generation_call' ? imageItem(piece.block, contents) : [piece.block];
  }
}

function functionCall({ id, name, arguments: text }: ToolCall, data: JsonObject = {}): JsonObject {
  const { namespace } = data;
  return {
    type: 'function_call',
    call_id: id,
    name,
    arguments: argumentsText(text),
    ...(namespace !== undefined && { namespace }),
  };
}

/** An image that the model made earlier. One whose bytes are gone stays out. */
async function imageItem({ hash, ...item }: JsonObject, contents: MediaContents): Promise<JsonObject[]> {
  const bytes = await contents.get(String(hash));
  return bytes ? [{ ...item, status: 'completed', result: base64(bytes) }] : [];
}

/** Reasoning goes back in the parts it came in, whose lengths were kept. */
function reasoningItem(text: string, { lengths, content, ...data }: JsonObject): JsonObject {
  const summary: Json[] = [];
  const thoughts: Json[] = [];
  let start = 0;
  for (const [index, length] of (Array.isArray(lengths) ? lengths : []).entries()) {
    const part = text.slice(start, start + Number(length));
    if (Array.isArray(content) && content.includes(index))
      thoughts.push({ type: 'reasoning_text', text: part });
    else summary.push({ type: 'summary_text', text: part });
    start += Number(length) + summarySeparator.length;
  }
  return { type: 'reasoning', ...data, summary, ...(thoughts.length > 0 && { content: thoughts }) };
}

/** What stands between two parts of a summary when it is shown as one text. */
export const summarySeparator = '\n\n';

async function toolOutput(
  message: Message,
  called: (AnswerPiece & { type: 'call' }) | undefined,
  place: Place & { readonly isLast: boolean },
): Promise<JsonObject> {
  const parts = message.media?.length ? await contentParts(message, place, resultPart) : undefined;
  const content = parts ?? message.content;
  const asFunction = { type: 'function_call_output', call_id: message.toolCallId ?? '', output: content };
  if (called?.data?.type === undefined) return asFunction;
  const { image_url } = parts?.find(({ type }) => type === 'input_image') ?? {};
  const result = {
    text: message.content,
    failed: message.toolCallError === true,
    content,
    image: typeof image_url === 'string' ? image_url : undefined,
  };
  const output = clientCallOutput(called.call, called.data, result);
  if (typeof output !== 'string') return output;
  // the provider has taken earlier results; one that was compressed since is worth its text
  if (result.failed || !place.isLast) return asFunction;
  throw new ModelError(
    `The result of '${called.call.name}' cannot be sent to ${place.provider}: it must be ${output}.`,
    { provider: place.provider, kind: 'configuration' },
  );
}

/** What a tool returned may be meant for the person: the model gets a description of what it cannot take. */
async function resultPart(media: Media, place: Place): Promise<JsonObject> {
  if (media.kind !== 'image' && media.kind !== 'file')
    return { type: 'input_text', text: describedInWords(media) };
  return mediaPart(media, place);
}

async function mediaPart(media: Media, { contents, provider }: Place): Promise<JsonObject> {
  if (media.kind === 'video') throw notTaken(media, provider, 'images, audio and documents');
  if (media.kind === 'image') {
    const url = media.url ?? dataUrl(media, await bytesOf(media, contents, provider));
    const detail = media.details?.detail;
    return { type: 'input_image', image_url: url, detail: typeof detail === 'string' ? detail : 'auto' };
  }
  if (media.kind === 'file' && media.url) return { type: 'input_file', file_url: media.url };
  if (media.kind === 'audio') {
    const { media: known, bytes: sound } = await loaded(media, contents, provider);
    return { type: 'input_audio', input_audio: { data: base64(sound), format: audioFormat(known) } };
  }
  const bytes = await bytesOf(media, contents, provider);
  if (isText(media.mimeType)) {
    return { type: 'input_text', text: `File ${nameOf(media)}:\n${Buffer.from(bytes).toString('utf8')}` };
  }
  return { type: 'input_file', filename: nameOf(media), file_data: dataUrl(media, bytes) };
}
