import { forEachName } from '../../core/objects.js';
import type { RunKind } from '../../core/runs/run.js';

/** The token counts of a day, under the names of the wire. */
export const tokenFields = [
  'input_tokens',
  'output_tokens',
  'total_tokens',
  'audio_total_tokens',
  'audio_input_tokens',
  'audio_output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
] as const;

export type TokenMetrics = Readonly<Record<(typeof tokenFields)[number], number>>;

export type ModelMetrics = {
  readonly model_id: string;
  readonly model_provider: string;
  /** How many runs had it as their main model. */
  readonly count: number;
};

/** What a live eval found out about the runs of a day. */
export type EvalMetrics = {
  readonly eval: string;
  readonly type: RunKind;
  readonly component_id: string;
  /** Runs with a score of each scorer. */
  readonly graded: number;
  /** Runs with a scorer that failed. */
  readonly incomplete: number;
  /** Runs that wait to be graded. */
  readonly pending: number;
  /** Runs that failed: no scorer saw them. */
  readonly failed: number;
  /** Runs beyond what the eval may grade in an hour. */
  readonly skipped: number;
  readonly scorers: readonly {
    readonly scorer: string;
    readonly count: number;
    readonly mean_score: number | null;
    /** In percent, of the runs that the scorer let pass or fail. */
    readonly pass_rate: number | null;
  }[];
};

export const kinds: readonly RunKind[] = ['agent', 'team', 'workflow'];

export type KindCounts = Readonly<Record<RunKind, number>>;

/** What happened on a day. */
export interface DayCounts {
  readonly runs: KindCounts;
  /** Sessions that were created on the day. */
  readonly sessions: KindCounts;
  /** Users with a run, or with a new session. */
  readonly users: number;
  readonly tokens: TokenMetrics;
  readonly models: readonly ModelMetrics[];
  readonly evals: readonly EvalMetrics[];
}

export interface DailyMetrics extends DayCounts {
  /** Days since 1970, UTC. */
  readonly day: number;
  readonly id: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The usage of one kind of runs and one model on a day. */
export type UsageSum = Readonly<Record<(typeof tokenFields)[number], number>> & {
  readonly kind: RunKind;
  readonly provider: string;
  readonly model: string;
  /** In the sums of what was used: 0. */
  readonly run_count: number;
};

export type KindCount = { readonly kind: RunKind; readonly count: number };

export function dayCountsOf(
  sums: readonly UsageSum[],
  sessions: readonly KindCount[],
  users: number,
  evals: readonly EvalMetrics[],
): DayCounts {
  return {
    runs: byKind(sums.map(({ kind, run_count: count }) => ({ kind, count }))),
    sessions: byKind(sessions),
    users,
    tokens: tokensOf(sums),
    models: modelsOf(sums),
    evals,
  };
}

export function isEmpty({ runs, sessions }: DayCounts): boolean {
  return kinds.every((kind) => runs[kind] === 0 && sessions[kind] === 0);
}

export function byKind(counts: readonly KindCount[]): KindCounts {
  const sums = { agent: 0, team: 0, workflow: 0 };
  for (const { kind, count } of counts) sums[kind] += count;
  return sums;
}

function tokensOf(sums: readonly UsageSum[]): TokenMetrics {
  const total = (field: (typeof tokenFields)[number]) => sums.reduce((sum, row) => sum + row[field], 0);
  return forEachName(tokenFields, total);
}

/** The most used first; names decide between equals, the same way on every database. */
function modelsOf(sums: readonly UsageSum[]): ModelMetrics[] {
  const models = new Map<string, ModelMetrics>();
  for (const { model, provider, run_count: runs } of sums) {
    if (runs === 0 || model === '') continue;
    const key = JSON.stringify([model, provider]);
    const count = runs + (models.get(key)?.count ?? 0);
    models.set(key, { model_id: model, model_provider: provider, count });
  }
  return [...models.entries()]
    .sort(([leftKey, left], [rightKey, right]) => right.count - left.count || (leftKey < rightKey ? -1 : 1))
    .map(([, entry]) => entry);
}
