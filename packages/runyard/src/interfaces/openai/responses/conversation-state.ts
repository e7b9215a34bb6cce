import { errorCode } from '../../../core/errors/error-code.js';
import { errors } from '../../../core/errors/errors.js';
import { isJsonObject, type JsonObject } from '../../../core/json.js';
import type { CallerMessage } from '../../../core/runs/caller-input.js';
import type { ModelTarget } from '../model-names.js';
import type { OpenaiCall } from '../routes.js';
import { givenTo, historyUntil, newestOf } from './history.js';
import { readInput } from './input-items.js';
import { sessionOfConversation } from './response-id.js';

/** An item that a client added to a conversation without a response. */
export interface AddedItem {
  /** The newest run at that time; null if there was none. */
  readonly after: string | null;
  readonly item: JsonObject;
}

/** What the metadata of a session say of a conversation. */
export interface KeptConversation {
  readonly metadata: JsonObject;
  readonly added: readonly AddedItem[];
}

/** A session as a conversation. */
export interface Conversation extends KeptConversation {
  readonly sessionId: string;
  readonly createdAt: number;
}

/** Where the metadata of a session hold the items that were added. */
const addedKey = 'openai_items';

export function keptMetadata({ metadata, added }: KeptConversation): JsonObject {
  return { ...metadata, ...(added.length > 0 && { [addedKey]: added.map((one) => ({ ...one })) }) };
}

export function keptIn({ [addedKey]: added = [], ...metadata }: JsonObject): KeptConversation {
  return { metadata, added: addedIn(added) };
}

export async function conversationAt(
  { services, config, request }: OpenaiCall,
  id: string,
): Promise<Conversation & { readonly kind: ModelTarget['kind']; readonly componentId: string }> {
  const sessionId = sessionOfConversation(id);
  try {
    if (sessionId === undefined) throw errors.sessionNotFound();
    const db_id = services.defaultDatabase;
    const session = await services.sessions.record(request.caller, sessionId, { db_id });
    const { kind, componentId, createdAt, metadata } = session;
    // one that no run was in has no component
    if (componentId !== '' && !config.exposes(kind, componentId)) throw errors.sessionNotFound();
    return { sessionId, kind, componentId, createdAt, ...keptIn(metadata ?? {}) };
  } catch (error) {
    if (errorCode(error) !== 'session_not_found') throw error;
    throw errors.sessionNotFound(`Conversation with id '${id.slice(0, 200)}' not found.`);
  }
}

function addedIn(kept: unknown): AddedItem[] {
  if (!Array.isArray(kept)) return [];
  return kept.filter(isJsonObject).flatMap(({ after, item }) => {
    return isJsonObject(item) ? [{ after: typeof after === 'string' ? after : null, item }] : [];
  });
}

/** What a response in a conversation sees: the history of the session, and items that were added since. */
export async function conversationBefore(
  call: OpenaiCall,
  { kind, componentId }: ModelTarget,
  given: string | { readonly id: string },
  earlier: readonly CallerMessage[],
): Promise<{ sessionId: string; messages?: readonly CallerMessage[]; isChat: boolean }> {
  const { sessionId, added } = await conversationAt(call, typeof given === 'string' ? given : given.id);
  const newest = await newestOf(call, { kind, componentId, sessionId });
  const after = newest?.run.runId ?? null;
  const fresh = added.filter((one) => one.after === after).map(({ item }) => item);
  const more = [...messagesIn(fresh), ...earlier];
  const isPlain = more.length === 0 && (newest === undefined || givenTo(newest.run) === undefined);
  if (isPlain) return { sessionId, isChat: true };
  const history = newest === undefined ? [] : await historyUntil(call, newest);
  return { sessionId, messages: [...history, ...more], isChat: true };
}

/** Items as messages, those of the user at the end included. */
function messagesIn(items: readonly JsonObject[]): readonly CallerMessage[] {
  const { earlier, message } = readInput(items, 'items');
  return message === undefined ? earlier : [...earlier, { role: 'user', content: message }];
}
