import { thrownError } from '../core/failures/thrown-error.js';
import type { Log } from '../core/log.js';
import { type CodeOwner, codeOwner } from '../core/runs/code-owner.js';

/** Failures of one run after the first one are counted for so long, and logged in one line. */
const summaryMs = 10_000;
/** As many runs are counted apart; the failures of further ones are logged together. */
const mostCounted = 1_000;

type Kind = 'unhandled_rejection' | 'uncaught_exception';

/** Whose failure it is. That of a timer of a module, or of a model object, is known to be no run's alone. */
type Source = Pick<CodeOwner, 'log'> & Partial<CodeOwner>;

interface Counted {
  readonly owner: Source;
  readonly timer: NodeJS.Timeout;
  more: number;
  last: Error;
}

const guarded = new Map<Log, number>();
const counts = new Map<string, Counted>();

/**
 * Keeps the process up when application code fails where nobody waits for it: in a timer that a tool left behind, in a
 * promise that a route did not wait for, in a connection of a module. It is logged, with the run that it belongs to if
 * it belongs to one. Answers with what takes it back.
 */
export function guardProcess(log: Log): () => void {
  if (guarded.size === 0) {
    process.on('unhandledRejection', onRejection);
    process.on('uncaughtException', onException);
  }
  guarded.set(log, (guarded.get(log) ?? 0) + 1);
  let released = false;
  return () => {
    if (released) return;
    released = true;
    const left = guarded.get(log)! - 1;
    if (left > 0) guarded.set(log, left);
    else guarded.delete(log);
    if (guarded.size > 0) return;
    process.off('unhandledRejection', onRejection);
    process.off('uncaughtException', onException);
  };
}

function onRejection(reason: unknown): void {
  onStray(reason, 'unhandled_rejection', 'unhandledRejection');
}

function onException(thrown: unknown): void {
  onStray(thrown, 'uncaught_exception', 'uncaughtException');
}

function onStray(thrown: unknown, kind: Kind, event: string): void {
  const owner = codeOwner();
  if (owner !== undefined && guarded.has(owner.log)) note(owner, thrownError(thrown), kind);
  // what belongs to no run is decided by listeners of the application, if there are any
  else if (process.listenerCount(event) === 1) note({ log: anyLog() }, thrownError(thrown), kind);
}

/** That of the service that was started first. */
function anyLog(): Log {
  return guarded.keys().next().value!;
}

function note(owner: Source, error: Error, kind: Kind): void {
  const { runId = '' } = owner;
  const key = counts.size < mostCounted || counts.has(runId) ? runId : '';
  const counted = counts.get(key);
  if (counted !== undefined) {
    counted.more += 1;
    counted.last = error;
    return;
  }
  write(owner, { err: error, kind }, `${whose(owner)} failed where nobody waited for it`);
  const timer = setInterval(() => summarise(key), summaryMs);
  timer.unref();
  counts.set(key, { owner, timer, more: 0, last: error });
}

function summarise(key: string): void {
  const counted = counts.get(key);
  if (counted === undefined) return;
  if (counted.more === 0) {
    clearInterval(counted.timer);
    counts.delete(key);
    return;
  }
  const { owner, more, last } = counted;
  counted.more = 0;
  write(owner, { err: last, more }, `${whose(owner)} failed ${more} more times; this is the last one`);
}

function whose({ runId }: Source): string {
  return runId === undefined ? 'application code that belongs to no run' : 'application code of a run';
}

function write({ log, runId, component, step }: Source, facts: object, message: string): void {
  try {
    log.error({ ...facts, runId, component, step }, message);
  } catch {
    // a log that fails must not end what was just kept up
  }
}
