import type { Json, JsonObject } from '../../json.js';
import type { Media, MediaContents } from '../../media/media.js';
import type { Message } from '../message.js';
import type { ModelRequest, ToolChoice } from '../model.js';
import type { PieceOwner } from '../provider/answer/answer-pieces.js';
import { forCall } from '../provider/call-parameters.js';
import { withPairedToolCalls } from '../provider/conversation.js';
import {
  audioFormat,
  base64,
  bytesOf,
  dataUrl,
  documentName,
  forOneRequest,
  isText,
  loaded,
} from '../provider/media-parts.js';
import { fitsStrictMode } from '../provider/strict-schema.js';
import { wireName } from '../provider/wire-name.js';
import { assistantMessage } from './assistant-message.js';

export interface OpenAIRequestOptions {
  readonly id: string;
  readonly provider: string;
  /** Whose earlier answers are sent back exactly as they came. */
  readonly owner?: PieceOwner;
  readonly structuredOutput: 'native' | 'prompted';
  readonly parameters: JsonObject;
  /** What the ids of calls have to look like. */
  readonly callIds: RegExp;
  /** Whether the model wants to see its reasoning again while it calls tools. */
  readonly sendReasoning: boolean;
}

/** The body of a chat completion request. Only media have to be waited for. */
export function openAIRequestBody(
  request: ModelRequest,
  options: OpenAIRequestOptions,
  stream: boolean,
): string | Promise<string> {
  const messages = withPairedToolCalls(request.messages, options.callIds);
  const body = (parts?: MediaParts) =>
    bodyWith(wireMessages(messages, options, parts), request, options, stream);
  if (!messages.some(hasSentMedia)) return body();
  return mediaPartsOf(messages, forOneRequest(request.media), options.provider).then(body);
}

function bodyWith(
  messages: readonly Json[],
  request: ModelRequest,
  options: OpenAIRequestOptions,
  stream: boolean,
): string {
  const body: Record<string, unknown> = {
    model: options.id,
    messages,
    ...forCall(options, request).parameters,
  };
  if (request.tools.length > 0) {
    body.tools = request.tools.map(({ name, description, inputSchema, strict }) => ({
      type: 'function',
      function: { name, description, parameters: inputSchema, ...(strict && { strict }) },
    }));
    if (request.toolChoice !== undefined) body.tool_choice = wireToolChoice(request.toolChoice);
  }
  if (request.output && options.structuredOutput === 'native') {
    const { name, schema, strict } = request.output;
    body.response_format = {
      type: 'json_schema',
      json_schema: { name: wireName(name), schema, strict: strict && fitsStrictMode(schema) },
    };
  }
  if (stream) {
    body.stream = true;
    body.stream_options = { include_usage: true };
  }
  return JSON.stringify(body);
}

function wireToolChoice(choice: ToolChoice): Json {
  return typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.name } };
}

/** What the protocol has for the media of a message. */
type MediaParts = ReadonlyMap<Message, readonly JsonObject[]>;

const noMedia: MediaParts = new Map();
const noParts: readonly JsonObject[] = [];

function hasSentMedia({ role, media }: Message): boolean {
  return media !== undefined && media.length > 0 && (role === 'user' || role === 'tool');
}

async function mediaPartsOf(
  messages: readonly Message[],
  contents: MediaContents,
  provider: string,
): Promise<MediaParts> {
  const parts = new Map<Message, readonly JsonObject[]>();
  for (const message of messages.filter(hasSentMedia))
    parts.set(
      message,
      await Promise.all((message.media ?? []).map((item) => mediaPart(item, contents, provider))),
    );
  return parts;
}

function wireMessages(
  messages: readonly Message[],
  { owner, sendReasoning }: OpenAIRequestOptions,
  media = noMedia,
): Json[] {
  const wire: Json[] = [];
  // The protocol has no place for pictures in a tool's answer: they follow the answers as a message of their own.
  const fromTools: JsonObject[] = [];
  for (const message of messages) {
    if (message.role !== 'tool' && fromTools.length > 0) wire.push(toolMedia(fromTools.splice(0)));
    const parts = media.get(message) ?? noParts;
    const reasoning = sendReasoning && message.toolCalls?.length ? message.reasoningContent : undefined;
    const wired =
      message.role === 'assistant' ? assistantMessage(message, owner) : wireMessage(message, parts);
    // Several providers refuse an answer without anything in it.
    if (message.role === 'assistant' && wired.content === '' && !wired.reasoning_details) continue;
    wire.push(reasoning ? { ...wired, reasoning_content: reasoning } : wired);
    if (message.role === 'tool') fromTools.push(...parts);
  }
  if (fromTools.length > 0) wire.push(toolMedia(fromTools));
  return wire;
}

function toolMedia(parts: readonly JsonObject[]): JsonObject {
  return {
    role: 'user',
    content: [{ type: 'text', text: 'Media returned by the tools above:' }, ...parts],
  };
}

function wireMessage(message: Message, parts: readonly JsonObject[]): JsonObject {
  switch (message.role) {
    case 'tool':
      return { role: 'tool', tool_call_id: message.toolCallId ?? '', content: message.content };
    case 'user': {
      if (parts.length === 0) return { role: 'user', content: message.content };
      const text: Json[] = message.content === '' ? [] : [{ type: 'text', text: message.content }];
      return { role: 'user', content: [...text, ...parts] };
    }
    default:
      return { role: message.role, content: message.content };
  }
}

async function mediaPart(media: Media, contents: MediaContents, provider: string): Promise<JsonObject> {
  switch (media.kind) {
    case 'image': {
      const url = media.url ?? dataUrl(media, await bytesOf(media, contents, provider));
      const detail = media.details?.detail;
      return { type: 'image_url', image_url: typeof detail === 'string' ? { url, detail } : { url } };
    }
    case 'audio': {
      if (media.url) return { type: 'audio_url', audio_url: { url: media.url } };
      const bytes = await bytesOf(media, contents, provider);
      return { type: 'input_audio', input_audio: { data: base64(bytes), format: audioFormat(media) } };
    }
    case 'video': {
      const url = media.url ?? dataUrl(media, await bytesOf(media, contents, provider));
      return { type: 'video_url', video_url: { url } };
    }
    default:
      return filePart(media, contents, provider);
  }
}

/** The protocol takes a file only as bytes. */
async function filePart(given: Media, contents: MediaContents, provider: string): Promise<JsonObject> {
  const filename = documentName(given);
  const { media, bytes } = await loaded(given, contents, provider);
  // Providers take documents as files; text they read better, and everywhere, as text.
  if (isText(media.mimeType)) {
    return { type: 'text', text: `File ${filename}:\n${Buffer.from(bytes).toString('utf8')}` };
  }
  return { type: 'file', file: { filename, file_data: dataUrl(media, bytes) } };
}
