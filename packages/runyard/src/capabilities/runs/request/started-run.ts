import { conversationOf } from '../../../core/agents/continuation/conversation.js';
import { shownHistory } from '../../../core/agents/transcript.js';
import { errors, isFenced } from '../../../core/errors/errors.js';
import type { EventReader } from '../../../core/runs/events/event-reader.js';
import { RunReleased } from '../../../core/runs/executable.js';
import type { RunHandle } from '../../../core/runs/execution/run-handle.js';
import { ownSteps } from '../../../core/runs/journal/child-steps.js';
import type { CancelRequest } from '../../../core/runs/journal/ports.js';
import { type EndedRun, type Run, type RunStatus, terminalStatuses } from '../../../core/runs/run.js';
import { shownRunsOf } from '../../../core/traces/trace-source.js';
import type { RunSpace } from '../../capability.js';
import { contentFilter } from '../events/stream-events.js';
import type { FollowFields } from '../schema.js';

/** A run that a request started, continued, or asked for once more. */
export interface StartedRun {
  readonly space: RunSpace;
  readonly handle: RunHandle;
  readonly stream: boolean;
  readonly background: boolean;
  /** What the run was when it was acknowledged. */
  readonly status: RunStatus;
  /** It had begun before this request: its body shows what happened until then. */
  readonly continued: boolean;
  /** The first event that belongs to what was asked for. */
  readonly fromIndex: number;
  /** What the reader of the stream is to be shown. */
  events(): EventReader;
}

/** How the caller follows the run: a part of each request that starts a run or continues one. */
export interface Following {
  readonly stream: boolean;
  readonly background: boolean;
  /** The stream carries only content, and what a reader must not miss. */
  readonly contentOnly: boolean;
  readonly cancelsOnDisconnect: boolean;
}

export function followingOf(form: FollowFields, onDisconnect: 'continue' | 'cancel'): Following {
  const background = form.background ?? false;
  return {
    background,
    stream: form.stream ?? !background,
    contentOnly: form.stream_events === false,
    cancelsOnDisconnect: !background && (form.on_disconnect ?? onDisconnect) === 'cancel',
  };
}

export function startedRun(
  space: RunSpace,
  handle: RunHandle,
  { stream, background, contentOnly, cancelsOnDisconnect }: Following,
  { fromIndex = 0, status = handle.run.status, continued = false } = {},
): StartedRun {
  return {
    space,
    handle,
    stream,
    background,
    status,
    continued,
    fromIndex,
    events() {
      const wanted = contentOnly ? contentFilter(handle.run) : undefined;
      const reader = handle.events(fromIndex, wanted);
      if (cancelsOnDisconnect) reader.onClosed(() => handle.cancel('The client left the stream'));
      return reader;
    },
  };
}

/** A run that exists already, wherever it is executed: its end can be waited for like that of one that began here. */
export function attachedTo({ engine, runs }: RunSpace, run: Run): RunHandle {
  const live = engine.handle(run.runId);
  if (live !== undefined) return live;
  const events: RunHandle['events'] = (fromIndex = 0, filter) => engine.events(run.runId, fromIndex, filter);
  const ended = () => endElsewhere(run.runId, events(run.nextEventIndex), runs);
  return {
    runId: run.runId,
    run,
    get ended() {
      return ended();
    },
    get reported() {
      return ended();
    },
    stored: () => Promise.resolve(),
    events,
    cancel: (reason) => void engine.cancel(run.runId, cancelRequestOf(run, reason)).catch(() => {}),
  };
}

/** Waits for the end of a run, also when another process took it over in between. */
export function endOf(space: RunSpace, handle: RunHandle): Promise<EndedRun> {
  return handle.reported.catch((error: unknown) => {
    if (!isFenced(error)) throw error;
    return attachedTo(space, handle.run).ended;
  });
}

function cancelRequestOf(run: Run, reason: string): CancelRequest {
  const { runId, kind, componentId, sessionId, userId } = run;
  return { runId, kind, componentId, sessionId, userId, reason, requestedAt: Date.now() };
}

async function endElsewhere(runId: string, reader: EventReader, runs: RunSpace['runs']): Promise<EndedRun> {
  while ((await reader.next()) !== null);
  const stored = await runs.load(runId);
  if (stored === undefined) throw errors.runNotFound();
  const { status } = stored.run;
  if (!terminalStatuses.has(status) && status !== 'paused') throw new RunReleased();
  const { context } = conversationOf(stored.steps);
  return {
    ...stored,
    history: shownHistory(context, await runs.loadAll(shownRunsOf(ownSteps(stored.steps)))),
  };
}
