import { fieldsOf } from '../objects.js';
/**
 * What application code threw, as an error whose name and message can be read. Code may throw anything: nothing at
 * all, an object without a prototype, a proxy, an error whose getters throw.
 */
export function thrownError(thrown: unknown): Error {
  if (isReadable(thrown)) return thrown;
  const text = textOf(thrown);
  return new Error(text ?? `it threw ${kindOf(thrown)} instead of an Error`);
}

function isReadable(thrown: unknown): thrown is Error {
  try {
    return (
      thrown instanceof Error &&
      typeof thrown.name === 'string' &&
      typeof thrown.message === 'string' &&
      (thrown.stack === undefined || typeof thrown.stack === 'string')
    );
  } catch {
    return false;
  }
}

/** A text, or the message of something that is an error in all but its class. */
function textOf(thrown: unknown): string | undefined {
  try {
    const text = typeof thrown === 'object' ? fieldsOf(thrown).message : thrown;
    return typeof text === 'string' && text !== '' ? text : undefined;
  } catch {
    return undefined;
  }
}

function kindOf(thrown: unknown): string {
  if (typeof thrown === 'object' && thrown !== null) return 'an object';
  return typeof thrown === 'function' ? 'a function' : String(thrown);
}
