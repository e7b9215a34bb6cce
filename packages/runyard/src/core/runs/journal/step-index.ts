import type { StepKind, StepRecord } from '../run.js';
import { isUnder, ownSteps, prefixOf } from './child-steps.js';
import { triedKey } from './try-keys.js';

/** Up to here, looking at all steps costs less than keeping them by whose they are: most runs have two or three. */
const fewSteps = 16;

/** The steps of a run in their order, found by key, by whose they are and by kind: there may be thousands. */
export class StepIndex {
  /** All of them in their order; null where there are many and one has changed. */
  private listed: readonly StepRecord[] | null = [];
  /** Null while there are few. */
  private byKey: Map<string, StepRecord> | null = null;
  private byRun: StepsByRun | null = null;
  /** By the step that they are a part of; null until it is asked for. */
  private byOwner: Map<string, Map<string, StepRecord>> | null = null;

  get(key: string): StepRecord | undefined {
    return this.byKey === null ? this.all().find((step) => step.key === key) : this.byKey.get(key);
  }

  all(): readonly StepRecord[] {
    this.listed ??= inOrder([...(this.byKey?.values() ?? [])]);
    return this.listed;
  }

  /** The steps whose keys begin with this, without those of the runs inside. */
  of(prefix: string): readonly StepRecord[] {
    if (prefix === '' && this.byRun === null) return ownSteps(this.all());
    return inOrder(this.byRun?.of(prefix) ?? this.select(({ key }) => isUnder(key, prefix)));
  }

  ofKind(prefix: string, kind: StepKind): StepRecord[] {
    return (
      this.byRun?.ofKind(prefix, kind) ??
      this.select((step) => step.kind === kind && isUnder(step.key, prefix))
    );
  }

  /** The steps whose keys begin with this, and those of the runs inside. */
  under(prefix: string): StepRecord[] {
    return inOrder(this.byRun?.under(prefix) ?? this.select(({ key }) => key.startsWith(prefix)));
  }

  /** The failed tries of the step with this key, and the steps that have it as their parent. */
  partsOf(key: string): StepRecord[] {
    if (this.byKey === null || this.byKey.size <= fewSteps)
      return this.select((step) => ownerOf(step) === key);
    if (this.byOwner === null) {
      this.byOwner = new Map();
      for (const step of this.byKey.values()) putPart(this.byOwner, step);
    }
    return [...(this.byOwner.get(key)?.values() ?? [])];
  }

  put(step: StepRecord): void {
    if (this.byKey === null) {
      // a list that grows has room for more than most runs ever have
      this.listed = inOrder(this.without(step).concat(step));
      if (this.listed.length <= fewSteps) return;
      this.byKey = new Map();
      this.byRun = new StepsByRun();
      for (const known of this.listed) {
        this.byKey.set(known.key, known);
        this.byRun.put(known);
      }
      return;
    }
    this.listed = null;
    this.byKey.set(step.key, step);
    this.byRun?.put(step);
    if (this.byOwner !== null) putPart(this.byOwner, step);
  }

  delete(step: StepRecord): void {
    if (this.byKey === null) {
      this.listed = this.without(step);
      return;
    }
    this.listed = null;
    this.byKey.delete(step.key);
    this.byRun?.delete(step);
    this.byOwner?.get(ownerOf(step))?.delete(step.key);
  }

  private without({ key }: StepRecord): StepRecord[] {
    return this.all().filter((step) => step.key !== key);
  }

  private select(is: (step: StepRecord) => boolean): StepRecord[] {
    return this.all().filter(is);
  }
}

/** Steps by the run that they are of, as a prefix of their keys. */
class StepsByRun {
  private readonly steps = new Map<string, Map<StepKind, Map<string, StepRecord>>>();
  /** The prefixes of the runs right inside. */
  private readonly inside = new Map<string, Set<string>>();

  of(prefix: string, found: StepRecord[] = []): StepRecord[] {
    for (const ofKind of this.steps.get(prefix)?.values() ?? [])
      for (const step of ofKind.values()) found.push(step);
    return found;
  }

  ofKind(prefix: string, kind: StepKind): StepRecord[] {
    return [...(this.steps.get(prefix)?.get(kind)?.values() ?? [])];
  }

  under(prefix: string, found: StepRecord[] = []): StepRecord[] {
    this.of(prefix, found);
    for (const inner of this.inside.get(prefix) ?? []) this.under(inner, found);
    return found;
  }

  put(step: StepRecord): void {
    const prefix = prefixOf(step.key);
    let own = this.steps.get(prefix);
    if (own === undefined) {
      own = new Map();
      this.steps.set(prefix, own);
      this.nest(prefix);
    }
    const ofKind = own.get(step.kind);
    if (ofKind === undefined) own.set(step.kind, new Map().set(step.key, step));
    else ofKind.set(step.key, step);
  }

  delete({ key, kind }: StepRecord): void {
    this.steps.get(prefixOf(key))?.get(kind)?.delete(key);
  }

  /** A run inside may have steps before the run around it has any. */
  private nest(prefix: string): void {
    if (prefix === '') return;
    const around = prefixOf(prefix.slice(0, -1));
    const known = this.inside.get(around);
    if (known !== undefined) known.add(prefix);
    else {
      this.inside.set(around, new Set([prefix]));
      this.nest(around);
    }
  }
}

function ownerOf(step: StepRecord): string {
  return step.kind === 'try' ? triedKey(step) : (step.parentKey ?? '');
}

function putPart(byOwner: Map<string, Map<string, StepRecord>>, step: StepRecord): void {
  const owner = ownerOf(step);
  const parts = byOwner.get(owner);
  if (parts === undefined) byOwner.set(owner, new Map().set(step.key, step));
  else parts.set(step.key, step);
}

/** Mostly they are in their order already: to sort them nevertheless costs more than to look. */
export function inOrder(steps: StepRecord[]): StepRecord[] {
  let last = Number.NEGATIVE_INFINITY;
  for (const { seq } of steps) {
    if (seq < last) return steps.sort((left, right) => left.seq - right.seq);
    last = seq;
  }
  return steps;
}
