import { patience } from './patience.js';

/** The first looks come at once; a long wait is not worth a request every few milliseconds. */
const lookMs = { least: 10, most: 100, share: 0.1 };

/** Polls until there is an answer other than undefined or false. Fails with the name of what it waited for. */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  idleMs?: number,
): Promise<T> {
  const begun = performance.now();
  for (;;) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    const waitedMs = performance.now() - begun;
    if (waitedMs > patience(idleMs))
      throw new Error(`Waited ${Math.round(waitedMs)} ms in vain until ${what}`);
    const pauseMs = Math.min(Math.max(waitedMs * lookMs.share, lookMs.least), lookMs.most);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** A promise that someone else settles. */
export interface Gate<T = void> {
  readonly opened: Promise<T>;
  open(value: T): void;
}

export function gate<T = void>(): Gate<T> {
  let open!: (value: T) => void;
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
