import { AsyncLocalStorage } from 'node:async_hooks';
import type { Log } from '../log.js';

/** Whose application code is at work: what it leaves behind (timers, promises, listeners) still belongs to it. */
export interface CodeOwner {
  /** The log of the service whose run it is. */
  readonly log: Log;
  /** The outermost run. */
  readonly runId: string;
  readonly component: string;
  readonly step: string;
}

const owners = new AsyncLocalStorage<CodeOwner>();

/** Who the code that is running now works for; undefined for code that serves no run. */
export function codeOwner(): CodeOwner | undefined {
  return owners.getStore();
}

/** Does the work, and all that it leaves behind, in the name of an owner. */
export function inNameOf<T>(owner: CodeOwner, work: () => T): T {
  return owners.run(owner, work);
}

/** For what serves many runs: it works for none of them, whoever set it off. */
export function inNobodysName<T>(work: () => T): T {
  return owners.exit(work);
}
