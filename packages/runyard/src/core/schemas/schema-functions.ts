import type { z } from 'zod';
import { fieldsOf } from '../objects.js';

const known = new WeakMap<z.ZodType, boolean>();

/** Whether a schema calls functions of the application: checks, transformations and the like. Found out once. */
export function callsFunctions(schema: z.ZodType): boolean {
  let calls = known.get(schema);
  if (calls === undefined) {
    calls = hasFunctions(schema, new Set());
    known.set(schema, calls);
  }
  return calls;
}

/** Parts whose definition holds a function of the application. */
const functionTypes: ReadonlySet<unknown> = new Set(['custom', 'transform', 'catch', 'lazy', 'overwrite']);

function hasFunctions(part: unknown, seen: Set<object>): boolean {
  if (typeof part !== 'object' || part === null || seen.has(part)) return false;
  seen.add(part);
  if (Array.isArray(part)) return part.some((inner) => hasFunctions(inner, seen));
  const given = fieldsOf(fieldsOf(part)._zod).def;
  if (given === undefined) return isPlain(part) && Object.values(part).some((one) => hasFunctions(one, seen));
  const def = fieldsOf(given);
  if (functionTypes.has(def.type) || functionTypes.has(def.check)) return true;
  return Object.values(def).some((inner) => hasFunctions(inner, seen));
}

function isPlain(part: object): boolean {
  return Object.getPrototypeOf(part) === Object.prototype;
}
