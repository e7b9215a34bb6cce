import type { Abortable } from '../../abort.js';
import type { RunContext, StepScope } from '../context.js';

/** What a step that takes long does not ask for is not made for it. */
export class Scope implements StepScope {
  constructor(
    private readonly context: Pick<RunContext, 'signal' | 'idempotencyKey'> & { readonly stop: Abortable },
    readonly key: string,
  ) {}

  get signal(): AbortSignal {
    return this.context.signal;
  }

  get stop(): Abortable {
    return this.context.stop;
  }

  get idempotencyKey(): string {
    return this.context.idempotencyKey(this.key);
  }
}
