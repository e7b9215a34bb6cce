import { fieldsOf } from '../objects.js';

/**
 * Whether the names in an object are those of a `for in` over it: it is no instance of a class, and hides nothing. Most
 * options are like this, and need no list of names.
 */
export function isLiteral(options: object): boolean {
  if (Object.getPrototypeOf(options) !== Object.prototype) return false;
  let count = 0;
  for (const _name in options) count += 1;
  return Object.getOwnPropertyNames(options).length === count;
}

/**
 * The names of all that options say, whether they hold it, inherit it or compute it in a getter. A class may have
 * methods of its own beside those that are options.
 */
export function optionNames(options: object, known: ReadonlyMap<string, unknown>): string[] {
  const names = new Set<string>();
  const fields = fieldsOf(options);
  for (const name in options) names.add(name);
  for (let holder = options; !isRoot(holder); holder = Object.getPrototypeOf(holder)) {
    for (const name of Object.getOwnPropertyNames(holder)) {
      if (known.has(name) || typeof fields[name] !== 'function') names.add(name);
    }
  }
  return [...names];
}

/** The end of a chain of prototypes, in any realm. */
function isRoot(holder: object | null): holder is null {
  return (
    holder === null || (Object.getPrototypeOf(holder) === null && Object.hasOwn(holder, 'isPrototypeOf'))
  );
}
