import type { Abortable } from '../../async/abort.js';
import type { ChildRun } from '../context.js';
import { childPrefix, relativeStep } from '../journal/child-steps.js';
import type { Run, StepKind, StepRecord } from '../run.js';
import type { LiveRun } from './live-run.js';

/** The steps of a run, with the keys that they have in it: those of a run within another are in the journal of that. */
export class RecordedSteps {
  /** What the keys of its steps and events begin with: empty for a run of its own. */
  protected readonly prefix: string;

  constructor(
    protected readonly live: LiveRun,
    protected readonly inside: ChildRun | null,
  ) {
    this.prefix = inside === null ? '' : childPrefix(inside.key);
  }

  /** Whether it is to end, without a signal that would have to be made. */
  get stop(): Abortable {
    return this.inside?.signal ?? this.live.abort;
  }

  get run(): Run {
    return this.inside?.run ?? this.live.run;
  }

  steps(kind?: StepKind): readonly StepRecord[] {
    const { steps } = this.live;
    return this.asOwn(kind === undefined ? steps.of(this.prefix) : steps.ofKind(this.prefix, kind));
  }

  allSteps(): readonly StepRecord[] {
    return this.inside === null ? this.live.allSteps() : this.under(this.prefix);
  }

  partsOf(key: string): readonly StepRecord[] {
    return this.asOwn(this.live.steps.partsOf(this.prefix + key));
  }

  stepsInside(key: string): readonly StepRecord[] {
    return this.under(childPrefix(this.prefix + key));
  }

  /** The steps of a run inside, and of those in it, by what their keys begin with in the whole journal. */
  protected under(prefix: string): StepRecord[] {
    return this.live.steps.under(prefix).map((step) => relativeStep(step, prefix));
  }

  private asOwn(steps: readonly StepRecord[]): readonly StepRecord[] {
    if (this.inside === null) return steps;
    const { runId } = this.run;
    return steps.map((step) => ({ ...relativeStep(step, this.prefix), runId }));
  }
}
