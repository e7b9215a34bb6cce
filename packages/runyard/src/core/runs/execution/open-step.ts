import type { Abortable } from '../../async/abort.js';
import type { Receiver } from '../../async/receiver.js';
import { thrownError } from '../../errors/thrown-error.js';
import type { Json } from '../../json.js';
import { type RunContext, RunPaused, type StepScope, type StepSpec } from '../context.js';
import { weigh } from '../journal/long-texts.js';
import type { StepRecord } from '../run.js';
import { failureOfStep } from './failed-tries.js';
import type { RunObserver } from './run-observer.js';

/** What a step needs of its run. */
interface StepRun extends Pick<RunContext, 'signal' | 'idempotencyKey' | 'timers' | 'guard'> {
  readonly stop: Abortable;
  readonly observer: RunObserver | undefined;
  putStep(step: StepRecord): void;
}

/** A step in progress: the scope of its work, and the receiver of its outcome. Getters: most work uses few of them. */
export class OpenStep<T> implements StepScope, Receiver<T> {
  constructor(
    private readonly run: StepRun,
    readonly key: string,
    private readonly begun: StepRecord,
    /** Not the whole specification, which would live as long as the step. */
    private readonly isFailure: StepSpec<T>['failed'],
    private readonly receiver: Receiver<T>,
  ) {}

  get signal(): AbortSignal {
    return this.run.signal;
  }

  get stop(): Abortable {
    return this.run.stop;
  }

  get idempotencyKey(): string {
    return this.run.idempotencyKey(this.key);
  }

  received(output: T): void {
    try {
      this.run.guard?.hold(weigh(output));
      completeStep(this.run, this.begun, this.isFailure, output);
    } catch (thrown) {
      this.failed(thrown);
      return;
    }
    this.receiver.received(output);
  }

  failed(thrown: unknown): void {
    const error = thrownError(thrown);
    try {
      failStep(this.run, this.begun, error);
    } catch (unwritten) {
      this.receiver.failed(unwritten);
      return;
    }
    this.receiver.failed(error);
  }
}

export function completeStep<T>(
  run: StepRun,
  begun: StepRecord,
  isFailure: StepSpec<T>['failed'],
  output: T,
): void {
  // the output says what went wrong; `error` shows that something did, without reading the output
  const error = isFailure?.(output) ? handledFailure : null;
  const endedAt = run.timers.now();
  run.putStep({ ...begun, status: 'completed', output, error, endedAt });
  observe(run, begun, endedAt, error !== null);
}

function failStep(run: StepRun, begun: StepRecord, error: Error): void {
  // an aborted step did not end: the next execution finds out whether it took effect
  if (run.stop.aborted || error instanceof RunPaused) return;
  const endedAt = run.timers.now();
  run.putStep({ ...begun, status: 'error', ...failureOfStep(error), endedAt });
  observe(run, begun, endedAt, true);
}

function observe(
  { observer }: StepRun,
  { kind, name, startedAt }: StepRecord,
  endedAt: number,
  failed: boolean,
): void {
  if (kind === 'tool') observer?.toolEnded(name, endedAt - startedAt, failed);
}

/** `error` of a step that ended with a failure after which the run continued. */
const handledFailure: Json = true;
