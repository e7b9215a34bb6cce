import type { Media } from '../media/media.js';
import { hasContent } from '../media/owned-media.js';
import type { Message } from '../models/message.js';
import type { Writable } from '../objects.js';
import { ownSteps } from '../runs/journal/child-steps.js';
import { read, readIf } from '../runs/journal/codec.js';
import { introductionRecord } from '../runs/journal/records.js';
import { inheritedAttempt, type Run, type StepRecord } from '../runs/run.js';
import { isDeclined } from './answer/stopped.js';
import { boundedHistory } from './context/history-bounds.js';
import {
  conversationOf,
  keptAnswerOf,
  userMessageKey,
  userMessageText,
} from './continuation/conversation.js';
import { withEarlierTexts } from './hooks/said-texts.js';
import {
  type AnswerRecord,
  auxiliaryRecord,
  contextRecord,
  modelRecord,
  toolRecord,
} from './journal-records.js';
import { referencesIn } from './knowledge/references.js';
import { contextSearchKey, withReferences } from './knowledge/references-text.js';

/** Folds the journal of a run into its messages, in the order of the conversation, history left out. */
export function messagesOf(run: Run, all: readonly StepRecord[]): Message[] {
  const steps = ownSteps(all);
  const { context, turns } = conversationOf(steps);
  const brokenOff = brokenOffText(run);
  const messages = steps.filter(isDoneIntroduction).map(introductionMessage);
  if (context?.status === 'completed') messages.push(...contextMessages(run, context, steps));
  for (const { userMessages, model, tools } of turns) {
    for (const step of userMessages) messages.push(userMessageOf(step, steps));
    if (model?.status === 'completed') messages.push(...turnMessages(model, tools));
    else if (model !== undefined && brokenOff !== undefined) messages.push(partialMessage(model, brokenOff));
    else messages.push(...tools.filter(isCompleted).map(toolMessage));
  }
  const lastWord = keptAnswerOf(steps);
  if (lastWord !== undefined) replaceLastWord(messages, lastWord);
  return withCompressed(messages, steps);
}

/**
 * What the model said in a turn, and the results of its calls. Of calls that the run does not keep there are no messages:
 * no provider takes a call without its result.
 */
export function turnMessages(model: StepRecord, tools: readonly StepRecord[]): Message[] {
  if (!isForgotten(model)) {
    const messages = [assistantMessage(model)];
    for (const tool of tools) if (isCompleted(tool)) messages.push(toolMessage(tool));
    return messages;
  }
  const { toolCalls: _calls, ...said } = assistantMessage(model);
  return said.content === '' ? [] : [said];
}

/** Whether the run has ended and does not keep the calls of this turn. */
export function isForgotten(model: StepRecord): boolean {
  return readIf(model, modelRecord)?.forgotten === true;
}

function isCompleted({ status }: StepRecord): boolean {
  return status === 'completed';
}

/** What a run was asked, as its pre-hooks left it, and what it answered. */
export interface Exchange {
  readonly user: string;
  readonly answer: string;
}

export function exchangeOf(run: Run, steps: readonly StepRecord[]): Exchange {
  const { user = '' } = readIf(conversationOf(ownSteps(steps)).context, contextRecord) ?? {};
  const content = run.result?.content ?? '';
  return { user, answer: typeof content === 'string' ? content : JSON.stringify(content) };
}

function isDoneIntroduction({ kind, status }: StepRecord): boolean {
  return kind === 'introduction' && status === 'completed';
}

/** What the model had said when the run was cancelled, or met a limit, in the middle of its answer. */
function brokenOffText({ status, result }: Run): string | undefined {
  if (status === 'error') return result?.brokenOff;
  if (status !== 'cancelled' || result?.partial !== true) return undefined;
  return typeof result.content === 'string' ? result.content : undefined;
}

function partialMessage(step: StepRecord, content: string): Message {
  return {
    id: `${step.runId}:${step.key}`,
    role: 'assistant',
    content,
    createdAt: seconds(step.startedAt),
  };
}

/** The model's last text gives way to what the caller got instead; of what was refused, nothing is shown. */
function replaceLastWord(messages: Message[], { text }: AnswerRecord): void {
  const position = messages.findLastIndex(
    ({ role, fromHistory }) => role === 'assistant' && fromHistory !== true,
  );
  const last = messages[position];
  if (last === undefined) return;
  const { reasoningContent: _thoughts, providerData: _data, ...bare } = last;
  messages[position] = text === null ? { ...bare, content: '' } : { ...last, content: text };
}

