import type { RunsService } from '../../capabilities/runs/service.js';
import { errorCode } from '../../core/errors/error-code.js';
import { errors } from '../../core/errors/errors.js';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.js';
import { type Run, terminalStatuses } from '../../core/runs/run.js';
import type { EventReader } from '../../platform/http/response/event-reader.js';
import { answeredRun, answersIn, continueFormOf } from './answers/continue-form.js';
import { Waiting } from './answers/interrupts.js';
import type { AguiCall } from './call.js';
import type { AguiEvent, AguiMessage } from './events/agui-event.js';
import { RunEvents } from './events/run-events.js';
import { RunStream, shortStream } from './events/run-stream.js';
import { statePatch } from './events/state-patch.js';
import { madeMedia } from './made-media.js';
import { callerInputOf, createFormOf, textOf } from './run-form.js';
import { type InputMessage, isModern, lastUserMessage } from './run-input.js';
import { answersIn as modelAnswersIn, runsOfThread, threadMessages, userMessage } from './thread-messages.js';

type StartedRun = Awaited<ReturnType<RunsService['create']>>;
type Events = ReturnType<StartedRun['events']>;

/** A stream, and the run that it shows. */
export interface Answer {
  readonly source: EventReader;
  readonly runId?: string;
}

/** Starts a run, continues the one that the request answers, or follows the one that it began before. */
export async function run(call: AguiCall): Promise<Answer> {
  const answers = answersIn(call);
  if (answers !== undefined) {
    const waiting = await answeredRun(call, answers);
    return answer(call, waiting, continueFormOf(waiting, answers));
  }
  const known = await followed(call);
  return known ?? start(call);
}

async function start(call: AguiCall): Promise<Answer> {
  const { services, caller, target, traceParent, disconnected } = call;
  const callerInput = callerInputOf(call);
  const messageId = lastUserMessage(call.input)?.id;
  const before = await services.runs.sessionState(caller, { ...target, sessionId: call.input.threadId });
  const started = await services.runs
    .create(caller, target, createFormOf(call), {
      traceParent,
      disconnected,
      ...(callerInput && { callerInput }),
      ...(messageId && { clientMessage: { messageId } }),
    })
    .catch(async (error: unknown) => {
      // two requests for the same run at the same time: one of them begins it
      const known = errorCode(error) === 'run_exists' ? await followed(call) : undefined;
      if (known === undefined) throw error;
      return known;
    });
  if ('source' in started) return started;
  const { state } = call.input;
  // what the run changes comes as deltas
  const initial = { ...before, ...(isJsonObject(state) && state) };
  return shown(call, started.handle.run, started.events(), { initial });
}

async function answer(
  call: AguiCall,
  waiting: Waiting,
  form: ReturnType<typeof continueFormOf>,
): Promise<Answer> {
  const { services, caller, target, disconnected } = call;
  const { run: paused, calls } = waiting;
  const place = { ...target, runId: paused.runId, sessionId: paused.sessionId };
  if (form === undefined) {
    await services.runs.cancel(caller, place);
    return followedAt(call, paused.runId, paused.nextEventIndex - 1, {});
  }
  const view = await services.runs.journal(caller, place);
  const initial = await stateOf(call, paused);
  const started = await services.runs.continueRun(caller, place, form, { disconnected });
  return shown(call, started.handle.run, started.events(), {
    initial,
    shownCalls: calls.map(({ tool_call_id: id }) => id),
    shownAnswers: modelAnswersIn(view),
    // no run has more answers than events
    innerFrom: paused.nextEventIndex,
  });
}

/** The run that the request names, if it was begun by the same message. */
async function followed(call: AguiCall): Promise<Answer | undefined> {
  const { services, caller, target, input } = call;
  const { runId, threadId } = input;
  const found = await services.runs.follow(caller, { ...target, runId, sessionId: threadId }, -1);
  if (found === undefined) return undefined;
  const message = lastUserMessage(input);
  if (message !== undefined && !began(found.run, message)) throw errors.runExists(runId);
  const at = message === undefined ? -1 : input.messages.lastIndexOf(message);
  // the protocol has no messages without an id
  const messages = input.messages
    .slice(0, at + 1)
    .filter(({ id }) => id)
    .map(sentMessage);
  return shown(call, found.run, found.events(), { messages: async () => messages });
}

