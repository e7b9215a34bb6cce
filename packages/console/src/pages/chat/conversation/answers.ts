import type { RunView } from '../run/run-view.js';
import type { Turn } from './turn.js';

/** The answers that a turn had before, by the id of its run, the oldest first. */
export type EarlierAnswers = ReadonlyMap<string, readonly RunView[]>;

/** Turns that others have replaced, or are about to, are the earlier answers of those. */
export function newestAnswers(
  all: readonly Turn[],
  before: EarlierAnswers,
): { readonly turns: readonly Turn[]; readonly earlier: EarlierAnswers } {
  const byId = new Map(all.map((turn) => [turn.view.runId, turn]));
  const replaced = new Set(all.flatMap(({ regeneratedFrom = [] }) => regeneratedFrom));
  const turns = all.filter(({ view }) => !replaced.has(view.runId) && view.status !== 'regenerated');
  const earlier = new Map<string, readonly RunView[]>();
  for (const { view, regeneratedFrom } of turns) {
    const chain: RunView[] = [];
    const seen = new Set([view.runId]);
    for (let id = regeneratedFrom; id !== undefined && !seen.has(id); id = byId.get(id)?.regeneratedFrom) {
      seen.add(id);
      const turn = byId.get(id);
      if (turn) chain.unshift(turn.view);
    }
    const known = before.get(view.runId) ?? [];
    const isSame = chain.length === known.length && chain.every((one, at) => one === known[at]);
    // the same list, if nothing changed: what shows it is then not drawn again
    if (chain.length > 0) earlier.set(view.runId, isSame ? known : chain);
  }
  return { turns, earlier };
}
