import { withinTime } from '../async/abort.js';
import { RunyardError } from '../errors/errors.js';
import { reasonOf } from '../errors/reason.js';
import { isJsonObject, type Json } from '../json.js';
import { kindOf, storable } from '../storable-json.js';
import type { Evidence, Score, Scorer, ScoringContext } from './scorer.js';

/** How long one scorer may take for one run: a judge that is asked three times needs minutes. */
const longestScoringMs = 600_000;
const longestReason = 20_000;
/** Of one score, as JSON. */
const longestDetails = 1_000_000;

export interface ScoredRun {
  /** By the name of the scorer. */
  readonly scores: Readonly<Record<string, Score>>;
  /** Which scorers failed, and why. */
  readonly failure?: string;
}

/**
 * What the scorers say about one run. A run that did not complete is a failed case: no scorer sees it. A scorer that
 * fails is named in `failure`, and the others are still asked.
 */
export async function scoreRun(
  scorers: readonly Scorer[],
  evidence: Evidence,
  context: ScoringContext,
): Promise<ScoredRun> {
  const { run } = evidence;
  if (run.status !== 'completed') return { scores: {}, failure: incompleteRun(run) };
  const scores: [string, Score][] = [];
  const failures: string[] = [];
  for (const scorer of scorers) {
    try {
      scores.push([scorer.name, await scoreBy(scorer, evidence, context)]);
    } catch (error) {
      context.signal.throwIfAborted();
      const reason = error instanceof RunyardError ? error.message : reasonOf(error);
      failures.push(`The scorer '${scorer.name}' failed: ${reason}`);
    }
  }
  // a name such as `__proto__` is a name like any other
  return {
    scores: Object.fromEntries(scores),
    ...(failures.length > 0 && { failure: failures.join('\n') }),
  };
}

function incompleteRun({ status, error }: Evidence['run']): string {
  if (status === 'paused') return 'The run paused: it waits for answers.';
  return error?.message ?? `The run ended as ${status}.`;
}

async function scoreBy(scorer: Scorer, evidence: Evidence, context: ScoringContext): Promise<Score> {
  const bound = {
    timeoutMs: longestScoringMs,
    signal: context.signal,
    timers: context.timers,
    timeout: () => new Error(`it took longer than ${longestScoringMs / 1000} s`),
  };
  const given = await withinTime(bound, (signal) => scorer.score(evidence, { ...context, signal }));
  return checkedScore(given);
}

/** What a scorer of the application returns may be anything. */
function checkedScore(given: unknown): Score {
  if (!isJsonObject(given)) throw new Error(`it returned ${kindOf(given)}, not a score`);
  const { score = null, passed = null, reason, details } = given;
  if (score !== null && (typeof score !== 'number' || !Number.isFinite(score)))
    throw new Error(`its score is ${shown(score)}, not a finite number`);
  if (passed !== null && typeof passed !== 'boolean')
    throw new Error(`its 'passed' is ${shown(passed)}, not true, false or null`);
  if (reason !== undefined && typeof reason !== 'string')
    throw new Error(`its reason is ${shown(reason)}, not a text`);
  if (score === null && passed === null)
    throw new Error('it says neither a score nor whether the run passed');
  return {
    score,
    passed,
    ...(reason !== undefined && { reason: reason.slice(0, longestReason) }),
    ...(details !== undefined && { details: checkedDetails(details) }),
  };
}

function checkedDetails(details: unknown): Json {
  const kept = storable(details, 'what it shows as details');
  const { length } = JSON.stringify(kept);
  if (length > longestDetails)
    throw new Error(`its details have ${length} characters; the limit is ${longestDetails}`);
  return kept;
}

function shown(value: unknown): string {
  return typeof value === 'number' ? String(value) : kindOf(value);
}
