import { types } from 'node:util';

/** Whether it has to be waited for. Async functions return Node's own promises, also where an application replaced `Promise`. */
export function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return value instanceof Promise || types.isPromise(value);
}
