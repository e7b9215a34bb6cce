import type { Json, JsonObject } from '../../json.js';

/** How many keys the state of a session has at the most. */
export const maxStateKeys = 10_000;
/** How many characters its JSON has at the most: every run of the session reads it, and keeps a copy. */
export const maxStateLength = 1_048_576;

/** How large a state is, or how much larger it becomes. */
export interface StateSize {
  readonly keys: number;
  readonly length: number;
}

export const noState: StateSize = { keys: 0, length: 0 };

/** What a key with its value adds to a state; a key that is not there adds nothing. */
export function sizeOf(key: string, value: Json | undefined): StateSize {
  return value === undefined ? noState : { keys: 1, length: key.length + JSON.stringify(value).length };
}

export function stateSize(state: JsonObject): StateSize {
  let size = noState;
  for (const [key, value] of Object.entries(state)) size = sum(size, sizeOf(key, value));
  return size;
}

export function sum(one: StateSize, other: StateSize): StateSize {
  return { keys: one.keys + other.keys, length: one.length + other.length };
}

export function difference(one: StateSize, other: StateSize): StateSize {
  return { keys: one.keys - other.keys, length: one.length - other.length };
}

/** What is wrong with a state of this size. One that was too large before may still become smaller. */
export function sizeFault(after: StateSize, before: StateSize = noState): string | undefined {
  if (after.keys > maxStateKeys && after.keys > before.keys)
    return `the state of a session may have at most ${maxStateKeys} keys, but would have ${after.keys}. Remove keys that are not needed`;
  if (after.length > maxStateLength && after.length > before.length)
    return `the state of a session may have at most ${maxStateLength} characters of JSON, but would have ${after.length}. Remove values that are not needed`;
  return undefined;
}
