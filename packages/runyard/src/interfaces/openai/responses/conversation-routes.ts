import { z } from 'zod';
import { errors } from '../../../core/errors/errors.js';
import { newId } from '../../../core/ids.js';
import type { Json, JsonObject } from '../../../core/json.js';
import type { OpenaiCall, OpenaiRoute } from '../routes.js';
import {
  type AddedItem,
  type Conversation,
  conversationAt,
  type KeptConversation,
  keptIn,
  keptMetadata,
} from './conversation-state.js';
import { itemsOfRun } from './found-response.js';
import { newestOf, runsIn } from './history.js';
import { readInput } from './input-items.js';
import { pageOf, pageQuery } from './item-page.js';
import { checked, inputItems, metadataField } from './request-body.js';
import { conversationId } from './response-id.js';
import { ownInput } from './shown-input.js';

/** As many as OpenAI accepts at once, and as many as a session keeps in all. */
const items = inputItems.max(20);
const mostAdded = 100;
/** How many runs of a conversation are looked through for its items. */
const mostRuns = 1_000;

const createBody = z.looseObject({ items: items.nullish(), metadata: metadataField.nullish() }).nullish();
const updateBody = z.looseObject({ metadata: metadataField.nullable() });
const addBody = z.looseObject({ items });

const at = '/conversations/:conversation_id';
const route = (method: OpenaiRoute['method'], path: string, summary: string, scope: string) => ({
  method,
  path,
  summary: `${summary} (OpenAI)`,
  scope: `sessions:${scope}`,
  action: 'read' as const,
});

/** Conversations are sessions. */
export const conversationRoutes: readonly OpenaiRoute[] = [
  { ...route('POST', '/conversations', 'Create a conversation', 'write'), answer: create },
  {
    ...route('GET', at, 'Get a conversation', 'read'),
    answer: async (call) => shown(await ofPath(call)),
  },
  { ...route('POST', at, 'Change the metadata of a conversation', 'write'), answer: update },
  { ...route('DELETE', at, 'Delete a conversation with its responses', 'delete'), answer: remove },
  {
    ...route('GET', `${at}/items`, 'List the items of a conversation', 'read'),
    answer: async (call) => {
      const query = pageQuery(call);
      return pageOf(itemsOf(call, await ofPath(call), query.order), query);
    },
  },
  { ...route('POST', `${at}/items`, 'Add items to a conversation', 'write'), answer: add },
  { ...route('GET', `${at}/items/:item_id`, 'Get an item of a conversation', 'read'), answer: getItem },
  { ...route('DELETE', `${at}/items/:item_id`, 'Remove an added item', 'write'), answer: removeItem },
];

type Place = Awaited<ReturnType<typeof conversationAt>>;

function ofPath(call: OpenaiCall): Promise<Place> {
  return conversationAt(call, call.request.params.conversation_id ?? '');
}

function shown({ sessionId, createdAt, metadata }: Conversation): JsonObject {
  return {
    id: conversationId(sessionId),
    object: 'conversation',
    created_at: Math.floor(createdAt / 1000),
    metadata,
  };
}

async function create(call: OpenaiCall): Promise<JsonObject> {
  const body = checked(createBody, call.request.body) ?? {};
  const added = addedItems(body.items ?? [], null);
  const sessionId = newId();
  await call.services.sessions.create(
    call.request.caller,
    'agent',
    { db_id: call.services.defaultDatabase },
    { session_id: sessionId, metadata: keptMetadata({ metadata: body.metadata ?? {}, added }) },
  );
  return shown(await conversationAt(call, conversationId(sessionId)));
}

/** Refuses items that no response could read. */
function addedItems(given: readonly JsonObject[], after: string | null): AddedItem[] {
  readInput(given, 'items');
  return given.map((item) => ({
    after,
    item: {
      ...item,
      type: item.type ?? 'message',
      id: `msg_${newId()}`,
      status: 'completed',
      ...(typeof item.content === 'string' && { content: [textPart(item.role, item.content)] }),
    },
  }));
}