/** The step that shortens the result of a tool call. */
export function compressionKey(toolKey: string): string {
  return `compression:${toolKey}`;
}

/** The short form of a tool result, if it could be made and is shorter. */
export function compressedText(compression: StepRecord | undefined, original: string): string | undefined {
  if (compression?.status !== 'completed') return undefined;
  const record = read(compression, auxiliaryRecord);
  if (record.failure !== undefined || isDeclined(record)) return undefined;
  const text = record.content.trim();
  return text !== '' && text.length < original.length ? text : undefined;
}

function withCompressed(messages: Message[], steps: readonly StepRecord[]): Message[] {
  const compressions = steps.filter(
    ({ kind, key }) => kind === 'auxiliary' && key.startsWith('compression:'),
  );
  if (compressions.length === 0) return messages;
  const byKey = new Map(compressions.map((step) => [step.key, step]));
  return messages.map((message) => {
    if (message.role !== 'tool') return message;
    const toolKey = message.id.slice(message.id.indexOf(':tool:') + 1);
    const text = compressedText(byKey.get(compressionKey(toolKey)), message.content);
    return text === undefined ? message : { ...message, compressedContent: text };
  });
}

/** The messages that a later run of the session is shown of this one, the shortened ones in their short form. */
export function historyMessages(run: Run, steps: readonly StepRecord[]): Message[] {
  const messages = messagesOf(run, steps);
  // what stands before the input belongs to that run alone
  return messages
    .slice(Math.max(messages.findIndex(isInput), 0))
    .filter(({ role }) => role !== 'system')
    .map(({ compressedContent, ...message }) => ({
      ...message,
      content: compressedContent ?? message.content,
      fromHistory: true,
    }));
}

/**
 * The same of several runs. One that began as a copy of another says only what the other did not: nothing is to
 * stand twice in a conversation.
 */
export function historyOf(
  runs: readonly { run: Run; steps: readonly StepRecord[] }[],
  ofOthers: readonly string[] = [],
): Message[] {
  const shown = new Set<string>();
  return runs.flatMap(({ run, steps }) => {
    const own = steps.filter((step) => step.attempt !== inheritedAttempt || !shown.has(fingerprint(step)));
    for (const step of steps) shown.add(fingerprint(step));
    const messages = historyMessages(run, own);
    return ofOthers.includes(run.runId) ? boundedHistory(messages, { toolCalls: 0 }) : messages;
  });
}

const noMessages: readonly Message[] = [];

/** What a model was shown of the earlier runs that its context names. */
export function shownHistory(
  context: StepRecord | undefined,
  earlier: readonly { run: Run; steps: readonly StepRecord[] }[],
): readonly Message[] {
  if (earlier.length === 0) return noMessages;
  const { history = [], ofOthers, bounds = {} } = readIf(context, contextRecord) ?? {};
  const shown = earlier.filter(({ run }) => history.includes(run.runId));
  return boundedHistory(historyOf(shown, ofOthers), bounds);
}

/** A message as a model was shown it. */
export function shownToModel(context: StepRecord | undefined, message: Message): Message {
  if (message.media === undefined) return message;
  const { media, ...texts } = message;
  if (readIf(context, contextRecord)?.withoutMedia === true) return texts;
  // those that an earlier run has not kept are known by name alone
  const kept = media.filter(hasContent);
  if (kept.length === media.length) return message;
  return kept.length === 0 ? texts : { ...texts, media: kept };
}

/** A copied step began and ended when its original did. */
function fingerprint({ kind, name, startedAt, endedAt, key }: StepRecord): string {
  // the key of a message of the user is another in each copy
  return `${kind === 'continue' ? kind : key} ${name} ${startedAt} ${endedAt}`;
}

/** In the order in which the model was shown them: the history stands right before the input. */
export function withHistory(own: readonly Message[], history: readonly Message[]): readonly Message[] {
  if (history.length === 0) return own;
  const input = Math.max(own.findIndex(isInput), 0);
  return [...own.slice(0, input), ...history, ...own.slice(input)];
}

function isInput({ id, role }: Message): boolean {
  return role === 'user' && id.endsWith(':user');
}

