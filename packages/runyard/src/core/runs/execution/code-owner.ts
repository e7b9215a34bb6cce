import { AsyncLocalStorage } from 'node:async_hooks';
import type { Log } from '../../log.js';

/** Whose application code is running: what it leaves behind (timers, promises, listeners) still belongs to it. */
export interface CodeOwner {
  /** The log of the service that called it. */
  readonly log: Log;
  readonly facts: CodeFacts;
}

/** What the log says about it. */
export type CodeFacts =
  /** Of a run: the outermost one. Before there is a run, its component is known. */
  | { readonly runId?: string; readonly component: string; readonly step: string }
  /** A route of the application's own: `GET /orders/:id`. */
  | { readonly route: string };

/** A step of a run. It lives as long as what the application leaves behind, so it holds names and not the run. */
export class StepOwner implements CodeOwner {
  constructor(
    readonly log: Log,
    private readonly runId: string,
    private readonly component: string,
    private readonly step: string,
  ) {}

  get facts(): CodeFacts {
    const { runId, component, step } = this;
    return { runId, component, step };
  }
}

/** Calls a function of the application on behalf of its owner; `what` is what the log calls the function. */
export type CallApplication = <T>(what: string, work: () => T) => T;

const owners = new AsyncLocalStorage<CodeOwner>();

/** The owner of the code that is running now; undefined for code that no owned function started. */
export function codeOwner(): CodeOwner | undefined {
  return owners.getStore();
}

/**
 * Calls application code: all that it leaves behind belongs to the owner. Every call of a function of the
 * application comes through here, and nothing else does: from the first call on, Node 20 takes some microseconds more
 * for each token that the process streams.
 */
export function runAsOwner<T>(owner: CodeOwner, work: () => T): T {
  return owners.run(owner, work);
}

/** The name of one run, in which its application code works. */
export class OwnName {
  /** What was called last is most likely what is running when the run is stopped. */
  private latest: CodeOwner | undefined;

  /** Calls application code; all that it leaves behind belongs to the owner. */
  call<T>(owner: CodeOwner, code: () => T): T {
    this.latest = owner;
    return runAsOwner(owner, code);
  }

  /** When a listener of the application throws, the failure belongs to its run. */
  abort(controller: Pick<AbortController, 'abort'>, reason: Error): void {
    const abort = () => controller.abort(reason);
    if (this.latest === undefined) abort();
    else runAsOwner(this.latest, abort);
  }
}