/** Clients read the content of a message as a list, also where a text was sent. */
function textPart(role: Json | undefined, text: string): JsonObject {
  return role === 'assistant' ? { type: 'output_text', text, annotations: [] } : { type: 'input_text', text };
}

/** Requests that change a conversation at the same time lose nothing of each other. */
async function change(
  { services, request }: OpenaiCall,
  { sessionId }: Conversation,
  make: (now: KeptConversation) => KeptConversation,
): Promise<void> {
  const database = { db_id: services.defaultDatabase };
  await services.sessions.changeMetadata(request.caller, sessionId, database, (now) =>
    keptMetadata(make(keptIn(now))),
  );
}

async function update(call: OpenaiCall): Promise<JsonObject> {
  const conversation = await ofPath(call);
  const { metadata } = checked(updateBody, call.request.body);
  await change(call, conversation, ({ added }) => ({ metadata: metadata ?? {}, added }));
  return shown(await ofPath(call));
}

async function remove(call: OpenaiCall): Promise<JsonObject> {
  const { sessionId } = await ofPath(call);
  const { services, request } = call;
  await services.sessions.delete(request.caller, [sessionId], { db_id: services.defaultDatabase });
  return { id: conversationId(sessionId), object: 'conversation.deleted', deleted: true };
}

async function add(call: OpenaiCall): Promise<JsonObject> {
  const conversation = await ofPath(call);
  const { items: given } = checked(addBody, call.request.body);
  const newest = await newestOf(call, conversation);
  const fresh = addedItems(given, newest?.run.runId ?? null);
  await change(call, conversation, ({ metadata, added }) => {
    if (added.length + fresh.length > mostAdded)
      throw errors.openaiRequest(`A conversation keeps at most ${mostAdded} added items.`, 'items');
    return { metadata, added: [...added, ...fresh] };
  });
  const data = fresh.map(({ item }) => item);
  const [first, last] = [data[0]?.id ?? null, data.at(-1)?.id ?? null];
  return { object: 'list', data, first_id: first, last_id: last, has_more: false };
}

async function getItem(call: OpenaiCall): Promise<JsonObject> {
  const { item_id: id = '' } = call.request.params;
  for await (const item of itemsOf(call, await ofPath(call), 'desc')) if (item.id === id) return item;
  throw itemNotFound(id);
}

async function removeItem(call: OpenaiCall): Promise<JsonObject> {
  const conversation = await ofPath(call);
  const { item_id: id = '' } = call.request.params;
  const isOther = ({ item }: AddedItem) => item.id !== id;
  if (conversation.added.every(isOther)) {
    await getItem(call);
    throw errors.openaiRequest(
      'The item belongs to a response and stays as long as that. Only items that were added can be removed.',
      'item_id',
    );
  }
  await change(call, conversation, ({ metadata, added }) => ({ metadata, added: added.filter(isOther) }));
  return shown(conversation);
}

function itemNotFound(id: string): Error {
  return errors.sessionNotFound(`Item with id '${id.slice(0, 200)}' not found.`);
}

/** The items of a conversation, made as they are taken. */
async function* itemsOf(
  call: OpenaiCall,
  conversation: Place,
  order: 'asc' | 'desc',
): AsyncGenerator<JsonObject> {
  const { kind, componentId, added } = conversation;
  const after = (runId: string | null) => added.filter((one) => one.after === runId).map(({ item }) => item);
  const turned = (list: readonly JsonObject[]) => (order === 'asc' ? list : list.toReversed());
  const found = [];
  for await (const { run } of runsIn(call, conversation, mostRuns))
    found.push({ runId: run.runId, input: run.input });
  if (order === 'asc') yield* after(null);
  for (const { runId, input } of order === 'asc' ? found.reverse() : found) {
    const output = await itemsOfRun(call, { kind, componentId, runId });
    yield* turned([ownInput(input, runId), ...output, ...after(runId)]);
  }
  if (order === 'desc') yield* turned(after(null));
}
