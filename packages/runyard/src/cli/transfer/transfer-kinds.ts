import { CommandFailure } from '../failure.js';
import { components } from './components.js';
import { datasets } from './datasets.js';
import { knowledge } from './knowledge.js';
import { schedules } from './schedules.js';
import type { TransferKind } from './thing.js';

/** In the order in which they are imported: schedules call components. */
const kinds: readonly TransferKind[] = [components, knowledge, datasets, schedules];

/** Those that a flag names, or all. */
export function chosenKinds(only: string | undefined): readonly TransferKind[] {
  if (only === undefined) return kinds;
  const names = only.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !kinds.some(({ folder }) => folder === name));
  if (unknown !== undefined)
    throw new CommandFailure(
      `flag --only is "${only}"; allowed: ${kinds.map(({ folder }) => folder).join(', ')}, separated by commas.`,
    );
  return kinds.filter(({ folder }) => names.includes(folder));
}
