import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import type { Media, MediaContents } from '../../media/media.js';
import type { Message } from '../message.js';
import type { ModelRequest, ToolChoice } from '../model.js';
import { type AnswerPiece, type PieceOwner, piecesOf } from '../provider/answer/answer-pieces.js';
import { argumentsObject } from '../provider/answer/tool-arguments.js';
import { callIdsOf, withPairedToolCalls } from '../provider/conversation.js';
import { base64, bytesOf, describedInWords, isText, mimeTypeOf, nameOf } from '../provider/media-parts.js';
import type { AiSdkCallOptions, AiSdkPart, AiSdkVersion } from './types.js';

export interface PromptOptions {
  readonly version: AiSdkVersion;
  readonly provider: string;
  readonly owner: PieceOwner;
}

type Part = Record<string, unknown>;

/** What a model of the AI SDK is called with. */
export async function callOptions(
  request: ModelRequest,
  options: PromptOptions,
  signal: AbortSignal,
): Promise<AiSdkCallOptions> {
  const { tools, toolChoice, output } = request;
  return {
    ...request.parameters,
    prompt: await prompt(request, options),
    abortSignal: signal,
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, inputSchema }) => ({
        type: 'function',
        name,
        description,
        inputSchema,
      })),
      toolChoice: wireToolChoice(toolChoice ?? 'auto'),
    }),
    ...(output && { responseFormat: { type: 'json', name: output.name, schema: output.schema } }),
  };
}

function wireToolChoice(choice: ToolChoice): NonNullable<AiSdkCallOptions['toolChoice']> {
  return typeof choice === 'string' ? { type: choice } : { type: 'tool', toolName: choice.name };
}

async function prompt({ messages, media }: ModelRequest, options: PromptOptions): Promise<Part[]> {
  const wire: Part[] = [];
  /** By the ids of the calls that the client was asked to approve. */
  const approvals = new Map<string | undefined, Json | undefined>();
  for (const message of withPairedToolCalls(
    messages,
    callIdsOf(`${options.provider} ${options.owner.model}`),
  )) {
    const last = wire.at(-1);
    if (message.role === 'system') {
      wire.push({ role: 'system', content: message.content });
    } else if (message.role === 'tool') {
      const approvalId = approvals.get(message.toolCallId);
      const result =
        approvalId === undefined
          ? await toolResult(message, media, options)
          : approvalResponse(message, approvalId);
      // The results of one turn are one message.
      if (last?.role === 'tool') (last.content as Part[]).push(result);
      else wire.push({ role: 'tool', content: [result] });
    } else if (message.role === 'assistant') {
      const content: Part[] = [];
      for (const piece of piecesOf(message, options.owner)) {
        content.push(...(await assistantPart(piece, media, options)));
        if (piece.type === 'call' && piece.call.client) approvals.set(piece.call.id, piece.data?.approvalId);
      }
      if (content.length > 0) wire.push({ role: 'assistant', content });
    } else {
      wire.push({ role: 'user', content: await userParts(message, media, options) });
    }
  }
  return wire;
}

async function userParts(message: Message, contents: MediaContents, options: PromptOptions): Promise<Part[]> {
  const media = await Promise.all((message.media ?? []).map((item) => filePart(item, contents, options)));
  const text = message.content === '' && media.length > 0 ? [] : [{ type: 'text', text: message.content }];
  return [...text, ...media];
}

async function assistantPart(
  piece: AnswerPiece,
  contents: MediaContents,
  { version }: PromptOptions,
): Promise<Part[]> {
  if (piece.type === 'block') {
    return piece.block.type === 'file' ? madeFile(piece.block, contents, version) : [piece.block];
  }
  const options = optionsOf(piece.data);
  if (piece.type === 'call') {
    const { id, name, arguments: text, client } = piece.call;
    if (client && isJsonObject(piece.data?.part)) return [piece.data.part];
    return [{ type: 'tool-call', toolCallId: id, toolName: name, input: argumentsObject(text), ...options }];
  }
  return piece.text === '' && !options ? [] : [{ type: piece.type, text: piece.text, ...options }];
}

/** What a provider said beside a part of its answer goes back to it under another name. */
export function optionsOf(metadata: JsonObject | undefined): { providerOptions: JsonObject } | undefined {
  return metadata && { providerOptions: metadata };
}

