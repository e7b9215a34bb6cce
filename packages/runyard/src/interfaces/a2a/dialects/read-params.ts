import { errors } from '../../../core/errors/errors.js';
import { isJsonObject, type Json, type JsonObject } from '../../../core/json.js';
import type { Part } from '../task.js';
import type { GivenMessage } from './dialect.js';

/** How many parts a message may have. */
const mostParts = 1_000;

export function invalid(text: string): Error {
  return errors.invalidA2aRequest(`Invalid A2A request: ${text}`);
}

export function textIn(holder: JsonObject, name: string, place = name): string | undefined {
  const value = holder[name];
  // an empty text of a protocol buffer means that nothing is given
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string') return value;
  throw invalid(`${place} must be a text`);
}

export function requiredTextIn(holder: JsonObject, name: string, place = name): string {
  const value = textIn(holder, name, place);
  if (value === undefined) throw invalid(`${place} is required`);
  return value;
}

export function objectIn(holder: JsonObject, name: string, place = name): JsonObject | undefined {
  const value = holder[name];
  if (value === undefined || value === null) return undefined;
  if (isJsonObject(value)) return value;
  throw invalid(`${place} must be an object`);
}

/** A query holds texts, a body numbers. */
export function countIn(holder: JsonObject, name: string, most = 1_000_000): number | undefined {
  const value = holder[name];
  if (value === undefined || value === null || value === '') return undefined;
  const count = typeof value === 'string' ? Number(value) : value;
  if (typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 && count <= most) return count;
  throw invalid(`${name} must be a whole number from 0 to ${most}`);
}

export function flagIn(holder: JsonObject, name: string): boolean | undefined {
  const value = holder[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'boolean') return value;
  if (value === 'true' || value === 'false') return value === 'true';
  throw invalid(`${name} must be true or false`);
}

/** `content`: what protocol 0.3 calls the parts in its HTTP+JSON binding. */
export function readMessage(params: JsonObject): GivenMessage {
  const message = objectIn(params, 'message');
  if (message === undefined) throw invalid('message is required');
  const { role } = message;
  if (role !== 'user' && role !== 'ROLE_USER')
    throw errors.invalidA2aRequest('Only user messages are accepted');
  const parts = message.parts ?? message.content;
  if (!Array.isArray(parts)) throw invalid('message.parts must be a list');
  if (parts.length > mostParts) throw invalid(`message.parts may have ${mostParts} entries`);
  return {
    messageId: requiredTextIn(message, 'messageId', 'message.messageId'),
    contextId: textIn(message, 'contextId', 'message.contextId'),
    taskId: textIn(message, 'taskId', 'message.taskId'),
    parts: parts.map((part, position) => readPart(part, `message.parts[${position}]`)),
    metadata: objectIn(message, 'metadata', 'message.metadata'),
  };
}

/** A part of any version: each has its own names, and none means something else in another. */
function readPart(part: Json, place: string): Part {
  if (!isJsonObject(part)) throw invalid(`${place} must be an object`);
  const file = objectIn(part, 'file', `${place}.file`);
  const facts = {
    mediaType: textIn(file ?? part, file ? 'mimeType' : 'mediaType', place),
    filename: textIn(file ?? part, file ? 'name' : 'filename', place),
    metadata: objectIn(part, 'metadata', `${place}.metadata`),
  };
  if (file !== undefined) {
    const url = textIn(file, 'uri') ?? textIn(file, 'fileWithUri');
    const raw = textIn(file, 'bytes') ?? textIn(file, 'fileWithBytes');
    if (url !== undefined) return { ...facts, url };
    if (raw !== undefined) return { ...facts, raw };
    throw invalid(`${place}.file has neither uri nor bytes`);
  }
  if (typeof part.text === 'string') return { ...facts, text: part.text };
  if (typeof part.url === 'string') return { ...facts, url: part.url };
  if (typeof part.raw === 'string') return { ...facts, raw: part.raw };
  if (part.data !== undefined) return { ...facts, data: part.data };
  throw invalid(`${place} has no content: give text, data, or a file`);
}
