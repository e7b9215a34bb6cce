import type { StepKind, StepRecord } from '../run.js';
import { prefixOf } from './child-steps.js';

/** The steps of a run in their order, found by key, by whose they are and by kind: there may be thousands. */
export class StepIndex {
  private readonly byKey = new Map<string, StepRecord>();
  private readonly byPrefix = new Map<string, Map<StepKind, Map<string, StepRecord>>>();

  get(key: string): StepRecord | undefined {
    return this.byKey.get(key);
  }

  all(): StepRecord[] {
    return [...this.byKey.values()];
  }

  /** The steps whose keys begin with this, without those of the runs inside. */
  of(prefix: string): StepRecord[] {
    const byKind = Array.from(this.byPrefix.get(prefix)?.values() ?? [], (steps) => [...steps.values()]);
    return byKind.flat().sort((left, right) => left.seq - right.seq);
  }

  ofKind(prefix: string, kind: StepKind): StepRecord[] {
    return [...(this.byPrefix.get(prefix)?.get(kind)?.values() ?? [])];
  }

  put(step: StepRecord): void {
    this.byKey.set(step.key, step);
    const prefix = prefixOf(step.key);
    let own = this.byPrefix.get(prefix);
    if (own === undefined) {
      own = new Map();
      this.byPrefix.set(prefix, own);
    }
    const ofKind = own.get(step.kind);
    if (ofKind === undefined) own.set(step.kind, new Map([[step.key, step]]));
    else ofKind.set(step.key, step);
  }

  delete(step: StepRecord): void {
    this.byKey.delete(step.key);
    this.byPrefix.get(prefixOf(step.key))?.get(step.kind)?.delete(step.key);
  }
}
