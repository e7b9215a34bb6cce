import type { Statistics } from '../../core/evals/eval-results.js';
import { scorerSummary } from '../../core/evals/eval-summary.js';
import type { EvalType } from '../../core/evals/eval-types.js';
import { statisticsOf } from '../../core/evals/statistics.js';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.js';
import type { Evaluation, StoredResult } from './stored-eval.js';

/** How much of the single results an eval shows itself; all of them are listed by their own route. */
const mostCharacters = 256 * 1024;
const mostErrors = 100;
const bytesInMib = 1024 * 1024;

/** The names that the scorers of the four kinds have. */
export const scorerNames = { accuracy: 'accuracy', judge: 'judge', reliability: 'reliability' } as const;

/** What came out of an eval, as the wire shows it. It is folded from the results, in their order. */
export class EvalData {
  private readonly shown: JsonObject[] = [];
  private readonly errors: JsonObject[] = [];
  private readonly verdicts: Pick<StoredResult, 'scores'>[] = [];
  private readonly runTimes: number[] = [];
  private readonly memory: number[] = [];
  private readonly calls = new ToolCallLists();
  private readonly scorers = new Set<string>();
  private characters = 0;
  private omitted = 0;
  private failures = 0;

  constructor(
    private readonly evalId: string,
    private readonly evaluation: Evaluation,
  ) {}

  add(result: StoredResult): void {
    const { scores, error, status, runTimeMs, memoryBytes } = result;
    if (error !== null || status !== 'completed') this.addError(result);
    if (status !== 'completed') return;
    this.verdicts.push({ scores });
    for (const name of Object.keys(scores)) this.scorers.add(name);
    if (runTimeMs !== null) this.runTimes.push(runTimeMs / 1000);
    this.memory.push((memoryBytes ?? 0) / bytesInMib);
    this.calls.add(scores[scorerNames.reliability]?.details);
    const shown = this.shownResult(result);
    if (shown !== undefined) this.show(shown);
  }

  get value(): JsonObject {
    const { errors, omitted } = this;
    const more = {
      errors,
      ...(this.failures > errors.length && { errors_omitted: this.failures - errors.length }),
      ...(omitted > 0 && { results_omitted: omitted }),
    };
    return { ...this.ofType(), ...more };
  }

  private ofType(): JsonObject {
    const { shown: results, verdicts } = this;
    switch (this.evaluation.evalType) {
      case 'accuracy': {
        const { mean, min, max, stdDev } = scorerSummary(scorerNames.accuracy, verdicts).scores;
        const scores = { min_score: min, max_score: max, std_dev_score: stdDev };
        return { results, avg_score: mean, mean_score: mean, ...scores };
      }
      case 'agent_as_judge': {
        const { scores, passRate } = scorerSummary(scorerNames.judge, verdicts);
        const { mean, min, max, stdDev } = scores;
        const numbers = { avg_score: mean, min_score: min, max_score: max, std_dev_score: stdDev };
        return { run_id: this.evalId, results, ...numbers, pass_rate: 100 * (passRate ?? 0) };
      }
      case 'performance':
        return this.performance();
      case 'reliability': {
        const { passed } = scorerSummary(scorerNames.reliability, verdicts);
        const isPassed = this.failures === 0 && passed === verdicts.length && passed > 0;
        return { eval_status: isPassed ? 'PASSED' : 'FAILED', ...this.calls.value };
      }
      case 'custom': {
        const scorers = Array.from(this.scorers, (name) => {
          const { scores, passRate, passed, failed } = scorerSummary(name, verdicts);
          const { mean, min, max, stdDev, median, p95 } = scores;
          const numbers = { min_score: min, max_score: max, std_dev_score: stdDev, median_score: median };
          const rate = passRate === null ? null : 100 * passRate;
          return { name, avg_score: mean, ...numbers, p95_score: p95, passed, failed, pass_rate: rate };
        });
        return { results, scorers };
      }
    }
  }

