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

/** The body of a chat completion request. */
export async function openAIRequestBody(
  request: ModelRequest,
  options: OpenAIRequestOptions,
  stream: boolean,
): Promise<string> {
  const body: Record<string, unknown> = {
    model: options.id,
    messages: await wireMessages(
      withPairedToolCalls(request.messages, options.callIds),
      forOneRequest(request.media),
      options,
    ),
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

async function wireMessages(
  messages: readonly Message[],
  contents: MediaContents,
  { provider, owner, sendReasoning }: OpenAIRequestOptions,
): Promise<Json[]> {
  const wire: Json[] = [];
  // The protocol has no place for pictures in a tool's answer: they follow the answers as a message of their own.
  let fromTools: Media[] = [];
  for (const message of messages) {
    if (message.role !== 'tool' && fromTools.length > 0) {
      wire.push({ role: 'user', content: await toolMediaParts(fromTools, contents, provider) });
      fromTools = [];
    }
    const reasoning = sendReasoning && message.toolCalls?.length ? message.reasoningContent : undefined;
    const wired =
      message.role === 'assistant'
        ? assistantMessage(message, owner)
        : await wireMessage(message, contents, provider);
    // Several providers refuse an answer without anything in it.
    if (message.role === 'assistant' && wired.content === '' && !wired.reasoning_details) continue;
    wire.push(reasoning ? { ...wired, reasoning_content: reasoning } : wired);
    if (message.role === 'tool' && message.media) fromTools.push(...message.media);
  }
  if (fromTools.length > 0) {
    wire.push({ role: 'user', content: await toolMediaParts(fromTools, contents, provider) });
  }
  return wire;
}

async function toolMediaParts(
  media: readonly Media[],
  contents: MediaContents,
  provider: string,
): Promise<Json> {
  return [
    { type: 'text', text: 'Media returned by the tools above:' },
    ...(await mediaParts(media, contents, provider)),
  ];
}

async function wireMessage(message: Message, contents: MediaContents, provider: string): Promise<JsonObject> {
  switch (message.role) {
    case 'tool':
      return { role: 'tool', tool_call_id: message.toolCallId ?? '', content: message.content };
    case 'user': {
      if (!message.media?.length) return { role: 'user', content: message.content };
      const parts = await mediaParts(message.media, contents, provider);
      const text: Json[] = message.content === '' ? [] : [{ type: 'text', text: message.content }];
      return { role: 'user', content: [...text, ...parts] };
    }
    default:
      return { role: message.role, content: message.content };
  }
}

function mediaParts(
  media: readonly Media[],
  contents: MediaContents,
  provider: string,
): Promise<JsonObject[]> {
  return Promise.all(media.map((item) => mediaPart(item, contents, provider)));
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
