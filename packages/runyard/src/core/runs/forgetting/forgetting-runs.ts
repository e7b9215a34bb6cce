import { isRunInside } from '../execution/child-run.js';
import { childPrefix, prefixOf } from '../journal/child-steps.js';
import { read } from '../journal/codec.js';
import { childInput } from '../journal/records.js';
import type { Forgets, Run, StepRecord } from '../run.js';

/** Which of a run and the runs within it forget something, each by the setting of its own component. */
export class ForgettingRuns {
  private readonly byPrefix = new Map<string, Forgets>();
  private readonly byRunId = new Map<string, Forgets>();

  constructor({ runId, input }: Run, steps: readonly StepRecord[]) {
    this.add('', runId, input.options.forgets);
    for (const step of steps) {
      if (!isRunInside(step)) continue;
      const inside = read(step, childInput);
      this.add(childPrefix(step.key), inside.runId, inside.input.options.forgets);
    }
  }

  /** Whether one of them does not keep its media: what it has stored is shown by the runs around it, too. */
  get areWithoutMedia(): boolean {
    return [...this.byRunId.values()].some(({ media }) => media);
  }

  get areSome(): boolean {
    return this.byRunId.size > 0;
  }

  /** What the run forgets that a step belongs to. */
  ofStep({ key }: StepRecord): Forgets | undefined {
    return this.byPrefix.get(prefixOf(key));
  }

  /** What the run forgets that is the work of a step. */
  ofRunIn({ key }: StepRecord): Forgets | undefined {
    return this.byPrefix.get(childPrefix(key));
  }

  of = (runId: string): Forgets | undefined => this.byRunId.get(runId);

  private add(prefix: string, runId: string, forgets: Forgets | undefined): void {
    if (forgets === undefined) return;
    this.byPrefix.set(prefix, forgets);
    this.byRunId.set(runId, forgets);
  }
}
