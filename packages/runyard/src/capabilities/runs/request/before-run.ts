import { AgentFactory } from '../../../core/agents/agent-factory.js';
import { errors } from '../../../core/errors/errors.js';
import { handled } from '../../../core/errors/handled.js';
import type { Log } from '../../../core/log.js';
import { type CallApplication, runAsOwner } from '../../../core/runs/execution/code-owner.js';
import type { AnyLimits } from '../../../core/runs/limits/run-limits.js';
import { systemTimers } from '../../../platform/engine/local/timers.js';
import type { Component } from '../../components/service.js';

/** The longest time that application code may take before there is a run that a client could cancel. */
const longestMs = 60_000;

export interface BeforeRunOptions {
  readonly log: Log;
  /** What the service allows each run: application code may not take longer before it either. */
  readonly limits?: AnyLimits;
}

/**
 * Prepares a run with functions of the application: a factory, the checks of an input schema. They work in the name of
 * the component. The request waits for them within a bound, and no longer than its client does.
 */
export function beforeRun<T>(
  { log, limits }: BeforeRunOptions,
  component: Component,
  disconnected: (() => AbortSignal) | undefined,
  prepare: (call: CallApplication) => Promise<T>,
): Promise<T> {
  let at = 'inputSchema';
  const call: CallApplication = (what, work) => {
    at = what;
    return runAsOwner({ log, facts: { component: component.id, step: what } }, work);
  };
  const isFactory = component instanceof AgentFactory;
  if (!isFactory && component.settings.inputSchema === undefined) return prepare(call);
  const withinMs = Math.min(longestMs, limits?.timeMs ?? longestMs);
  return new Promise((resolve, reject) => {
    const signal = disconnected?.();
    const leave = () => reject(signal?.reason);
    const cancel = systemTimers.after(withinMs, () => {
      const what = at === 'build' ? `The factory '${component.id}'` : `The input schema of '${component.id}'`;
      reject(errors.preparationTimeout(what, withinMs));
    });
    if (signal?.aborted) leave();
    signal?.addEventListener('abort', leave, { once: true });
    handled(prepare(call))
      .then(resolve, reject)
      .finally(() => {
        cancel();
        signal?.removeEventListener('abort', leave);
      });
  });
}
