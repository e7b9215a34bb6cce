import type { IncomingHttpHeaders } from 'node:http';
import type { Services } from '../../capabilities/capability.js';
import { errorCode } from '../../core/errors/error-code.js';
import { errors } from '../../core/errors/errors.js';
import { idFrom } from '../../core/ids.js';
import type { CallerInput } from '../../core/runs/caller-input.js';
import { hopsHeader, type Run, terminalStatuses } from '../../core/runs/run.js';
import type { Caller } from '../../platform/auth/caller.js';
import { type EventStreamReply, type Reply, reply } from '../../platform/http/response/results.js';
import type { ComponentName } from '../common/exposed-components.js';
import { answerFormOf } from './answer-form.js';
import type { ChatBody, UiMessage } from './chat-body.js';
import { chatStream } from './chat-stream.js';
import type { RestedRun, RunJournal } from './chunk.js';
import { conversationIn } from './conversation.js';
import { createFormOf, following } from './message-form.js';
import { shownMessages } from './shown-messages.js';

/** A request about chats with one component. */
export interface Chat {
  readonly services: Services;
  readonly caller: Caller;
  readonly target: ComponentName;
  readonly headers: IncomingHttpHeaders;
  readonly disconnected: () => AbortSignal;
}

type StartedRun = Awaited<ReturnType<Services['runs']['create']>>;

/** More runs of a chat are not in progress at the same time. */
const mostInProgress = 20;

/** How many runs of one message may have ended before the message is taken for a new one each time. */
const mostEnded = 5;

/** How many runs of a chat are shown. */
const shownRuns = 100;

/** A message of the user starts a run; one of the assistant that comes back has answers to what its run waits for. */
export async function sendToChat(chat: Chat, body: ChatBody): Promise<EventStreamReply> {
  const last = body.messages.at(-1);
  if (last?.role === 'assistant') return answerRun(chat, body, last);
  if (last?.role !== 'user') throw refused('the last message must be one of the user, or of the assistant');
  const newest =
    body.messages.length > 1 || body.messageId || body.trigger === 'regenerate-message'
      ? await newestRun(chat, body.id)
      : undefined;
  const isAgain = body.trigger === 'regenerate-message' && chat.target.kind !== 'workflow';
  if (isAgain && newest !== undefined && isAnswerTo(newest.run, last, body) && isOver(newest.run))
    return streamOf(chat, await answerAgain(chat, newest.run));
  const start = (runId?: string) => startRun(chat, body, last, newest?.run, runId);
  const isNamed = body.trigger !== 'regenerate-message' && chat.headers['idempotency-key'] === undefined;
  return isNamed && last.id !== undefined
    ? startOnce(chat, body, last, start)
    : streamOf(chat, await start());
}

/**
 * The same message twice, as of a page that sends again what it believes lost, is one run: its id is made from the
 * message. Once that run has ended, the message asks for another one.
 */
async function startOnce(
  chat: Chat,
  body: ChatBody,
  message: UiMessage,
  start: (runId?: string) => Promise<StartedRun>,
): Promise<EventStreamReply> {
  const { caller, target } = chat;
  const { kind, componentId } = target;
  const said = [caller.userId ?? body.userId, kind, componentId, body.id, message.id, message.parts];
  let runId = '';
  for (let ended = 0; ended < mostEnded; ended++) {
    runId = idFrom(JSON.stringify([...said, runId]));
    try {
      return streamOf(chat, await start(runId));
    } catch (error) {
      if (errorCode(error) !== 'run_exists') throw error;
    }
    const known = await followedRun(chat, runId, body.id);
    if (known !== undefined) return known;
  }
  return streamOf(chat, await start());
}

function startRun(
  { services, caller, target, headers, disconnected }: Chat,
  body: ChatBody,
  message: UiMessage,
  newest: Run | undefined,
  runId: string | undefined,
): Promise<StartedRun> {
  const { traceparent, 'idempotency-key': key, [hopsHeader]: hops } = headers;
  const callerInput = callerInputOf(body, newest);
  const form = { ...createFormOf(body, message, caller.userId === null), ...(runId && { run_id: runId }) };
  return services.runs.create(caller, target, form, {
    ...(target.kind !== 'workflow' && { callerInput }),
    ...(typeof key === 'string' && { idempotencyKey: key }),
    ...(typeof traceparent === 'string' && { traceParent: traceparent }),
    ...(message.id !== undefined && { clientMessage: { messageId: message.id } }),
    hops,
    disconnected,
  });
}

/**
 * The model sees the stored runs of the chat as long as they are what the client shows. A message that was edited, or an
 * earlier answer that was asked for again, begins another conversation: from then on it sees the one of the client.
 */
function callerInputOf({ messages, tools = [] }: ChatBody, newest: Run | undefined): CallerInput {
  const shown = messages.findLast(({ role }) => role === 'assistant')?.id;
  const isStored =
    messages.length === 1 ||
    newest === undefined ||
    (newest.runId === shown && newest.input.options.callerInput?.conversation === undefined);
  return {
    isChat: true,
    ...(!isStored && { conversation: { messages: conversationIn(messages.slice(0, -1)) } }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, inputSchema = { type: 'object' } }) => ({
        name,
        inputSchema,
        ...(description !== undefined && { description }),
      })),
    }),
  };
}

