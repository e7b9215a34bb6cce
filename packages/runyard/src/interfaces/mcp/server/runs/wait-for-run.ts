import type { RunsService } from '../../../../capabilities/runs/service.js';
import { untilAborted } from '../../../../core/async/abort.js';
import { errorCode } from '../../../../core/errors/error-code.js';
import type { ToolRequest } from '../mcp-tool.js';
import { requestCancelled } from '../tool-errors.js';
import type { Progress } from './progress.js';
import type { ComponentPlace } from './run-place.js';

export type StartedRun = Awaited<ReturnType<RunsService['create']>>;
export type RunView = Awaited<ReturnType<RunsService['get']>>;
export type FoundRun = NonNullable<Awaited<ReturnType<RunsService['follow']>>>;

export interface RunPlace extends ComponentPlace {
  readonly runId: string;
  readonly sessionId?: string | undefined;
}

/** A run that is executed, here or elsewhere. */
export interface RunUnderway {
  readonly place: RunPlace;
  events(): ReturnType<FoundRun['events']>;
  ended(): Promise<RunView>;
}

/** A run that this request started or continued. */
export function underway(runs: RunsService, started: StartedRun): RunUnderway {
  const { kind, componentId, runId } = started.handle.run;
  return {
    place: { kind, componentId, runId },
    events: () => started.events(),
    ended: () => runs.ended(started),
  };
}

/** A run that began before this request, from its present state on. */
export function foundUnderway({ site, caller }: ToolRequest, { run, events }: FoundRun): RunUnderway {
  const { kind, componentId, runId } = run;
  const place = { kind, componentId, runId };
  return { place, events, ended: () => site.services.runs.end(caller, place) };
}

/**
 * Waits until the run has ended or paused. A client that cancels its request cancels the run; one that disconnects does
 * not.
 */
export async function waitForRun(
  request: ToolRequest,
  { place, events, ended }: RunUnderway,
  progress: Progress | undefined,
): Promise<RunView> {
  const { call, context, caller, site } = request;
  const { signal } = context.mcpReq;
  const cancel = (): void => {
    site.services.runs.cancel(caller, place).catch((error: unknown) => {
      site.log.error({ err: error, runId: place.runId }, 'a cancelled request could not cancel its run');
    });
  };
  if (call.cancelled.aborted) cancel();
  else call.cancelled.addEventListener('abort', cancel, { once: true });
  const reader = progress && events();
  const reported = async (): Promise<void> => {
    for (let some = await reader?.next(); some; some = await reader?.next())
      for (const event of some) await progress?.event(event);
  };
  const work = Promise.all([ended(), reported()])
    .then(([view]) => view)
    .finally(() => {
      call.cancelled.removeEventListener('abort', cancel);
      reader?.close();
    });
  // This process stops, and another one continues the run: the client asks there, and gets no answer here.
  const answered = work.catch((error: unknown) => {
    if (errorCode(error) === 'run_handed_on') return new Promise<never>(() => {});
    throw error;
  });
  try {
    return await untilAborted(answered, signal);
  } catch (error) {
    throw call.cancelled.aborted ? requestCancelled() : error;
  } finally {
    reader?.close();
  }
}
