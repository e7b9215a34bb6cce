import { createHash } from 'node:crypto';
import type { Json } from './json.js';
import { canonicalJson } from './tools/call/canonical-json.js';

/**
 * A short text that is the same for the same structure: what a definition is compared by. Only what has to match a
 * journal belongs in it: names, kinds and order; never prompts, descriptions or models.
 */
export function fingerprintOf(structure: Json): string {
  return createHash('sha256').update(canonicalJson(structure)).digest('base64url').slice(0, 22);
}

/** What a function is known by: its name, or its source when it has none. */
export function functionIdentity(work: (...args: never[]) => unknown): string {
  return work.name === '' ? sourceIdentity(work) : `'${work.name}'`;
}

const sources = new WeakMap<object, string>();

/** Identifies a function that has no name of its own: another source is another function. */
export function sourceIdentity(work: (...args: never[]) => unknown): string {
  let identity = sources.get(work);
  if (identity === undefined) {
    const hash = createHash('sha256').update(Function.prototype.toString.call(work)).digest('hex');
    identity = `unnamed ${hash.slice(0, 8)}`;
    sources.set(work, identity);
  }
  return identity;
}
