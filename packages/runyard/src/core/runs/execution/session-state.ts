import type { Json, JsonObject } from '../../json.js';
import { storable } from '../../storable-json.js';
import { canonicalJson } from '../../tools/call/canonical-json.js';
import type { StateChange } from '../journal/ports.js';
import type { FixedValues } from '../run.js';
import { difference, noState, type StateSize, sizeFault, sizeOf, stateSize, sum } from './state-size.js';

/** Keys are part of an index in some databases. */
export const maxStateKeyLength = 255;

const nothingFixed: ReadonlySet<string> = new Set();
/** Of all sessions without state, which are most: nothing is ever put into it. */
const nothing = new Map<string, Json>();

/** How a run's own code reads and changes the state of its session. */
export interface StateView {
  get(key: string): Json | undefined;
  set(key: string, value: Json): void;
  delete(key: string): void;
  /** A copy of everything. */
  all(): JsonObject;
}

/**
 * The state of a session as one run sees it. Changes are remembered by top-level key, so that parallel runs of a
 * session merge instead of undoing each other. Values go in and out as copies: an object that is changed after it
 * was set, or that another session began with, changes nothing here.
 */
export class SessionState implements StateView {
  private changed: Set<string> | null = null;
  private values: Map<string, Json> = nothing;
  private fixed: ReadonlySet<string> = nothingFixed;
  /** Known once the state changes: most runs only read it. */
  private known: StateSize | null = null;

  constructor(
    private readonly sessionId: string,
    stored: JsonObject,
    /** The run that stores the state: called for each change. */
    private readonly run: { touch(): void },
  ) {
    for (const key in stored) this.change(key, stored[key]);
  }

  get(key: string): Json | undefined {
    const value = this.values.get(key);
    return value === undefined ? undefined : copyOf(value);
  }

  set(key: string, value: Json): void {
    checkKey(key);
    const copy = given(key, value);
    if (this.keeps(key, copy)) return;
    checkSize(sum(this.size, this.growth(key, copy)), this.size);
    this.put(key, copy);
  }

  delete(key: string): void {
    if (!this.keeps(key, undefined)) this.put(key, undefined);
  }

  /** Takes what was checked when it was set: what a step has done is not lost because others filled the state. */
  put(key: string, value: Json | undefined): void {
    if (this.known !== null) this.known = sum(this.known, this.growth(key, value));
    this.change(key, value);
    this.note(key);
  }

  private change(key: string, value: Json | undefined): void {
    if (value === undefined) this.values.delete(key);
    else {
      if (this.values === nothing) this.values = new Map();
      this.values.set(key, value);
    }
  }

  get size(): StateSize {
    this.known ??= stateSize(Object.fromEntries(this.values));
    return this.known;
  }

  /** How much larger the state becomes when the key gets this value. */
  growth(key: string, value: Json | undefined): StateSize {
    return difference(sizeOf(key, value), sizeOf(key, this.values.get(key)));
  }

  all(): JsonObject {
    return this.values.size === 0 ? {} : copyOf<JsonObject>(Object.fromEntries(this.values));
  }

  /** From now on these keys hold what the caller's token says, and nothing of the run changes them. */
  fix({ stateKeys, state }: FixedValues): void {
    for (const [key, value] of Object.entries(state)) {
      if (!isSame(this.values.get(key), value)) this.put(key, given(key, value));
    }
    this.fixed = new Set(stateKeys);
  }

  /** Whether the key is fixed and stays what it is. Throws when it was to become something else. */
  keeps(key: string, value: Json | undefined): boolean {
    if (!this.fixed.has(key)) return false;
    if (isSame(this.values.get(key), value)) return true;
    throw new TypeError(
      `The token of the caller fixes '${key}' of the session state: a run cannot change it.`,
    );
  }

  /**
   * A view whose changes count only once it is merged: what a step does to the state is stored with the end of
   * the step, so that a step that is done again after a crash does not count twice.
   */
  fork(): ForkedState {
    return new ForkedState(this);
  }

  /** What changed since the last call. */
  takeChanges(): StateChange | undefined {
    if (this.changed === null) return undefined;
    const set: [string, Json][] = [];
    const remove: string[] = [];
    for (const key of this.changed) {
      const value = this.values.get(key);
      if (value === undefined) remove.push(key);
      else set.push([key, value]);
    }
    this.changed = null;
    return { sessionId: this.sessionId, set: Object.fromEntries(set), remove };
  }

  private note(key: string): void {
    this.changed ??= new Set();
    this.changed.add(key);
    this.run.touch();
  }
}

/** The state as one step sees it: what others changed, and over it what the step itself did. */
export class ForkedState implements StateView {
  /** Undefined stands for a removed key. */
  private readonly own = new Map<string, Json | undefined>();
  private grown: StateSize = noState;

  constructor(private readonly base: SessionState) {}

  get(key: string): Json | undefined {
    if (!this.own.has(key)) return this.base.get(key);
    const value = this.own.get(key);
    return value === undefined ? undefined : copyOf(value);
  }

  set(key: string, value: Json): void {
    checkKey(key);
    const copy = given(key, value);
    if (this.base.keeps(key, copy)) return;
    const before = sum(this.base.size, this.grown);
    const grown = this.grownBy(key, copy);
    checkSize(sum(this.base.size, grown), before);
    this.grown = grown;
    this.own.set(key, copy);
  }

  delete(key: string): void {
    if (this.base.keeps(key, undefined)) return;
    this.grown = this.grownBy(key, undefined);
    this.own.set(key, undefined);
  }

  private grownBy(key: string, value: Json | undefined): StateSize {
    const earlier = this.own.has(key) ? this.base.growth(key, this.own.get(key)) : noState;
    return sum(difference(this.grown, earlier), this.base.growth(key, value));
  }

  all(): JsonObject {
    const values = new Map(Object.entries(this.base.all()));
    for (const [key, value] of this.own) {
      if (value === undefined) values.delete(key);
      else values.set(key, copyOf(value));
    }
    return Object.fromEntries(values);
  }

  /** Hands the changes over. */
  merge(): void {
    for (const [key, value] of this.own) if (!this.base.keeps(key, value)) this.base.put(key, value);
    this.own.clear();
    this.grown = noState;
  }
}

function checkKey(key: string): void {
  if (key.length > maxStateKeyLength) {
    throw new TypeError(
      `A key of the session state has at most ${maxStateKeyLength} characters; '${key.slice(0, 40)}…' has ${key.length}.`,
    );
  }
}

function checkSize(after: StateSize, before: StateSize): void {
  const fault = sizeFault(after, before);
  if (fault !== undefined) throw new TypeError(`${fault.charAt(0).toUpperCase()}${fault.slice(1)}.`);
}

/** Application code sets state: what JSON cannot hold is rejected here, so that the code that set it sees the error. */
function given(key: string, value: Json): Json {
  return storable(value, `The value of '${key}' in the session state`);
}

function isSame(one: Json | undefined, other: Json | undefined): boolean {
  return canonicalJson(one ?? null) === canonicalJson(other ?? null);
}

/** What was stored before is JSON. */
function copyOf<Value extends Json>(value: Value): Value {
  return typeof value === 'object' && value !== null ? JSON.parse(JSON.stringify(value)) : value;
}