  /** Both forms that clients know: flat, and as statistics with a list of runs. */
  private performance(): JsonObject {
    const { runTimes, memory } = this;
    const times = statisticsNamed('run_time', statisticsOf(runTimes));
    const usages = statisticsNamed('memory_usage', statisticsOf(memory));
    return {
      run_times: runTimes,
      ...times,
      memory_usages: memory,
      ...usages,
      result: { ...times, ...usages },
      runs: runTimes.map((runtime, at) => ({ runtime, memory: memory[at] ?? 0 })),
    };
  }

  private shownResult(result: StoredResult): JsonObject | undefined {
    const { caseId, iteration, input, output, expectedOutput, scores } = result;
    const place = { case_id: caseId, iteration, run_id: result.runId };
    const { accuracy, judge } = scorerNames;
    switch (this.evaluation.evalType) {
      case 'accuracy': {
        const given = scores[accuracy];
        if (given === undefined) return undefined;
        const { score, reason = '' } = given;
        return { input, output, expected_output: expectedOutput, score, reason, ...place };
      }
      case 'agent_as_judge': {
        const given = scores[judge];
        if (given === undefined) return undefined;
        const { score, reason = '', passed } = given;
        const { criteria = '' } = this.evaluation;
        return { input, output, criteria, score, reason, passed, ...place };
      }
      case 'custom':
        return { input, output, expected_output: expectedOutput, scores: shownScores(result), ...place };
      default:
        return undefined;
    }
  }

  private show(result: JsonObject): void {
    this.characters += JSON.stringify(result).length;
    // one result is always shown, whatever its length
    if (this.characters > mostCharacters && this.shown.length > 0) this.omitted += 1;
    else this.shown.push(result);
  }

  private addError({ caseId, iteration, error, status, runId }: StoredResult): void {
    this.failures += 1;
    if (this.errors.length >= mostErrors) return;
    const message = error ?? `The run ended as ${status}.`;
    this.errors.push({ iteration, message, case_id: caseId, run_id: runId });
  }
}

/** What an eval shows before it has ended. */
export function emptyData(evalId: string, evalType: EvalType): JsonObject {
  const evaluation = { evalType, strategy: 'binary', threshold: 7, allowAdditionalToolCalls: false } as const;
  return new EvalData(evalId, evaluation).value;
}

/** What a scorer says, in the form of the wire. */
export function shownScores({ scores }: Pick<StoredResult, 'scores'>): JsonObject {
  return Object.fromEntries(
    Object.entries(scores).map(([name, { score, passed, reason, details }]) => [
      name,
      { score, passed, ...(reason !== undefined && { reason }), ...(details !== undefined && { details }) },
    ]),
  );
}

function statisticsNamed(name: string, { mean, min, max, stdDev, median, p95 }: Statistics): JsonObject {
  return {
    [`avg_${name}`]: mean,
    [`min_${name}`]: min,
    [`max_${name}`]: max,
    [`std_dev_${name}`]: stdDev,
    [`median_${name}`]: median,
    [`p95_${name}`]: p95,
  };
}

const listNames = {
  failed_tool_calls: 'failedToolCalls',
  passed_tool_calls: 'passedToolCalls',
  additional_tool_calls: 'additionalToolCalls',
  missing_tool_calls: 'missingToolCalls',
  failed_argument_checks: 'failedArgumentChecks',
  passed_argument_checks: 'passedArgumentChecks',
} as const;

const mostCalls = 10_000;

/** What the reliability scorer found, over all runs. */
class ToolCallLists {
  private readonly lists = new Map<string, Json[]>();

  add(details: Json | undefined): void {
    if (!isJsonObject(details)) return;
    for (const [name, field] of Object.entries(listNames)) {
      const given = details[field];
      const list = this.lists.get(name) ?? [];
      if (Array.isArray(given)) list.push(...given.slice(0, mostCalls - list.length));
      this.lists.set(name, list);
    }
  }

  get value(): JsonObject {
    return Object.fromEntries(Object.keys(listNames).map((name) => [name, this.lists.get(name) ?? []]));
  }
}
