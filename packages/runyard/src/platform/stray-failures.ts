import { inspect } from 'node:util';
import { thrownError } from '../core/failures/thrown-error.js';
import type { Log } from '../core/log.js';
import { type CodeOwner, codeOwner } from '../core/runs/code-owner.js';

/** Failures of one run after the first one are counted for so long, and told in one line. */
const summaryMs = 10_000;
/** As many runs are counted apart; the failures of further ones are told together. */
const mostCounted = 1_000;

type Kind = 'unhandled_rejection' | 'uncaught_exception';

interface Counted {
  readonly owner: CodeOwner;
  readonly timer: NodeJS.Timeout;
  more: number;
  last: Error;
}

const guarded = new Map<Log, number>();
const counts = new Map<string, Counted>();

/**
 * Keeps the process up when application code of a run fails where nobody waits for it: in a timer that a tool left
 * behind, in a promise that a step did not wait for. It is logged with the run that it belongs to. A failure that
 * belongs to no run of a guarded service ends the process, as it would without this. Answers with what takes it back.
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
  if (isOwned(reason, 'unhandled_rejection')) return;
  // without a listener of their own, this is what Node does
  if (process.listenerCount('unhandledRejection') === 1) throw thrownError(reason);
}

function onException(thrown: unknown): void {
  if (isOwned(thrown, 'uncaught_exception')) return;
  if (process.listenerCount('uncaughtException') > 1) return;
  process.stderr.write(`Uncaught ${inspect(thrownError(thrown))}\n`);
  process.exit(1);
}

function isOwned(thrown: unknown, kind: Kind): boolean {
  const owner = codeOwner();
  if (owner === undefined || !guarded.has(owner.log)) return false;
  note(owner, thrownError(thrown), kind);
  return true;
}

function note(owner: CodeOwner, error: Error, kind: Kind): void {
  const key = counts.size < mostCounted || counts.has(owner.runId) ? owner.runId : '';
  const counted = counts.get(key);
  if (counted !== undefined) {
    counted.more += 1;
    counted.last = error;
    return;
  }
  write(owner, { err: error, kind }, 'application code of a run failed where nobody waited for it');
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
  write(
    owner,
    { err: last, more },
    `application code of a run failed ${more} more times; this is the last one`,
  );
}

function write({ log, runId, component, step }: CodeOwner, facts: object, message: string): void {
  try {
    log.error({ ...facts, runId, component, step }, message);
  } catch {
    // a log that fails must not end what was just kept up
  }
}
