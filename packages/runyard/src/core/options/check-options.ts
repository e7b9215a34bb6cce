import { errors } from '../errors/errors.js';
import { fieldsOf } from '../objects.js';
import { check, isObject, shown } from './faults.js';
import type { Kind } from './kind.js';

/** Refuses options that do not exist and values that an option cannot have. `owner` as in `Agent 'bank'`. */
export function checkOptions(owner: string, options: unknown, shape: Kind): void {
  if (!shape.takes(options))
    throw errors.invalidConfig(`${owner} takes an object of options, not ${shown(options)}.`);
  const faults: string[] = [];
  shape.inside?.(options, '', faults);
  refuse(owner, faults);
}

/** Refuses a value that stands beside the options. */
export function checkValue(owner: string, what: string, value: unknown, kind: Kind): void {
  const faults: string[] = [];
  check(kind, value, what, faults);
  refuse(owner, faults);
}

function refuse(owner: string, faults: readonly string[]): void {
  if (faults.length > 0) throw errors.invalidConfig(faults.map((fault) => `${owner}: ${fault}`).join('\n'));
}

/** What messages call something by its options, right or wrong: `Agent 'bank'`, or `An agent` without a name. */
export function ownerOf(type: string, options: unknown): string {
  const { id, name } = fieldsOf(isObject(options) ? options : {});
  const called = [id, name].find((one) => typeof one === 'string' && one !== '');
  if (called !== undefined) return `${type} '${called}'`;
  return `${/^[aeiou]/i.test(type) ? 'An' : 'A'} ${type.toLowerCase()}`;
}
