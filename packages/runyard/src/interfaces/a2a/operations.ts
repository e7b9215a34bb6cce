import type { RunsService } from '../../capabilities/runs/service.js';
import { errors } from '../../core/errors/errors.js';
import type { JsonObject } from '../../core/json.js';
import { hopsHeader, terminalStatuses } from '../../core/runs/run.js';
import { answerFormOf } from './answer-form.js';
import { type A2aCall, type Answer, assertMayRead, assertMayRun, type Operations } from './call.js';
import type { GivenMessage, GivenSend } from './dialects/dialect.js';
import { countIn, requiredTextIn, textIn } from './dialects/read-params.js';
import { listTasks } from './list-tasks.js';
import { createFormOf, type Following, keptMessageOf } from './message-form.js';
import type { Task, TaskPlace } from './task.js';
import { TaskStream } from './task-stream.js';
import { type RunJournal, stateOf, taskHead, taskOf } from './task-view.js';

type StartedRun = Awaited<ReturnType<RunsService['create']>>;

/** What every client may ask for. Runs are started, followed, continued and cancelled as everywhere. */
export const operations: Operations = {
  send,
  stream,
  get: async (call, params) => {
    assertMayRead(call);
    const view = await call.services.runs.journal(call.caller, placeIn(call, params));
    return {
      result: call.dialect.task(await shown(call, view), { historyLength: countIn(params, 'historyLength') }),
    };
  },
  list: listTasks,
  cancel,
  subscribe,
};

async function send(call: A2aCall, params: JsonObject): Promise<Answer> {
  const given = call.dialect.readSend(params);
  const { waits, historyLength } = given.configuration;
  const started = await begin(call, given, waits ? { stream: false } : { stream: false, background: true });
  const { run } = started.handle;
  const { runId } = run;
  if (waits) {
    const task = await shown(call, await call.services.runs.ended(started));
    return { result: call.dialect.sent(task, { historyLength }), runId };
  }
  // what is acknowledged is what the client has to ask for again
  const task = taskHead({ run: { ...run, status: started.status }, steps: [] });
  const status = call.dialect.version === '0.3' ? 202 : 200;
  return { result: call.dialect.sent(task, { historyLength }), runId, status };
}

/** A client that disconnects subscribes again: its run continues, whatever the setting for streams of the REST API is. */
async function stream(call: A2aCall, params: JsonObject): Promise<Answer> {
  const given = call.dialect.readSend(params);
  const started = await begin(call, given, { stream: true, on_disconnect: 'continue' });
  const { run } = started.handle;
  return framesOf(call, { run, steps: [] }, started.events(), async () => {
    const ended = await call.services.runs.ended(started).catch(() => undefined);
    // another process may have taken the run over, and ended it
    return ended === undefined ? restedTask(call, { ...call.target, runId: run.runId }) : shown(call, ended);
  });
}

/** Starts the run of a message, or continues the one that the message answers. */
async function begin(call: A2aCall, given: GivenSend, following: Following): Promise<StartedRun> {
  assertMayRun(call);
  const { message, configuration } = given;
  const attach = configuration.push && attachment(call, configuration.push);
  const started = await (message.taskId === undefined
    ? startRun(call, message, following)
    : answerTask(call, message, message.taskId, following));
  await attach?.({ ...call.target, runId: started.handle.run.runId });
  return started;
}

/** Refuses what cannot be registered while no run has begun. */
function attachment(call: A2aCall, config: JsonObject): (task: TaskPlace) => Promise<void> {
  const { attach } = call.operations;
  if (attach === undefined) throw errors.pushNotificationsOff();
  return attach(call, config);
}

function startRun(call: A2aCall, message: GivenMessage, following: Following): Promise<StartedRun> {
  const { services, caller, target, headers } = call;
  const form = createFormOf(message, namedUser(call, message), following);
  const { traceparent, 'idempotency-key': key, [hopsHeader]: hops } = headers;
  return services.runs.create(caller, target, form, {
    ...(typeof key === 'string' && { idempotencyKey: key }),
    ...(typeof traceparent === 'string' && { traceParent: traceparent }),
    hops,
    clientMessage: keptMessageOf(message),
    disconnected: call.disconnected,
  });
}

