import { v7 } from 'uuid';

/** A new identifier: a UUID that sorts by the time it was made. */
export function newId(): string {
  return v7();
}
