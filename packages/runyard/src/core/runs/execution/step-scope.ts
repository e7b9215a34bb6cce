import type { RunContext, StepScope } from '../context.js';

/** What a step that takes long does not ask for is not made for it. */
export class Scope implements StepScope {
  constructor(
    private readonly context: Pick<RunContext, 'signal' | 'idempotencyKey'>,
    readonly key: string,
  ) {}

  get signal(): AbortSignal {
    return this.context.signal;
  }

  get idempotencyKey(): string {
    return this.context.idempotencyKey(this.key);
  }
}
