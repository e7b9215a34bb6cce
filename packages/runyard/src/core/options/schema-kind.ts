import { fieldsOf } from '../objects.js';
import { isObject } from './faults.js';
import type { Optional } from './kind.js';

const allowed = 'a zod 4 schema or a JSON schema';

/** A value mistaken for a JSON schema would say nothing: it would let every value through. */
export const schema: Optional = {
  allowed,
  takes: isObject,
  inside: (given: object, path, faults) => {
    if ('_zod' in given) return;
    if ('_def' in given || '~standard' in given)
      faults.push(`${path} is a schema of zod 3 or of another library. Give ${allowed}.`);
    else if (holdsSchemaOfLibrary(given))
      faults.push(`${path} is an object with zod schemas in it. Give ${allowed}, such as z.object({ … }).`);
  },
};

/** A schema of what only an object can fit: arguments, or the input of a run. */
export const objectSchema: Optional = {
  ...schema,
  inside: (given: object, path, faults) => {
    schema.inside?.(given, path, faults);
    const type = typeOf(given);
    if (typeof type === 'string' && neverObjects.has(type))
      faults.push(
        `${path} is a schema of the type '${type}'. Give one of an object, such as z.object({ … }).`,
      );
  },
};

const neverObjects = new Set(
  'string number integer boolean bigint null array tuple enum literal date'.split(' '),
);

function typeOf(given: object): unknown {
  const { _zod: zod, type } = fieldsOf(given);
  return zod === undefined ? type : fieldsOf(fieldsOf(zod).def).type;
}

function holdsSchemaOfLibrary(given: object): boolean {
  const seen = new Set<object>([given]);
  for (const holder of seen) {
    for (const value of Object.values(holder)) {
      if (typeof value !== 'object' || value === null) continue;
      if (isSchemaOfLibrary(value)) return true;
      seen.add(value);
    }
  }
  return false;
}

/** By what no JSON has: a JSON schema may well describe properties of these names. */
function isSchemaOfLibrary(value: object): boolean {
  const { _zod: own, '~standard': standard } = fieldsOf(value);
  return [own, standard].some(
    (part) => typeof part === 'object' && part !== null && Object.values(part).some(isFunction),
  );
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}
