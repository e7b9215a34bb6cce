import { type Budget, pairs } from './sequence-pairs.js';

/** How many lines around a change are shown. */
const around = 2;
/** Longer texts are shown as a whole. */
const mostLines = 5000;

/** The changes of a text, with the lines around them; undefined for texts of one line, and for very long ones. */
export function diffLines(before: string, after: string, budget: Budget): string[] | undefined {
  const [old, fresh] = [before.split('\n'), after.split('\n')];
  const total = old.length + fresh.length;
  if (total === 2 || total > mostLines) return undefined;
  const lines = pairs(old, fresh, budget).flatMap(([one, other]) => shown(old, fresh, one, other));
  const isNear = (index: number) =>
    lines.slice(Math.max(0, index - around), index + around + 1).some((line) => !line.startsWith('  '));
  const found: string[] = [];
  lines.forEach((line, index) => {
    if (isNear(index)) found.push(line);
    else if (found.at(-1) !== gap) found.push(gap);
  });
  return found;
}

/** Stands for lines that are the same. */
const gap = '…';

function shown(
  old: readonly string[],
  fresh: readonly string[],
  one: number | undefined,
  other: number | undefined,
): string[] {
  const before = one === undefined ? undefined : old[one];
  const after = other === undefined ? undefined : fresh[other];
  if (before === after) return [`  ${before}`];
  return [...(before === undefined ? [] : [`- ${before}`]), ...(after === undefined ? [] : [`+ ${after}`])];
}
