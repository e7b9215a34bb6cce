import { createHash } from 'node:crypto';
import type { EvalCase } from '../eval-case.js';
import { CaseFault, type UnnamedCase } from './given-case.js';

/** An id that two cases of one list have. */
export class DuplicateCase extends CaseFault {
  constructor(
    id: string,
    /** The position of the second one. */
    readonly index: number,
  ) {
    super('id', `another case has the id '${id}' too.`);
  }
}

/**
 * Gives each case its id: its own, or one made from its input, so that the same input is found again wherever it
 * stands. Cases with the same input are numbered in their order.
 */
export function withIds(cases: readonly UnnamedCase[]): EvalCase[] {
  const taken = new Set<string>();
  for (const [index, { id }] of cases.entries()) {
    if (id === undefined) continue;
    if (taken.has(id)) throw new DuplicateCase(id, index);
    taken.add(id);
  }
  const counts = new Map<string, number>();
  return cases.map((one) => {
    if (one.id !== undefined) return { ...one, id: one.id };
    const made = createHash('sha256').update(one.input).digest('hex').slice(0, 16);
    let count = counts.get(made) ?? 0;
    let id: string;
    do {
      count += 1;
      id = count === 1 ? made : `${made}-${count}`;
    } while (taken.has(id));
    counts.set(made, count);
    taken.add(id);
    return { ...one, id };
  });
}
