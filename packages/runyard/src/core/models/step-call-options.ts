import type { Abortable } from '../async/abort.js';
import type { ModelCallOptions } from './model.js';

/** What a call is made for: a step of a run as a rule. */
export interface CallScope {
  readonly signal: AbortSignal;
  /** Aborted with the signal, and there without one. */
  readonly stop?: Abortable;
}

/**
 * What Runyard's own adapters are called with: they listen to what the signal would listen to. A signal takes a kilobyte as
 * long as the model answers, and is made only for those who ask.
 */
export class StepCallOptions implements ModelCallOptions {
  constructor(private readonly scope: CallScope) {}

  get signal(): AbortSignal {
    return this.scope.signal;
  }

  get stop(): Abortable {
    return this.scope.stop ?? this.scope.signal;
  }
}

/** What ends a call. */
export function stopOf(options: ModelCallOptions): Abortable {
  return options instanceof StepCallOptions ? options.stop : options.signal;
}
