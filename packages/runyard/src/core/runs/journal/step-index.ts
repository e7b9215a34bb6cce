import type { StepKind, StepRecord } from '../run.js';
import { isUnder, prefixOf } from './child-steps.js';

/** Up to here, looking at all steps costs less than keeping them by whose they are: most runs have two or three. */
const fewSteps = 16;

type ByPrefix = Map<string, Map<StepKind, Map<string, StepRecord>>>;

/** The steps of a run in their order, found by key, by whose they are and by kind: there may be thousands. */
export class StepIndex {
  private readonly byKey = new Map<string, StepRecord>();
  private byPrefix: ByPrefix | null = null;

  get(key: string): StepRecord | undefined {
    return this.byKey.get(key);
  }

  all(): StepRecord[] {
    return [...this.byKey.values()];
  }

  /** The steps whose keys begin with this, without those of the runs inside. */
  of(prefix: string): StepRecord[] {
    const found: StepRecord[] = [];
    if (this.byPrefix === null) {
      for (const step of this.byKey.values()) if (isUnder(step.key, prefix)) found.push(step);
    } else {
      for (const steps of this.byPrefix.get(prefix)?.values() ?? []) found.push(...steps.values());
    }
    return found.length < 2 ? found : found.sort((left, right) => left.seq - right.seq);
  }

  ofKind(prefix: string, kind: StepKind): StepRecord[] {
    if (this.byPrefix !== null) return [...(this.byPrefix.get(prefix)?.get(kind)?.values() ?? [])];
    const found: StepRecord[] = [];
    for (const step of this.byKey.values())
      if (step.kind === kind && isUnder(step.key, prefix)) found.push(step);
    return found;
  }

  put(step: StepRecord): void {
    this.byKey.set(step.key, step);
    if (this.byPrefix !== null) putBelow(this.byPrefix, step);
    else if (this.byKey.size > fewSteps) {
      this.byPrefix = new Map();
      for (const known of this.byKey.values()) putBelow(this.byPrefix, known);
    }
  }

  delete(step: StepRecord): void {
    this.byKey.delete(step.key);
    this.byPrefix?.get(prefixOf(step.key))?.get(step.kind)?.delete(step.key);
  }
}

function putBelow(byPrefix: ByPrefix, step: StepRecord): void {
  const prefix = prefixOf(step.key);
  let own = byPrefix.get(prefix);
  if (own === undefined) {
    own = new Map();
    byPrefix.set(prefix, own);
  }
  const ofKind = own.get(step.kind);
  if (ofKind === undefined) own.set(step.kind, new Map().set(step.key, step));
  else ofKind.set(step.key, step);
}
