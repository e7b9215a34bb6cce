import { createHash } from 'node:crypto';
import type { Media } from '../../media/media.js';
import { canonicalJson } from '../../tools/call/canonical-json.js';
import type { Message } from '../message.js';
import type { Model, ModelRequest } from '../model.js';

/** What answers have in common that may stand for each other. A change of what is kept needs another version. */
const version = 1;

/**
 * The same for calls that give the same model the same: messages, tools, shape of the answer and settings. Ids and times
 * of messages are not part of it. The names of tool calls differ in each run, and count by their order.
 */
export function requestKey(owner: string, model: Model, request: ModelRequest): string {
  const { id, provider, name, parameters = {} } = model;
  // the bytes of media are identified by their hashes
  const { messages, media: _contents, ...others } = request;
  const calls = new Map<string, number>();
  const numbered = (callId: string) => {
    const number = calls.get(callId) ?? calls.size;
    calls.set(callId, number);
    return number;
  };
  const given = {
    version,
    owner,
    model: { id, provider, name, parameters },
    messages: messages.map((message) => shownPart(message, numbered)),
    others,
  };
  return createHash('sha256').update(canonicalJson(given)).digest('hex');
}

function shownPart(message: Message, numbered: (callId: string) => number) {
  const { role, content, compressedContent, reasoningContent, toolCalls, toolCallId, media } = message;
  return {
    role,
    content,
    compressedContent,
    reasoningContent,
    toolCalls: toolCalls?.map(({ id, name, arguments: given, client }) => [
      numbered(id),
      name,
      given,
      client,
    ]),
    toolCall: toolCallId === undefined ? undefined : numbered(toolCallId),
    toolName: message.toolName,
    toolCallError: message.toolCallError,
    media: media?.map(contentOf),
    providerData: message.providerData,
  };
}

/** The same bytes and the same address are the same, whatever id they have in a run. */
function contentOf({ kind, id, url, hash, mimeType, filename, details }: Media) {
  return { kind, source: hash ?? url ?? id, mimeType, filename, details };
}