export function contextMessages(run: Run, step: StepRecord, steps: readonly StepRecord[]): Message[] {
  const { system, user, additional, conversation } = read(step, contextRecord);
  const createdAt = seconds(step.startedAt);
  const messages: Message[] = [];
  if (system !== null)
    messages.push({ id: `${step.runId}:system`, role: 'system', content: system, createdAt });
  additional?.forEach(({ role, content }, position) => {
    messages.push({ id: `${step.runId}:additional:${position}`, role, content, createdAt });
  });
  if (run.input.options.callerInput?.conversation !== undefined)
    messages.push(...conversationMessages(run, createdAt, conversation));
  const said = saidMessage(step, 'user', { text: user, steps, searchKey: contextSearchKey });
  messages.push(run.input.media.length === 0 ? said : { ...said, media: run.input.media });
  return messages;
}

/** The conversation that the client keeps. Later runs of the session are not shown it: see `historyMessages`. */
function conversationMessages(
  { runId, input }: Run,
  createdAt: number,
  changed: readonly string[] | undefined,
): Message[] {
  const names = new Map<string, string>();
  const given = input.options.callerInput?.conversation;
  const { messages = [] } = given && changed ? withEarlierTexts(given, ['', ...changed]) : (given ?? {});
  return messages.map((message, position) => {
    const { role, content } = message;
    const said: Message = {
      id: `${runId}:conversation:${position}`,
      role,
      content,
      createdAt,
      fromHistory: true,
    };
    if (message.role === 'tool') {
      const { toolCallId } = message;
      return { ...said, toolCallId, toolName: names.get(toolCallId) ?? toolCallId };
    }
    if (message.role === 'user' || message.toolCalls === undefined) return said;
    for (const { id, name } of message.toolCalls) names.set(id, name);
    return { ...said, toolCalls: message.toolCalls };
  });
}

/** The message of the user with which a request continued the run. */
export function userMessageOf(step: StepRecord, steps: readonly StepRecord[]): Message {
  return saidMessage(step, step.key, {
    text: userMessageText(step, steps),
    steps,
    searchKey: `${userMessageKey(step)}:${contextSearchKey}`,
  });
}

interface Said {
  readonly text: string;
  readonly steps: readonly StepRecord[];
  /** The key of the step that searched for it. */
  readonly searchKey: string;
}

/** What the user said, with what was found for it. */
function saidMessage(
  { runId, startedAt }: StepRecord,
  key: string,
  { text, steps, searchKey }: Said,
): Message {
  const search = steps.find((step) => step.kind === 'knowledge' && step.key === searchKey);
  const said: Writable<Message> = {
    id: `${runId}:${key}`,
    role: 'user',
    createdAt: seconds(startedAt),
    content: withReferences(text, search),
  };
  const references = search && referencesIn(search);
  if (references !== undefined) said.references = references;
  return said;
}

function introductionMessage(step: StepRecord): Message {
  const { content } = read(step, introductionRecord);
  return {
    id: `${step.runId}:${step.key}`,
    role: 'assistant',
    content,
    createdAt: seconds(step.startedAt),
  };
}

function assistantMessage(step: StepRecord): Message {
  const { content, usage, reasoning, toolCalls, providerData } = read(step, modelRecord);
  const message: Writable<Message> = {
    id: `${step.runId}:${step.key}`,
    role: 'assistant',
    content,
    createdAt: seconds(step.startedAt),
    usage,
  };
  if (reasoning !== undefined) message.reasoningContent = reasoning;
  if (toolCalls !== undefined) message.toolCalls = toolCalls;
  if (providerData !== undefined) message.providerData = providerData;
  return message;
}

export function toolMessage(step: StepRecord): Message {
  const record = read(step, toolRecord);
  return {
    id: `${step.runId}:${step.key}`,
    role: 'tool',
    content: record.content,
    createdAt: seconds(step.startedAt),
    toolCallId: record.callId,
    toolName: step.name,
    ...(record.args !== null && { toolArgs: record.args }),
    ...(record.error && { toolCallError: true }),
    ...(record.media !== undefined && { media: record.media }),
  };
}

/** What the model and the tools of a run made beside their texts, in order. */
export function producedMedia(steps: readonly StepRecord[]): readonly Media[] {
  const produced: Media[] = [];
  for (const step of steps) {
    if (!isCompleted(step)) continue;
    if (step.kind === 'model') produced.push(...(read(step, modelRecord).media ?? []));
    else if (step.kind === 'tool') produced.push(...(read(step, toolRecord).media ?? []));
  }
  return produced;
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
