import type { Kind } from '../../options/kind.js';
import { anyOf, callable, flag, having, kind, objectOf, required, text } from '../../options/kinds.js';
import type { NamedHook } from './hook.js';

const members = { name: required(text), required: flag, run: required(callable) };
const plain = objectOf<NamedHook<unknown>>(members);

/** An instance of a class implements a hook and may have fields of its own; any other object is only options. */
const instance = having<NamedHook<unknown>>('a hook', members);
const isInstance = kind('a hook', (value) => {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype !== null && prototype !== Object.prototype && instance.takes(value);
});

export const hook: Kind = { ...anyOf(callable, isInstance, plain), allowed: 'a function or { name, run }' };
