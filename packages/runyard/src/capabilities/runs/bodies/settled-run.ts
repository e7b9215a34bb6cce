import { pause } from '../../../core/async/abort.js';
import { isJsonObject, type JsonObject } from '../../../core/json.js';
import { type Run, terminalStatuses } from '../../../core/runs/run.js';
import { systemTimers } from '../../../platform/engine/local/timers.js';
import type { RunSpace } from '../../capability.js';
import { type RunView, runBodyOf } from './run-body.js';

/** What a run has come to, for the service itself. */
export interface SettledRun {
  readonly run: Run;
  /** What a paused run waits for, in wire form. */
  readonly requirements: readonly JsonObject[];
}

/** No run has so many events; an index that every database holds. */
const beyondAll = 2 ** 31 - 1;
/** A run that no process executes at the moment is looked at again after this time. */
const handedOnMs = 200;

/** Waits for the end of a run, or its pause, without asking for it: its events end then. */
export async function settledRun(
  { engine, runs }: RunSpace,
  runId: string,
  signal: AbortSignal,
): Promise<SettledRun | undefined> {
  for (;;) {
    const reader = engine.events(runId, beyondAll);
    const close = () => reader.close();
    signal.addEventListener('abort', close, { once: true });
    try {
      signal.throwIfAborted();
      await reader.next();
      signal.throwIfAborted();
    } finally {
      signal.removeEventListener('abort', close);
      close();
    }
    const view = await runs.load(runId);
    if (view === undefined) return undefined;
    const { status } = view.run;
    if (status === 'paused') return { run: view.run, requirements: requirementsIn(view) };
    if (terminalStatuses.has(status)) return { run: view.run, requirements: [] };
    await pause(handedOnMs, signal, systemTimers);
  }
}

const noMedia = { input: {}, produced: {} };

function requirementsIn(view: RunView): readonly JsonObject[] {
  const { requirements, step_requirements, error_requirements } = runBodyOf(view, noMedia, 'runyard');
  return [requirements, step_requirements, error_requirements]
    .flatMap((some: unknown): unknown[] => (Array.isArray(some) ? some : []))
    .filter((one) => isJsonObject(one));
}