/** Only a caller without a name of their own may say whom a run belongs to. */
function namedUser({ caller, headers }: A2aCall, { metadata }: GivenMessage): string | undefined {
  const named = headers['x-user-id'] ?? metadata?.userId;
  return caller.userId === null && typeof named === 'string' && named !== '' ? named : undefined;
}

async function answerTask(
  call: A2aCall,
  message: GivenMessage,
  taskId: string,
  following: Following,
): Promise<StartedRun> {
  const { services, caller, target } = call;
  const place: TaskPlace = { ...target, runId: taskId, sessionId: message.contextId };
  const view = await services.runs.journal(caller, place);
  if (view.run.status !== 'paused')
    throw errors.unsupportedOperation(
      `The task waits for no answer: it is ${stateOf(view.run)}. Leave out taskId to begin another task in this context.`,
    );
  return services.runs.continueRun(caller, place, answerFormOf(view, message.parts, following), {
    disconnected: call.disconnected,
  });
}

async function cancel(call: A2aCall, params: JsonObject): Promise<Answer> {
  assertMayRun(call);
  const { services, caller, dialect } = call;
  const place = placeIn(call, params);
  const found = await services.runs.follow(caller, place, -1);
  if (found === undefined) {
    // clients of AgentOS cancel a run before it begins
    if (!call.isLegacy) throw errors.runNotFound('Task not found');
    await services.runs.cancel(caller, place);
    const contextId = place.sessionId ?? '';
    return { result: { kind: 'task', id: place.runId, contextId, status: { state: 'canceled' } } };
  }
  if (terminalStatuses.has(found.status)) throw errors.taskNotCancelable(stateOf(found));
  await services.runs.cancel(caller, place);
  return { result: dialect.task(await shown(call, await services.runs.journal(caller, place))) };
}

async function subscribe(call: A2aCall, params: JsonObject): Promise<Answer> {
  assertMayRead(call);
  const { services, caller } = call;
  const place = placeIn(call, params);
  const found = await services.runs.follow(caller, place, -1);
  if (found === undefined) throw errors.runNotFound('Task not found');
  const { run, status } = found;
  if (terminalStatuses.has(status))
    throw errors.unsupportedOperation(`The task is ${stateOf(found)}. Get it instead of subscribing to it.`);
  // what a paused run waits for is in its journal
  const steps = status === 'paused' ? (await services.runs.journal(caller, place)).steps : [];
  return framesOf(call, { run: { ...run, status }, steps }, found.events(), () => restedTask(call, place));
}

/** Undefined while the run is executed, or waits for a process. */
async function restedTask(call: A2aCall, place: TaskPlace): Promise<Task | undefined> {
  const view = await call.services.runs.journal(call.caller, place);
  const rests = terminalStatuses.has(view.run.status) || view.run.status === 'paused';
  return rests ? shown(call, view) : undefined;
}

function framesOf(
  call: A2aCall,
  view: RunJournal,
  events: ConstructorParameters<typeof TaskStream>[0]['events'],
  rested: () => Promise<Task | undefined>,
): Answer {
  const task = taskHead(view);
  const encoder = call.dialect.encoder(task);
  return { frames: new TaskStream({ task, events, encoder, rested }), runId: task.id };
}

/** A task is found by its id alone; if its context is named, it has to be in it. */
function placeIn({ target }: A2aCall, params: JsonObject): TaskPlace {
  const runId = requiredTextIn(params, 'id', 'Task ID (params.id)');
  return { ...target, runId, sessionId: textIn(params, 'contextId') };
}

function shown({ services }: A2aCall, view: RunJournal): Promise<Task> {
  return taskOf(view, (media) => services.runs.showMedia(view.run, media));
}
