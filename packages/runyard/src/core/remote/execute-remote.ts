import { runStarted } from '../agents/agent-events.js';
import { continueRecordOf } from '../agents/continuation/conversation.js';
import { contextRecord } from '../agents/journal-records.js';
import { metricsOf } from '../agents/metrics.js';
import { withinTime } from '../async/abort.js';
import { newId } from '../ids.js';
import type { RunContext } from '../runs/context.js';
import { readIf } from '../runs/journal/codec.js';
import type { RunResult } from '../runs/run.js';
import { followRemote, type RemoteLeg } from './follow-remote.js';
import { type RemoteRest, remoteRest, remoteStart, remoteTask } from './journal-records.js';
import { objectsIn, restOf } from './remote-body.js';
import type { RemoteComponent } from './remote-component.js';
import { RemoteEvents } from './remote-events.js';
import { failureOfRest, remoteFailure, remoteTimeout } from './remote-failures.js';
import { openIds } from './remote-requirements.js';
import {
  type RemoteAnswers,
  type RemoteEvent,
  RemoteFault,
  type RemoteMedia,
  type RemoteRef,
  type RemoteRun,
  taskEvent,
} from './remote-service.js';
import { RemoteTranscript } from './remote-transcript.js';

/**
 * Runs an agent or a team of another service. The run there is a number of legs, each to its next pause or its end, and
 * each a step: a process that takes the run over finds the remote run by its id and follows it, it never starts another.
 */
export async function executeRemote(component: RemoteComponent, context: RunContext): Promise<RunResult> {
  const { entry, run } = context;
  const model = component.model ?? { id: component.remote.id, provider: 'remote' };
  const started = runStarted(model, entry === 'recovered');
  context.emit(entry === 'continued' ? { event: 'RunContinued' } : started, `started:${run.attempt}`);
  await context.step('context', { kind: 'context', name: 'context', record: contextRecord }, async () => ({
    system: null,
    user: run.input.content,
    history: [],
  }));
  const transcript = new RemoteTranscript(component, context);
  const where = inWords(component);
  let before: RemoteRest | undefined;
  let answers: RemoteAnswers | undefined;
  for (let leg = 0; ; leg += 1) {
    const rest = await performLeg(component, context, { leg, before, answers });
    await transcript.add(rest, leg);
    if (rest.status === 'completed') {
      context.emit({ event: 'RunContentCompleted' }, 'content-completed');
      return { ...resultOf(rest, context), metrics: metricsOf(model, context) };
    }
    if (rest.status !== 'paused') throw failureOfRest(where, rest);
    answers = await transcript.ask(rest, leg);
    before = rest;
  }
}

export function inWords({ kind, remote }: RemoteComponent): string {
  return `The ${kind} '${remote.id}' at ${remote.service.address}`;
}

interface LegRequest {
  readonly leg: number;
  readonly before: RemoteRest | undefined;
  /** What the leg before asked. */
  readonly answers: RemoteAnswers | undefined;
}

/** One leg as a step of the journal. */
export async function performLeg(
  component: RemoteComponent,
  context: RunContext,
  { leg, before, answers }: LegRequest,
): Promise<RemoteRest> {
  const { remote } = component;
  const key = `remote:${leg}`;
  const expected = { kind: 'remote', name: remote.id } as const;
  const earlier = context.recorded(key, expected);
  const ref: RemoteRef = before ?? readIf(earlier, remoteStart) ?? newRef(context);
  const input = { runId: ref.runId, sessionId: ref.sessionId };
  const task = readIf(context.recorded(taskKey), remoteTask);
  return context.step(key, { ...expected, input, record: remoteRest }, async ({ signal }) => {
    const begin =
      answers === undefined ? { start: { ...input, ...(await startOf(component, context)) } } : { answers };
    // the id of the remote run is durable before that run exists
    if (before === undefined) await context.stored();
    const events = new RemoteEvents(context, input, key);
    const followed: RemoteLeg = {
      ref: { ...input, ...task },
      begin,
      begun: earlier !== undefined,
      afterIndex: before?.lastIndex ?? -1,
      isOpen: (run) => before !== undefined && waitsForTheSame(run, before),
    };
    const { service, timeoutMs, reconnectMs } = remote;
    const timeout = () => remoteTimeout(inWords(component), timeoutMs);
    try {
      const { run, lastIndex } = await withinTime(
        { timeoutMs, signal, timers: context.timers, timeout },
        (within) =>
          followRemote(
            {
              service,
              reconnectMs,
              timers: context.timers,
              signal: within,
              heard: (event) => (event.name === taskEvent ? keepTask(context, event) : events.heard(event)),
            },
            followed,
          ),
      );
      return await restOf(run, lastIndex, input, context.ports.media);
    } catch (error) {
      throw remoteFailure(inWords(component), error);
    }
  });
}

/** The step that holds the id which the service gave the run. */
export const taskKey = 'remote:task';

/** It is stored soon: a process that takes the run over need not search for it. */
async function keepTask(context: RunContext, { fields }: RemoteEvent): Promise<void> {
  const spec = { kind: 'decision', name: 'task', record: remoteTask } as const;
  await context.step(taskKey, spec, async () => ({ taskId: String(fields.task_id) }));
  await context.stored();
}

/** A run inside another one has a session of its own there: a session belongs to one component. */
function newRef({ run, root }: RunContext): RemoteRef {
  const sessionId = run.runId === root.runId ? run.sessionId : `${run.sessionId}:${run.componentId}`;
  return { runId: newId(), sessionId };
}

function waitsForTheSame(run: RemoteRun, before: RemoteRest): boolean {
  if (run.status !== 'paused') return false;
  const now = [run.body.requirements, run.body.step_requirements, run.body.error_requirements];
  return openIds(now.flatMap(objectsIn)).join() === openIds(before.requirements).join();
}

/** Through how many services a run may pass. Components that lead back to each other would pass it on for ever. */
const mostHops = 16;

async function startOf(component: RemoteComponent, context: RunContext) {
  const { remote } = component;
  const { run, root, options, ports } = context;
  const hops = (root.input.options.hops ?? 0) + 1;
  if (hops > mostHops)
    throw remoteFailure(
      inWords(component),
      new RemoteFault(
        'refused',
        `${mostHops} services have passed the run on: do they lead back to each other?`,
      ),
    );
  // a copy, or a run that continues, says what came with the last request
  const said = context.steps('continue').findLast((step) => continueRecordOf(step).input !== null);
  const media = await Promise.all(
    run.input.media.map(async (one): Promise<RemoteMedia> => {
      const bytes = one.hash === undefined ? undefined : await ports.media.get(one.hash);
      return { media: one, ...(bytes !== undefined && { bytes }) };
    }),
  );
  return {
    message: (said && continueRecordOf(said).input) ?? run.input.content,
    media,
    userId: remote.forwardUser ? (run.userId ?? undefined) : undefined,
    options,
    hops,
  };
}

function resultOf(rest: RemoteRest, context: RunContext): RunResult {
  const { content, contentType, reasoning, media, metadata } = rest;
  return {
    content,
    contentType,
    ...(reasoning !== undefined && { reasoningContent: reasoning }),
    ...(media !== undefined && { media }),
    ...(metadata !== undefined && { metadata }),
    modelProviderData: { remote_run_id: rest.runId, remote_session_id: rest.sessionId },
    sessionState: context.state.all(),
  };
}
