import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { Media, MediaContents } from '../../media.js';
import type { Message } from '../message.js';
import type { ModelRequest, OutputFormat, ToolChoice } from '../model.js';
import { wireName } from '../openai-compatible/openai-request.js';
import { type AnswerPiece, type PieceOwner, piecesOf } from '../provider/answer-pieces.js';
import { withPairedToolCalls } from '../provider/conversation.js';
import {
  audioFormat,
  base64,
  bytesOf,
  dataUrl,
  forOneRequest,
  isText,
  loaded,
  nameOf,
  notTaken,
  toldInWords,
} from '../provider/media-parts.js';
import type { BodyOptions } from '../provider/protocol.js';
import { fitsStrictMode } from '../provider/strict-schema.js';
import { argumentsText } from '../provider/tool-arguments.js';

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
  const { parameters, provider } = settings;
  const owner = unsigned ? undefined : { protocol: 'openai-responses', model: settings.id };
  const contents = forOneRequest(request.media);
  const items = await Promise.all(
    withPairedToolCalls(request.messages).map((message) => inputItems(message, contents, provider, owner)),
  );
  const tools = toolsOf(request, parameters);
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
      request.toolChoice && { tool_choice: wireToolChoice(request.toolChoice) }),
    ...(request.output && { text: textFormat(request.output, parameters.text) }),
    ...(stream && { stream: true }),
  });
}

/** Strict only by name: it demands schemas without optional properties, and arguments are validated here anyway. */
function toolsOf({ tools }: ModelRequest, parameters: JsonObject): Json[] {
  const own = Array.isArray(parameters.tools) ? parameters.tools : [];
  return [
    ...own,
    ...tools.map(({ name, description, parameters: schema, strict = false }) => ({
      type: 'function',
      name,
      description,
      parameters: schema as JsonObject,
      strict,
    })),
  ];
}

function wireToolChoice(choice: ToolChoice): Json {
  return typeof choice === 'string' ? choice : { type: 'function', name: choice.name };
}

function textFormat({ name, schema, strict }: OutputFormat, given: Json | undefined): JsonObject {
  return {
    ...(isJsonObject(given) && given),
    format: {
      type: 'json_schema',
      name: wireName(name),
      schema: schema as JsonObject,
      strict: strict && fitsStrictMode(schema),
    },
  };
}

async function inputItems(
  message: Message,
  contents: MediaContents,
  provider: string,
  owner: PieceOwner | undefined,
): Promise<Json[]> {
  switch (message.role) {
    case 'system':
      return [{ role: 'developer', content: message.content }];
    case 'assistant':
      return answerItems(piecesOf(message, owner));
    case 'tool':
      return [await toolOutput(message, contents, provider)];
    default: {
      if (!message.media?.length) return [{ role: 'user', content: message.content }];
      const parts = await Promise.all(message.media.map((item) => mediaPart(item, contents, provider)));
      const text = message.content === '' ? [] : [{ type: 'input_text', text: message.content }];
      return [{ role: 'user', content: [...text, ...parts] }];
    }
  }
}

/** Reasoning is refused without the item that followed from it: what was thought last and led to nothing stays out. */
function answerItems(pieces: readonly AnswerPiece[]): Json[] {
  const items = pieces.flatMap(answerItem);
  while (items.length > 0 && items.at(-1)?.type === 'reasoning') items.pop();
  return items;
}

function answerItem(piece: AnswerPiece): JsonObject[] {
  switch (piece.type) {
    case 'text':
      if (piece.text === '') return [];
      return [{ role: 'assistant', content: piece.text, ...piece.data }];
    case 'call': {
      const { id, name, arguments: text } = piece.call;
      return [{ type: 'function_call', call_id: id, name, arguments: argumentsText(text) }];
    }
    case 'reasoning':
      return piece.data ? [reasoningItem(piece.text, piece.data)] : [];
    default:
      return [piece.block];
  }
}

/** The summary goes back in the parts it came in, whose lengths were kept. */
function reasoningItem(text: string, { lengths, ...data }: JsonObject): JsonObject {
  const summary: Json[] = [];
  let start = 0;
  for (const length of Array.isArray(lengths) ? lengths : []) {
    summary.push({ type: 'summary_text', text: text.slice(start, start + Number(length)) });
    start += Number(length) + summarySeparator.length;
  }
  return { type: 'reasoning', ...data, summary };
}

/** What stands between two parts of a summary when it is shown as one text. */
export const summarySeparator = '\n\n';

async function toolOutput(message: Message, contents: MediaContents, provider: string): Promise<Json> {
  const item = { type: 'function_call_output', call_id: message.toolCallId ?? '' };
  if (!message.media?.length) return { ...item, output: message.content };
  const parts = await Promise.all(
    message.media.map(async (media): Promise<JsonObject> => {
      const taken = media.kind === 'image' || media.kind === 'file';
      if (!taken) return { type: 'input_text', text: toldInWords(media) };
      return mediaPart(media, contents, provider);
    }),
  );
  const text = message.content === '' ? [] : [{ type: 'input_text', text: message.content }];
  return { ...item, output: [...text, ...parts] };
}

async function mediaPart(media: Media, contents: MediaContents, provider: string): Promise<JsonObject> {
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
