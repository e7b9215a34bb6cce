import { pause } from '../async/abort.js';
import { backOffMs, defaultBackoff } from '../async/back-off.js';
import { thrownError } from '../errors/thrown-error.js';
import type { RunContext } from '../runs/context.js';
import { read, readIf } from '../runs/journal/codec.js';
import { taskKey } from './execute-remote.js';
import { remoteRest, remoteStart, remoteTask } from './journal-records.js';
import type { RemoteComponent } from './remote-component.js';
import { RemoteFault } from './remote-service.js';

const tries = 4;
const cancelMs = 10_000;

/** Cancels the remote run of a run that is over, unless that has ended. What fails is logged: the run has its end. */
export async function leave(component: RemoteComponent, context: RunContext): Promise<void> {
  const last = context.steps('remote').at(-1);
  const ref = readIf(last, remoteStart);
  if (last === undefined || ref === undefined) return;
  if (last.status === 'completed' && read(last, remoteRest).status !== 'paused') return;
  const { timers, log, run } = context;
  for (let failures = 0; ; failures += 1) {
    const controller = new AbortController();
    const stop = timers.after(cancelMs, () => controller.abort());
    try {
      const known = { ...ref, ...readIf(context.recorded(taskKey), remoteTask) };
      return await component.remote.service.cancel(known, controller.signal);
    } catch (error) {
      const isGone = error instanceof RemoteFault && error.kind === 'absent';
      if (isGone) return;
      const isFinal = error instanceof RemoteFault && error.kind !== 'unreachable';
      if (isFinal || failures >= tries) {
        const facts = { err: thrownError(error), runId: run.runId, remoteRunId: ref.runId };
        return log.warn(facts, 'a remote run could not be cancelled');
      }
    } finally {
      stop();
    }
    await pause(backOffMs(defaultBackoff, failures), new AbortController().signal, timers);
  }
}
