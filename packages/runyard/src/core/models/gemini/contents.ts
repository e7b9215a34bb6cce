import { isJsonObject, type JsonObject } from '../../json.js';
import type { Media, MediaContents } from '../../media/media.js';
import type { Message } from '../message.js';
import { type AnswerPiece, type PieceOwner, piecesOf } from '../provider/answer/answer-pieces.js';
import { argumentsObject } from '../provider/answer/tool-arguments.js';
import { base64, bytesOf, isText, mimeTypeOf, nameOf } from '../provider/media-parts.js';

export interface ContentOptions {
  /** Whose signatures are sent back; undefined sends none. */
  readonly owner: PieceOwner | undefined;
  readonly provider: string;
  /** Whether the model refuses function calls that bear no signature. */
  readonly signatureRequired: boolean;
}

interface Content {
  readonly role: 'user' | 'model';
  readonly parts: JsonObject[];
}

/** Google's own stand-in for the signature of a call that another model made. */
const anySignature = 'skip_thought_signature_validator';

export async function wireContents(
  messages: readonly Message[],
  contents: MediaContents,
  options: ContentOptions,
): Promise<Content[]> {
  const wire: Content[] = [];
  // The ids that the provider itself gave: it wants to see those again, and no others.
  const knownIds = new Set<string>();
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'model' : 'user';
    const parts =
      message.role === 'assistant'
        ? await modelParts(message, contents, options, knownIds)
        : await userParts(message, contents, options.provider, knownIds);
    if (parts.length === 0) continue;
    const last = wire.at(-1);
    // Answers of functions stand in the turn right after the calls; what the user says next joins them.
    if (last?.role === role) last.parts.push(...parts);
    else wire.push({ role, parts });
  }
  return wire;
}

async function modelParts(
  message: Message,
  contents: MediaContents,
  options: ContentOptions,
  knownIds: Set<string>,
): Promise<JsonObject[]> {
  const parts: JsonObject[] = [];
  for (const piece of piecesOf(message, options.owner)) {
    if (piece.type === 'block') parts.push(...(await blockPart(piece.block, contents)));
    else parts.push(...modelPart(piece, knownIds));
  }
  const firstCall = parts.find((part) => part.functionCall !== undefined);
  if (firstCall && options.signatureRequired) firstCall.thoughtSignature ??= anySignature;
  return parts;
}

/** A part that only Google understands. Of what the model made, the bytes are stored. */
async function blockPart(block: JsonObject, contents: MediaContents): Promise<JsonObject[]> {
  const { inlineData } = block;
  if (!isJsonObject(inlineData) || typeof inlineData.hash !== 'string') return [block];
  const { hash, ...rest } = inlineData;
  const bytes = await contents.get(hash);
  return bytes ? [{ ...block, inlineData: { ...rest, data: base64(bytes) } }] : [];
}

function modelPart(piece: Exclude<AnswerPiece, { type: 'block' }>, knownIds: Set<string>): JsonObject[] {
  const { signature, id } = piece.data ?? {};
  const signed = signature === undefined ? undefined : { thoughtSignature: signature };
  switch (piece.type) {
    case 'text':
      return piece.text === '' && !signed ? [] : [{ text: piece.text, ...signed }];
    case 'reasoning':
      // The summary of a thought is of no use to the model; its signature is.
      return signed ? [{ text: piece.text, thought: true, ...signed }] : [];
    default: {
      const { call } = piece;
      if (id === true) knownIds.add(call.id);
      const functionCall: JsonObject = { name: call.name, args: argumentsObject(call.arguments) };
      if (id === true) functionCall.id = call.id;
      return [{ functionCall, ...signed }];
    }
  }
}

async function userParts(
  message: Message,
  contents: MediaContents,
  provider: string,
  knownIds: ReadonlySet<string>,
): Promise<JsonObject[]> {
  const media = await Promise.all((message.media ?? []).map((item) => mediaPart(item, contents, provider)));
  if (message.role !== 'tool')
    return [...media, ...(message.content === '' ? [] : [{ text: message.content }])];
  const { toolCallId = '', toolName = '', content } = message;
  const functionResponse: JsonObject = {
    name: toolName,
    response: message.toolCallError ? { error: content } : { output: content },
  };
  if (knownIds.has(toolCallId)) functionResponse.id = toolCallId;
  return [{ functionResponse }, ...media];
}

async function mediaPart(media: Media, contents: MediaContents, provider: string): Promise<JsonObject> {
  if (media.url) return { fileData: { fileUri: media.url, ...urlType(media, media.url) } };
  const bytes = await bytesOf(media, contents, provider);
  if (media.kind === 'file' && isText(media.mimeType)) {
    return { text: `File ${nameOf(media)}:\n${Buffer.from(bytes).toString('utf8')}` };
  }
  return { inlineData: { mimeType: mimeTypeOf(media, bytes), data: base64(bytes) } };
}

/** Google does not look at the file to learn its type, unless the file was uploaded to Google before. */
function urlType(media: Media, url: string): { mimeType?: string } {
  if (media.mimeType === undefined && /^https:\/\/generativelanguage\.googleapis\.com\//.test(url)) return {};
  const mimeType = mimeTypeOf(media);
  // The one kind of document that Google reads as it is.
  return { mimeType: mimeType === 'application/octet-stream' ? 'application/pdf' : mimeType };
}
