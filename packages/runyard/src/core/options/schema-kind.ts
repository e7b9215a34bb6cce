import { isObject } from './faults.js';
import { kind } from './kinds.js';

/** A zod 3 schema would be taken for a JSON schema that says nothing. */
export const schema = kind(
  'a zod 4 schema or a JSON schema',
  (value) => isObject(value) && !('_def' in (value as object) && !('_zod' in (value as object))),
);
