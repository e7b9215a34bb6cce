import type { NewDelivery } from '../../capabilities/slack/service.js';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import type { SlackConfig } from './options.js';
import { readPress } from './pauses/read-press.js';
import { type EventOwner, objectIn, textIn } from './workspaces.js';

/** A message that may be answered. */
export interface MessageEvent {
  readonly owner: EventOwner;
  readonly channel: string;
  readonly ts: string;
  readonly threadTs: string;
  readonly text: string;
  /** Of the person, or of the app, that wrote it. */
  readonly userId: string | undefined;
  readonly botId: string | undefined;
  /** The workspace of the writer: another one in a shared channel. */
  readonly userTeamId: string | undefined;
  readonly isDirect: boolean;
  readonly files: readonly JsonObject[];
  readonly event: JsonObject;
}

/** Messages that people and apps write. The others are what happened to a message, and what Slack itself says. */
const answeredSubtypes: ReadonlySet<unknown> = new Set([
  undefined,
  'file_share',
  'me_message',
  'bot_message',
]);

const otherEvents = new Set(['assistant_thread_started', 'tokens_revoked', 'app_uninstalled']);

/** What is to be stored of an event; undefined for one that nobody answers. */
export function deliveryOfEvent(config: SlackConfig, envelope: JsonObject): NewDelivery | undefined {
  const deliveryId = textIn(envelope, 'event_id');
  if (envelope.type !== 'event_callback' || deliveryId === undefined) return undefined;
  const event = objectIn(envelope, 'event');
  const type = textIn(event, 'type') ?? '';
  const common = { mount: config.prefix, deliveryId, payload: storedText(envelope) };
  const position = textIn(event, 'event_ts') ?? textIn(event, 'ts') ?? '';
  if (otherEvents.has(type)) return { ...common, lane: 'control', orderKey: deliveryId, position };
  const message = messageOf(config, envelope);
  if (message === undefined) return undefined;
  // a word that cancels must not wait for what it cancels
  if (isCancelWord(config, message.text))
    return { ...common, lane: 'control', orderKey: deliveryId, position };
  return { ...common, lane: 'work', orderKey: threadKeyOf(message), position: message.ts };
}

/** What is to be stored of an interaction; undefined for one that is not with a button of ours. */
export function deliveryOfInteraction(config: SlackConfig, payload: JsonObject): NewDelivery | undefined {
  const press = readPress(payload);
  if (press === undefined) return undefined;
  const { runId, messageTs, actionTs, channel, userId } = press;
  return {
    mount: config.prefix,
    deliveryId: ['action', channel, messageTs, actionTs, userId].join(':'),
    lane: 'control',
    orderKey: `run:${runId}`,
    position: actionTs,
    payload: storedText({ type: 'interaction', payload }),
  };
}

/** Without what a thief of the database could use: the old verification token, and addresses that take messages. */
function storedText(received: JsonObject): string {
  return JSON.stringify(received, (name, value) =>
    name === 'token' || name === 'response_url' || name === 'response_urls' ? undefined : value,
  );
}

/** The message of an event, if its kind is answered here. Who wrote it is decided later. */
export function messageOf(config: SlackConfig, envelope: JsonObject): MessageEvent | undefined {
  const event = objectIn(envelope, 'event');
  const { type, subtype } = event;
  const channel = textIn(event, 'channel');
  const ts = textIn(event, 'ts');
  if (channel === undefined || ts === undefined) return undefined;
  if (!answeredSubtypes.has(subtype)) return undefined;
  const isDirect = event.channel_type === 'im' || channel.startsWith('D');
  const isMention = type === 'app_mention';
  // with all messages answered, the event of the message covers the mention
  const isAnswered = isDirect ? type === 'message' : isMention === config.replyToMentionsOnly;
  if ((!isMention && type !== 'message') || !isAnswered) return undefined;
  const botId = textIn(event, 'bot_id');
  const userId = textIn(event, 'user');
  if (userId === undefined && botId === undefined) return undefined;
  return {
    owner: ownerOf(envelope),
    channel,
    ts,
    threadTs: textIn(event, 'thread_ts') ?? ts,
    text: textIn(event, 'text') ?? '',
    userId,
    botId,
    userTeamId: textIn(event, 'user_team') ?? textIn(event, 'team'),
    isDirect,
    files: Array.isArray(event.files) ? event.files.filter(isJsonObject) : [],
    event,
  };
}

/** In a channel that workspaces share, the event says for which of them it came. */
export function ownerOf(envelope: JsonObject): EventOwner {
  const authorization = authorizationIn(envelope);
  return {
    teamId: textIn(authorization, 'team_id') ?? textIn(envelope, 'team_id') ?? '',
    enterpriseId: textIn(authorization, 'enterprise_id') ?? textIn(envelope, 'enterprise_id'),
  };
}

/** Whether the app is installed for all workspaces of an organisation at once. */
export function isOfOrganisation(envelope: JsonObject): boolean {
  return [envelope, authorizationIn(envelope)].some((one) => one.is_enterprise_install === true);
}

function authorizationIn({ authorizations }: JsonObject): JsonObject {
  const [first] = Array.isArray(authorizations) ? authorizations : [];
  return isJsonObject(first) ? first : {};
}

export function threadKeyOf({
  owner,
  channel,
  threadTs,
}: Pick<MessageEvent, 'owner' | 'channel' | 'threadTs'>): string {
  return [owner.teamId || owner.enterpriseId, channel, threadTs].join(':');
}

/** Whether a message says nothing but to cancel. A mention before the word does not count. */
export function isCancelWord({ cancelWords }: SlackConfig, text: string): boolean {
  const said = text
    .replaceAll(/<@[A-Z0-9]+(\|[^>]*)?>/g, ' ')
    .trim()
    .toLowerCase();
  return cancelWords.includes(said.replace(/[.!]+$/, ''));
}
