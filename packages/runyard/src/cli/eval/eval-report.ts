import type { RunKind } from '../../core/runs/run.js';
import { usageError } from '../failure.js';

/** The version of the JSON that `--json` writes. A reader refuses a newer one. */
export const reportVersion = 1;

/** What one command did: what `--json` writes and `--baseline` reads. */
export interface EvalReport {
  readonly version: typeof reportVersion;
  readonly runyard: string;
  readonly startedAt: string;
  readonly durationMs: number;
  /** The command was interrupted: what is here was done before. */
  readonly cancelled: boolean;
  readonly evals: readonly EvalEntry[];
  /** Files that could not be loaded. */
  readonly loadErrors: readonly LoadError[];
}

export interface LoadError {
  readonly file: string;
  readonly message: string;
}

/** `error`: the eval could not be executed; `cancelled`: it was interrupted. */
export type EvalStatus = 'passed' | 'failed' | 'error' | 'cancelled';

/** One eval of a file. */
export interface EvalEntry {
  /** Relative to the folder of the command, with `/` on every system. */
  readonly file: string;
  readonly name: string;
  readonly component: { readonly kind: RunKind; readonly id: string } | null;
  readonly status: EvalStatus;
  /** Why it is below its thresholds, or could not be executed. */
  readonly reasons: readonly string[];
  readonly durationMs: number;
  /** In US dollars, of the runs of the component; null where a price is not known. */
  readonly cost: number | null;
  readonly scorers: readonly ScorerEntry[];
  readonly cases: readonly CaseEntry[];
}

export interface ScorerEntry {
  readonly name: string;
  readonly lowerIsBetter: boolean;
  /** Null for a scorer that gives no numbers. */
  readonly mean: number | null;
  readonly stdDev: number | null;
  readonly passed: number;
  readonly failed: number;
}

/** One execution of one case. */
export interface CaseEntry {
  readonly caseId: string;
  readonly iteration: number;
  /** Of the run; `not_started` when there is none. */
  readonly status: string;
  readonly passed: boolean;
  readonly input: string;
  readonly expected?: string;
  readonly output?: string;
  readonly scores: Readonly<
    Record<
      string,
      { readonly score: number | null; readonly passed: boolean | null; readonly reason?: string }
    >
  >;
  /** Why there is no score, or not from every scorer. */
  readonly failure?: string;
  readonly durationMs: number | null;
  readonly cost: number | null;
}

/** Why a case did not pass, in one line for each cause. */
export function reasonsOf({ failure, scores }: CaseEntry): string[] {
  const refused = Object.entries(scores).flatMap(([name, { score, passed, reason }]) =>
    passed === false
      ? [`${name}${score === null ? '' : ` ${numberText(score)}`}${reason ? `: ${reason}` : ''}`]
      : [],
  );
  return failure === undefined ? refused : [failure, ...refused];
}

/** A number for people: without digits that say nothing. */
export function numberText(value: number): string {
  return String(Number(value.toFixed(2)));
}

/** What a command ends with: 0 when all is at or above its thresholds. */
export function exitCodeOf(report: EvalReport, regressions: number): number {
  if (report.cancelled) return interrupted;
  if (report.loadErrors.length > 0) return usageError;
  return regressions > 0 || report.evals.some(({ status }) => status !== 'passed') ? belowThreshold : 0;
}

const belowThreshold = 1;
/** What a shell shows for a process that Ctrl-C ended. */
const interrupted = 130;