/** The page names the answer, or leaves it out and ends with the message that it answers. */
function isAnswerTo({ runId, input }: Run, message: UiMessage, { messageId }: ChatBody): boolean {
  const answered = input.options.clientMessage?.messageId;
  return runId === messageId || (answered !== undefined && answered === message.id);
}

/** The last answer once more: the run that gives it takes the place of the first one. */
function answerAgain({ services, caller, target, disconnected }: Chat, run: Run): Promise<StartedRun> {
  const form = { ...following, regenerate: true, session_id: run.sessionId };
  return services.runs.continueRun(caller, { ...target, runId: run.runId }, form, { disconnected });
}

/** The message has the id of its run. */
async function answerRun(chat: Chat, body: ChatBody, message: UiMessage): Promise<EventStreamReply> {
  const { services, caller, target, disconnected } = chat;
  const place = { ...target, runId: message.id ?? '', sessionId: body.id };
  const view = await services.runs.journal(caller, place);
  if (view.run.status !== 'paused')
    throw refused(
      `the run of the last message waits for no answer: it is ${view.run.status}. Send a message of the user`,
    );
  const { form, calls } = answerFormOf(
    view.run.kind,
    await services.runs.body(view, 'runyard'),
    message,
    body,
  );
  const started = await services.runs.continueRun(
    caller,
    place,
    { ...form, ...following, session_id: body.id },
    { disconnected },
  );
  return streamOf(chat, started, calls);
}

function streamOf(chat: Chat, started: StartedRun, answered: readonly string[] = []): EventStreamReply {
  const { services, target } = chat;
  const { runId, sessionId } = started.handle.run;
  return chatStream({
    kind: target.kind,
    runId,
    sessionId,
    answered,
    events: started.events(),
    steps: async () => (await journalOf(chat, runId)).steps,
    rested: async () => {
      // another process may have taken the run over, and ended it
      const ended = await services.runs.ended(started).catch(() => undefined);
      return restedRun(chat, ended ?? (await journalOf(chat, runId)));
    },
  });
}

/** The run in progress from its beginning: the client builds its message anew. */
export async function resumeChat(chat: Chat, chatId: string): Promise<EventStreamReply | Reply> {
  const newest = await newestRun(chat, chatId);
  if (newest === undefined || newest.run.status === 'paused') return reply(204);
  return (await followedRun(chat, newest.run.runId, newest.run.sessionId)) ?? reply(204);
}

/** Undefined for a run that has ended. */
async function followedRun(
  chat: Chat,
  runId: string,
  sessionId: string,
): Promise<EventStreamReply | undefined> {
  const { services, caller, target } = chat;
  const found = await services.runs.follow(caller, { ...target, runId, sessionId }, -1);
  if (found === undefined || isOver(found)) return undefined;
  return chatStream({
    kind: target.kind,
    runId,
    sessionId,
    events: found.events(),
    steps: async () => (await journalOf(chat, runId)).steps,
    rested: async () => restedRun(chat, await journalOf(chat, runId)),
  });
}

/** Cancels the last run of the chat that has not ended: a page may have left it and have sent another message. */
export async function cancelChat(chat: Chat, chatId: string): Promise<unknown> {
  const { services, caller, target } = chat;
  const place = { ...target, sessionId: chatId };
  const { runs } = await services.runs.page(caller, place, { limit: mostInProgress });
  let meant: Run | undefined;
  for await (const { run } of runs) {
    meant ??= run;
    if (isOver(meant) && !isOver(run)) meant = run;
  }
  if (meant === undefined) throw errors.sessionNotFound();
  const { runId, sessionId, status } = meant;
  if (isOver(meant)) return { run_id: runId, status };
  await services.runs.cancel(caller, { ...target, runId, sessionId });
  return { run_id: runId, status: (await journalOf(chat, runId)).run.status };
}

/** For a page that is opened again: what `useChat` takes as its messages. */
export async function shownChat(chat: Chat, chatId: string): Promise<unknown> {
  const { services, caller, target } = chat;
  const { runs } = await services.runs.page(caller, { ...target, sessionId: chatId }, { limit: shownRuns });
  const messages: unknown[][] = [];
  for await (const view of runs) messages.push(await shownMessages(services.runs, view));
  return { messages: messages.reverse().flat() };
}

function journalOf({ services, caller, target }: Chat, runId: string): Promise<RunJournal> {
  return services.runs.journal(caller, { ...target, runId });
}

/** Undefined while the run is executed, or waits for a process. */
async function restedRun({ services }: Chat, view: RunJournal): Promise<RestedRun | undefined> {
  if (!isOver(view.run) && view.run.status !== 'paused') return undefined;
  return { view, body: await services.runs.body(view, 'runyard') };
}

async function newestRun(
  { services, caller, target }: Chat,
  chatId: string,
): Promise<RunJournal | undefined> {
  try {
    const { runs } = await services.runs.page(caller, { ...target, sessionId: chatId }, { limit: 1 });
    for await (const view of runs) return view;
  } catch (error) {
    if (errorCode(error) !== 'session_not_found') throw error;
  }
  return undefined;
}

function isOver({ status }: Pick<Run, 'status'>): boolean {
  return terminalStatuses.has(status);
}

function refused(message: string): Error {
  const loc = ['body', 'messages'];
  return errors.invalidRequest([{ type: 'value_error', loc, msg: `Value error, ${message}`, input: null }]);
}
