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

/** The name of one run, in which its application code works. */
export class OwnName {
  private first: CodeOwner | undefined;

  /** Calls application code; all that it leaves behind belongs to the owner. */
  call<T>(owner: CodeOwner, code: () => T): T {
    this.first ??= owner;
    return owners.run(owner, code);
  }

  /** A listener of the application that throws does so in the name of its run. */
  abort(controller: AbortController, reason: Error): void {
    const abort = () => controller.abort(reason);
    if (this.first === undefined) abort();
    else owners.run(this.first, abort);
  }
}

/** For what serves many runs: it works for none of them, whoever set it off. */
export function inNobodysName<T>(work: () => T): T {
  return owners.exit(work);
}
