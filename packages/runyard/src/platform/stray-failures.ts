import { inspect } from 'node:util';
import { thrownError } from '../core/errors/thrown-error.js';
import type { Log } from '../core/log.js';
import { type CodeFacts, codeOwner } from '../core/runs/execution/code-owner.js';

/** Failures of one run or route after the first one are counted for so long, and reported in one line. */
const summaryMs = 10_000;
/** As many runs and routes are counted apart; the failures of further ones are reported together. */
const mostCounted = 1_000;
/** More uncaught exceptions of unknown origin within this time end a process of ours: something is truly broken. */
const mostUnknown = 10;
const unknownWithinMs = 60_000;

type Kind = 'unhandled_rejection' | 'uncaught_exception';

/** Where a failure comes from, as far as it is known, and who logs it. */
interface Origin {
  readonly log: Log;
  readonly facts: CodeFacts | undefined;
}

interface Counted {
  readonly origin: Origin;
  readonly timer: NodeJS.Timeout;
  more: number;
  last: Error;
}

/** The services that are guarded; true for one that the process exists for. */
const guarded = new Map<object, { readonly log: Log; readonly ownsProcess: boolean }>();
const counts = new Map<string, Counted>();
let unknownAt: number[] = [];

/**
 * Keeps the process up when application code fails without a waiter: in a timer that a tool left behind, in a
 * promise that a step did not wait for. It is logged with the run or the route that it belongs to. Rejections of unknown
 * origin are logged too. An exception of unknown origin is logged in a process of ours, up to a bound; in any other one
 * it ends the process, as it would without this. Listeners of the host decide about whatever has no owner. Answers with
 * what takes it back.
 */
export function guardProcess(log: Log, ownsProcess: boolean): () => void {
  if (guarded.size === 0) {
    process.on('unhandledRejection', onRejection);
    process.on('uncaughtException', onException);
  }
  const guard = { log, ownsProcess };
  guarded.set(guard, guard);
  return () => {
    if (!guarded.delete(guard) || guarded.size > 0) return;
    process.off('unhandledRejection', onRejection);
    process.off('uncaughtException', onException);
  };
}

function onRejection(reason: unknown): void {
  if (isOwned(reason, 'unhandled_rejection')) return;
  if (process.listenerCount('unhandledRejection') > 1) return;
  for (const { log } of guarded.values()) {
    note({ log, facts: undefined }, thrownError(reason), 'unhandled_rejection');
    return;
  }
}

function onException(thrown: unknown): void {
  if (isOwned(thrown, 'uncaught_exception')) return;
  if (process.listenerCount('uncaughtException') > 1) return;
  const error = thrownError(thrown);
  const owning = [...guarded.values()].find(({ ownsProcess }) => ownsProcess);
  if (owning === undefined) end(`Uncaught ${inspect(error)}`);
  else if (isTooMany(performance.now())) {
    report({ log: owning.log, facts: undefined }, error, 'uncaught_exception');
    end(
      `${inspect(error)}\nMore than ${mostUnknown} uncaught exceptions within a minute belong to no run and no route. The process exits so that it can be restarted. The last one: ${error.message.split('\n', 1)[0]}`,
    );
  } else report({ log: owning.log, facts: undefined }, error, 'uncaught_exception');
}

function end(lastWords: string): void {
  process.stderr.write(`${lastWords}\n`);
  process.exit(1);
}

function isTooMany(now: number): boolean {
  unknownAt = unknownAt.filter((at) => now - at < unknownWithinMs);
  unknownAt.push(now);
  return unknownAt.length > mostUnknown;
}

function isOwned(thrown: unknown, kind: Kind): boolean {
  const owner = codeOwner();
  if (owner === undefined) return false;
  if (![...guarded.values()].some(({ log }) => log === owner.log)) return false;
  note(owner, thrownError(thrown), kind);
  return true;
}

/** What is counted together. */
function keyOf(facts: CodeFacts | undefined): string {
  if (facts === undefined) return 'unknown';
  const key =
    'route' in facts ? `route ${facts.route}` : `run ${facts.runId ?? facts.component} ${facts.step}`;
  return counts.size < mostCounted || counts.has(key) ? key : 'others';
}

function note(origin: Origin, error: Error, kind: Kind): void {
  const key = keyOf(origin.facts);
  const counted = counts.get(key);
  if (counted !== undefined) {
    counted.more += 1;
    counted.last = error;
    return;
  }
  report(origin, error, kind);
  const timer = setInterval(() => summarise(key), summaryMs);
  timer.unref();
  counts.set(key, { origin, timer, more: 0, last: error });
}

function report(origin: Origin, error: Error, kind: Kind): void {
  write(origin, { err: error, kind }, `${whose(origin)} failed outside of any awaited call`);
}

function whose({ facts }: Origin): string {
  if (facts === undefined) return 'code that belongs to no run and no route';
  if ('route' in facts) return 'application code of a route';
  return facts.runId === undefined ? 'application code of a component' : 'application code of a run';
}

function summarise(key: string): void {
  const counted = counts.get(key);
  if (counted === undefined) return;
  if (counted.more === 0) {
    clearInterval(counted.timer);
    counts.delete(key);
    return;
  }
  const { origin, more, last } = counted;
  counted.more = 0;
  write(origin, { err: last, more }, `${whose(origin)} failed ${more} more times; this is the last failure`);
}

function write({ log, facts }: Origin, more: object, message: string): void {
  try {
    log.error({ ...more, ...facts }, message);
  } catch {
    // a log that fails must not end what was just kept up
  }
}