/** Whether the run was begun by this message. One without an id is known by its text. */
function began({ input }: Run, { id, content }: InputMessage): boolean {
  const { messageId } = input.options.clientMessage ?? {};
  return (id || undefined) === messageId && (messageId !== undefined || textOf(content) === input.content);
}

/** A message of the request, as it was sent. */
function sentMessage(message: InputMessage): AguiMessage {
  // the body of the request was JSON
  return message as unknown as AguiMessage;
}

/**
 * Shows a client that comes back the thread as it is: its messages and its state, what runs in it, or what its last run
 * waits for. A thread without runs is empty, not unknown: clients connect before they send the first message.
 */
export async function connect(call: AguiCall): Promise<Answer> {
  const { runs } = await runsOfThread(call, 1);
  for await (const { run: last } of runs) {
    const rests = terminalStatuses.has(last.status) || last.status === 'paused';
    return rests ? rested(call, last) : running(call, last);
  }
  return { source: shortStream([startedEvent(call), finished(call, { type: 'success' })]) };
}

async function rested(call: AguiCall, last: Run): Promise<Answer> {
  const { runId } = last;
  const messages = await threadMessages(call);
  const encoder = new RunEvents(bareOptions(call, last));
  const state = await stateOf(call, last);
  const end = await restEvents(call, last, encoder, { isReplay: true });
  const events = [
    startedEvent(call, last),
    { type: 'MESSAGES_SNAPSHOT', messages },
    ...snapshotOf(call, state),
    ...end,
  ];
  return { source: shortStream(events), runId };
}

async function running(call: AguiCall, { runId }: Run): Promise<Answer> {
  return followedAt(call, runId, -1, {
    messages: async (current) => [...(await threadMessages(call, runId)), userMessage(current)],
  });
}

async function followedAt(call: AguiCall, runId: string, after: number, shows: Shows): Promise<Answer> {
  const { services, caller, target, input } = call;
  const place = { ...target, runId, sessionId: input.threadId };
  const found = await services.runs.follow(caller, place, after);
  if (found === undefined) throw errors.runNotFound();
  return shown(call, found.run, found.events(), shows);
}

/** More runs of a thread are not in progress at the same time. */
const mostInProgress = 20;

/**
 * Cancels the run of the thread that the request names. A stream that continues a paused run has an id that no run has:
 * then, and without an id, it is the last run in progress.
 */
export async function cancel(call: AguiCall): Promise<{ readonly run_id: string }> {
  const { services, caller, target, input } = call;
  const { runs } = await runsOfThread(call, mostInProgress);
  let meant: Run | undefined;
  for await (const { run: one } of runs) {
    if (terminalStatuses.has(one.status)) continue;
    if (meant === undefined || one.runId === input.runId) meant = one;
  }
  if (meant === undefined) throw errors.runNotFound();
  await services.runs.cancel(caller, { ...target, runId: meant.runId, sessionId: meant.sessionId });
  return { run_id: meant.runId };
}

interface Shows {
  /** The messages that the client is to have before those of the run. Left out: it has them. */
  readonly messages?: (current: Run) => Promise<readonly AguiMessage[]>;
  /** The state before what the stream shows. Left out: as it is when the stream begins. */
  readonly initial?: JsonObject;
  readonly shownCalls?: readonly string[];
  readonly shownAnswers?: number;
  readonly innerFrom?: number;
}

function bareOptions(call: AguiCall, { runId }: Run) {
  return {
    runId,
    isModern: isModern(call.input),
    stateChange: async () => [],
    earlier: async () => [],
  };
}

/** The stream of a run. */
function shown(call: AguiCall, shownRun: Run, events: Events, shows: Shows): Answer {
  const { runId } = shownRun;
  let known: JsonObject = {};
  const encoder = new RunEvents({
    ...bareOptions(call, shownRun),
    ...(shows.shownCalls && { shownCalls: shows.shownCalls }),
    ...(shows.shownAnswers !== undefined && { shownAnswers: shows.shownAnswers }),
    ...(shows.innerFrom !== undefined && { innerFrom: shows.innerFrom }),
    stateChange: async () => {
      const state = await stateOf(call, shownRun);
      const delta = statePatch(known, state);
      known = state;
      return delta.length === 0 ? [] : [{ type: 'STATE_DELTA', delta }];
    },
    earlier: async () => [...(await threadMessages(call, runId)), userMessage(shownRun)],
  });
  const source = new RunStream({
    events,
    encoder,
    first: async () => {
      const messages = await shows.messages?.(shownRun);
      known = shows.initial ?? (await stateOf(call, shownRun));
      const isGiven = isJsonObject(call.input.state);
      return [
        startedEvent(call, shownRun),
        ...(messages ? [{ type: 'MESSAGES_SNAPSHOT', messages: [...messages] }] : []),
        // the deltas of the stream are changes of what the client has
        ...(isGiven || Object.keys(known).length > 0 ? [{ type: 'STATE_SNAPSHOT', snapshot: known }] : []),
      ];
    },
    last: () => restEvents(call, shownRun, encoder, { known }),
  });
  return { source, runId };
}

