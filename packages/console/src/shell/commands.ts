import { useEffect, useSyncExternalStore } from 'react';

/** Something that the command palette offers. */
export interface Command {
  readonly id: string;
  readonly title: string;
  /** The heading that it stands under. */
  readonly group: string;
  /** Further words that find it. */
  readonly keywords?: string;
  /** Shown at the right, such as a shortcut. */
  readonly hint?: string;
  run(): void;
}

const sources = new Map<object, readonly Command[]>();
const listeners = new Set<() => void>();
let all: readonly Command[] = [];

/** Offers commands until the returned function is called. Pages use useCommands(). */
function registerCommands(commands: readonly Command[]): () => void {
  const source = {};
  sources.set(source, commands);
  changed();
  return () => {
    sources.delete(source);
    changed();
  };
}

/** Offers the commands of a page while it is shown. Memoize the list. */
export function useCommands(commands: readonly Command[]): void {
  useEffect(() => registerCommands(commands), [commands]);
}

export function useRegisteredCommands(): readonly Command[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => all,
  );
}

/** Those that contain every word, in their order. */
export function matching(commands: readonly Command[], text: string): readonly Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return commands.filter(({ title, group, keywords = '' }) => {
    const where = `${title} ${group} ${keywords}`.toLowerCase();
    return words.every((word) => where.includes(word));
  });
}

function changed(): void {
  all = [...sources.values()].flat();
  for (const listener of listeners) listener();
}