/** A file that the model made, unless its bytes are gone. */
async function madeFile(
  { media, providerOptions }: JsonObject,
  contents: MediaContents,
  version: AiSdkVersion,
): Promise<Part[]> {
  // as AiSdkAnswer put it there
  const { url, hash = '', mimeType }: Partial<Media> = Object(media);
  const data = url === undefined ? await contents.get(hash) : new URL(url);
  const options = providerOptions && { providerOptions };
  return data ? [{ type: 'file', mediaType: mimeType, data: fileData(data, version), ...options }] : [];
}

async function filePart(media: Media, contents: MediaContents, options: PromptOptions): Promise<Part> {
  const filename = media.filename && { filename: media.filename };
  if (media.url) {
    const data = fileData(new URL(media.url), options.version);
    return { type: 'file', mediaType: mediaTypeAtUrl(media), data, ...filename };
  }
  const bytes = await bytesOf(media, contents, options.provider);
  if (media.kind === 'file' && isText(media.mimeType)) {
    return { type: 'text', text: `File ${nameOf(media)}:\n${Buffer.from(bytes).toString('utf8')}` };
  }
  const data = fileData(bytes, options.version);
  return { type: 'file', mediaType: mimeTypeOf(media, bytes), data, ...filename };
}

function fileData(data: URL | Uint8Array, version: AiSdkVersion): unknown {
  if (version !== 'v4') return data;
  return data instanceof URL ? { type: 'url', url: data } : { type: 'data', data };
}

/** For an image without a given type, the AI SDK has a word for any. */
function mediaTypeAtUrl(media: Media): string {
  return media.mimeType ?? (media.kind === 'file' ? 'application/pdf' : `${media.kind}/*`);
}

async function toolResult(message: Message, contents: MediaContents, options: PromptOptions): Promise<Part> {
  const { toolCallId = '', toolName = '', content, media = [] } = message;
  const result = { type: 'tool-result', toolCallId, toolName };
  if (message.toolCallError) return { ...result, output: { type: 'error-text', value: content } };
  if (media.length === 0) return { ...result, output: { type: 'text', value: content } };
  const parts = await Promise.all(media.map((item) => resultPart(item, contents, options)));
  const text = content === '' ? [] : [{ type: 'text', text: content }];
  return { ...result, output: { type: 'content', value: [...text, ...parts] } };
}

function approvalResponse({ toolCallError, content }: Message, approvalId: Json): Part {
  const approved = toolCallError !== true;
  return { type: 'tool-approval-response', approvalId, approved, ...(!approved && { reason: content }) };
}

/** Each version has its own way to put media into the result of a tool. */
async function resultPart(media: Media, contents: MediaContents, options: PromptOptions): Promise<Part> {
  const { version, provider } = options;
  const image = media.kind === 'image';
  if (media.url) {
    if (version === 'v4') return filePart(media, contents, options);
    if (version === 'v3') return { type: image ? 'image-url' : 'file-url', url: media.url };
    return { type: 'text', text: `${describedInWords(media)} It is at ${media.url}` };
  }
  if (version === 'v4') return filePart(media, contents, options);
  const bytes = await bytesOf(media, contents, provider);
  const data = { data: base64(bytes), mediaType: mimeTypeOf(media, bytes) };
  if (version === 'v2') return { type: 'media', ...data };
  return { type: image ? 'image-data' : 'file-data', ...data };
}

/** A part that the provider produced and ran by itself, in the form in which it is sent back. */
export function executedPart(part: AiSdkPart, metadata: JsonObject | undefined): JsonObject {
  // what the SDK parsed from the provider's answer, typed as loosely as its versions differ
  const { type, toolCallId, toolName, input, result, isError } = part as unknown as JsonObject;
  const common: JsonObject = {
    toolCallId: toolCallId ?? '',
    toolName: toolName ?? '',
    ...optionsOf(metadata),
  };
  if (type === 'tool-call') {
    const parsed = typeof input === 'string' ? argumentsObject(input) : (input ?? {});
    return { type, ...common, input: parsed, providerExecuted: true };
  }
  // A provider refuses the error of one of its tools in the place of a result.
  const output = { type: isError === true ? 'error-json' : 'json', value: result ?? null };
  return { type: 'tool-result', ...common, output };
}