/** How the run ended, or what it waits for. */
async function restEvents(
  call: AguiCall,
  { runId, sessionId }: Run,
  encoder: RunEvents,
  { isReplay = false, known = {} }: { isReplay?: boolean; known?: JsonObject },
): Promise<AguiEvent[]> {
  const { services, caller, target } = call;
  const view = await services.runs.journal(caller, { ...target, runId, sessionId });
  const { status, result } = view.run;
  const usage = encoder.usage.length > 0 ? { usage: [...encoder.usage] } : {};
  const state = isReplay ? [] : snapshotOf(call, await stateOf(call, view.run), known);
  switch (status) {
    case 'pending':
    case 'running':
      return [];
    case 'error':
      return [
        ...encoder.end('failed'),
        {
          type: 'RUN_ERROR',
          message: result?.error?.message ?? 'The run failed.',
          code: result?.error?.type ?? 'error',
          ...usage,
        },
      ];
    case 'cancelled':
      return [...encoder.end('cancelled'), ...state, finished(call, { type: 'cancelled' }, usage)];
    case 'paused': {
      const body = await services.runs.body(view, 'runyard');
      const waiting = new Waiting(view.run, body);
      const interrupts = waiting.interrupts();
      const clientCalls = waiting.clientCalls();
      const words = interrupts.length === 0 ? '' : waiting.questions.map(({ message }) => message).join('\n');
      // clients before 1.0 know interrupts, and refuse `pendingToolCallIds`
      const pending: JsonObject = isModern(call.input) ? { pendingToolCallIds: clientCalls } : {};
      const outcome: JsonObject =
        interrupts.length > 0 ? { type: 'interrupt', interrupts } : { type: 'success', ...pending };
      return [
        ...(isReplay ? [] : encoder.waiting(words, waiting.calls, view.run.nextEventIndex)),
        ...encoder.end('waiting'),
        ...state,
        finished(call, outcome, usage),
      ];
    }
    default: {
      const content = result?.content;
      const isText = typeof content === 'string' || content === null || content === undefined;
      const { id: messageId, ...made } = (isReplay ? undefined : await madeMedia(call, view.run)) ?? {};
      return [
        ...(isReplay ? [] : encoder.answer(content)),
        ...encoder.end('completed'),
        ...(messageId === undefined ? [] : [{ type: 'ACTIVITY_SNAPSHOT', messageId, ...made }]),
        ...state,
        finished(call, { type: 'success' }, { ...(!isText && { result: content }), ...usage }),
      ];
    }
  }
}

function startedEvent({ input }: AguiCall, shownRun?: Run): AguiEvent {
  const { threadId, runId } = input;
  const differs = shownRun !== undefined && shownRun.runId !== runId;
  return {
    type: 'RUN_STARTED',
    threadId,
    runId,
    ...(isModern(input) && { protocolVersion: '1.0' }),
    // the run API has the run under this id
    ...(differs && isModern(input) && { metadata: { runyard: { runId: shownRun.runId } } }),
  };
}

type Fields = Readonly<Record<string, Json | undefined>>;

function finished({ input }: AguiCall, outcome: JsonObject, more: Fields = {}): AguiEvent {
  const { threadId, runId } = input;
  return { type: 'RUN_FINISHED', threadId, runId, outcome, ...more };
}

/** The state, unless it is empty and the client has nothing in the place of it either. */
function snapshotOf({ input }: AguiCall, state: JsonObject, known: JsonObject = {}): AguiEvent[] {
  const has = (one: unknown) => isJsonObject(one) && Object.keys(one).length > 0;
  return [state, known, input.state].some(has) ? [{ type: 'STATE_SNAPSHOT', snapshot: state }] : [];
}

function stateOf({ services, caller }: AguiCall, shownRun: Run): Promise<JsonObject> {
  return services.runs.sessionState(caller, shownRun);
}
