import type { Json, JsonObject } from '../../json.js';
import type { Media, MediaContents } from '../../media/media.js';
import type { Message } from '../message.js';
import { type AnswerPiece, type PieceOwner, piecesOf } from '../provider/answer/answer-pieces.js';
import { argumentsObject } from '../provider/answer/tool-arguments.js';
import {
  base64,
  bytesOf,
  describedInWords,
  isText,
  mimeTypeOf,
  nameOf,
  notTaken,
} from '../provider/media-parts.js';

export interface MessageOptions {
  /** Whose signatures are sent back in a message; undefined sends none. */
  readonly owner: (message: Message) => PieceOwner | undefined;
  readonly provider: string;
}

type WireMessage = {
  readonly role: 'user' | 'assistant';
  readonly content: JsonObject[];
};

/** The conversation as the API wants it: turns, with all answers of tools in the one message after their calls. */
export async function wireMessages(
  messages: readonly Message[],
  contents: MediaContents,
  options: MessageOptions,
): Promise<{ readonly messages: WireMessage[]; readonly unsignedToolTurn: boolean }> {
  const all = await Promise.all(messages.map((message) => wireBlocks(message, contents, options)));
  const turn = messages.findLastIndex(({ role }) => role === 'user') + 1;
  const answered = new Set(all.flat().map((block) => block.tool_use_id));
  const wire: WireMessage[] = [];
  all.forEach((blocks, index) => {
    const role = messages[index]?.role === 'assistant' ? 'assistant' : 'user';
    const content = index < turn && role === 'assistant' ? finished(blocks, answered) : blocks;
    const last = wire.at(-1);
    if (last?.role === role) last.content.push(...content);
    else if (content.length > 0) wire.push({ role, content: [...content] });
  });
  const called = messages.slice(turn).some(({ toolCalls }) => toolCalls?.length);
  return { messages: wire, unsignedToolTurn: called && !all.slice(turn).flat().some(isThinking) };
}

/** The API refuses an earlier turn that ends in thoughts, or in the middle of a search: the answer was cut off there. */
function finished(blocks: readonly JsonObject[], answered: ReadonlySet<unknown>): JsonObject[] {
  const kept = blocks.filter(
    ({ type, id }) => !/^(server|mcp)_tool_use$/.test(String(type)) || answered.has(id),
  );
  return kept.slice(0, kept.findLastIndex((block) => !isThinking(block)) + 1);
}

function isThinking({ type }: JsonObject): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}

async function wireBlocks(
  message: Message,
  contents: MediaContents,
  options: MessageOptions,
): Promise<JsonObject[]> {
  switch (message.role) {
    case 'assistant':
      return piecesOf(message, options.owner(message)).flatMap(assistantBlock);
    case 'tool':
      return [await toolResult(message, contents, options.provider)];
    default: {
      const media = await Promise.all(
        (message.media ?? []).map((item) => mediaBlock(item, contents, options.provider)),
      );
      return [...media, ...textBlocks(message.content)];
    }
  }
}

/** The API refuses text that is empty or only white space. */
function textBlocks(text: string): JsonObject[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

function assistantBlock(piece: AnswerPiece): JsonObject[] {
  switch (piece.type) {
    case 'text':
      return textBlocks(piece.text).map((block) => ({ ...block, ...piece.data }));
    case 'reasoning':
      return piece.data?.signature === undefined
        ? []
        : [{ type: 'thinking', thinking: piece.text, ...piece.data }];
    case 'call': {
      const { id, name, arguments: input } = piece.call;
      return [{ type: 'tool_use', id, name, input: argumentsObject(input), ...piece.data }];
    }
    default:
      return [piece.block];
  }
}

async function toolResult(message: Message, contents: MediaContents, provider: string): Promise<JsonObject> {
  const media = await Promise.all(
    (message.media ?? []).map(async (item): Promise<JsonObject> => {
      const taken = item.kind === 'image' || (item.kind === 'file' && isDocument(item));
      return taken ? mediaBlock(item, contents, provider) : { type: 'text', text: describedInWords(item) };
    }),
  );
  const blocks = [...textBlocks(message.content), ...media];
  const content: Json = media.length > 0 ? blocks : message.content;
  return {
    type: 'tool_result',
    tool_use_id: message.toolCallId ?? '',
    ...(content !== '' && { content }),
    ...(message.toolCallError && { is_error: true }),
  };
}

function isDocument({ url, mimeType }: Media): boolean {
  return url !== undefined || mimeType === 'application/pdf' || isText(mimeType);
}

async function mediaBlock(media: Media, contents: MediaContents, provider: string): Promise<JsonObject> {
  if (media.kind === 'image') {
    if (media.url) return { type: 'image', source: { type: 'url', url: media.url } };
    const bytes = await bytesOf(media, contents, provider);
    return {
      type: 'image',
      source: { type: 'base64', media_type: mimeTypeOf(media, bytes), data: base64(bytes) },
    };
  }
  if (media.kind !== 'file') throw notTaken(media, provider, 'images, PDF documents and text');
  return documentBlock(media, contents, provider);
}

async function documentBlock(media: Media, contents: MediaContents, provider: string): Promise<JsonObject> {
  const title = nameOf(media);
  if (media.url) return { type: 'document', source: { type: 'url', url: media.url }, title };
  const bytes = await bytesOf(media, contents, provider);
  const type = mimeTypeOf(media, bytes);
  if (isText(type)) {
    const data = Buffer.from(bytes).toString('utf8');
    return { type: 'document', source: { type: 'text', media_type: 'text/plain', data }, title };
  }
  if (type !== 'application/pdf') throw notTaken(media, provider, 'images, PDF documents and text');
  return { type: 'document', source: { type: 'base64', media_type: type, data: base64(bytes) }, title };
}
