import type { DayMetrics } from '@runyard/client';

/** A day of the range. Days without activity are not listed by the service, and are zero here. */
export interface Day {
  /** YYYY-MM-DD in UTC. */
  readonly date: string;
  readonly agents: number;
  readonly teams: number;
  readonly workflows: number;
  readonly runs: number;
  readonly sessions: number;
  readonly users: number;
  readonly input: number;
  readonly output: number;
  readonly total: number;
  readonly cached: number;
  readonly reasoning: number;
}

export interface Range {
  readonly from: string;
  readonly to: string;
}

const dayMs = 86_400_000;

function dateText(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** The last days up to today, in UTC. */
export function lastDays(count: number, now = Date.now()): Range {
  return { from: dateText(now - (count - 1) * dayMs), to: dateText(now) };
}

/** The longest range whose days are all drawn. */
const mostDays = 1_100;

/** All days of the range, with zeros where nothing happened. */
export function daysIn({ from, to }: Range, metrics: readonly DayMetrics[]): readonly Day[] {
  const known = new Map(metrics.map((day) => [day.date.slice(0, 10), day]));
  const start = Date.parse(from);
  const count = Math.min(mostDays, Math.round((Date.parse(to) - start) / dayMs) + 1);
  return Array.from({ length: Math.max(0, count) }, (_, at) => {
    const date = dateText(start + at * dayMs);
    return dayOf(date, known.get(date));
  });
}

function dayOf(date: string, day: DayMetrics | undefined): Day {
  const agents = day?.agent_runs_count ?? 0;
  const teams = day?.team_runs_count ?? 0;
  const workflows = day?.workflow_runs_count ?? 0;
  const tokens = day?.token_metrics;
  return {
    date,
    agents,
    teams,
    workflows,
    runs: agents + teams + workflows,
    sessions:
      (day?.agent_sessions_count ?? 0) +
      (day?.team_sessions_count ?? 0) +
      (day?.workflow_sessions_count ?? 0),
    users: day?.users_count ?? 0,
    input: tokens?.input_tokens ?? 0,
    output: tokens?.output_tokens ?? 0,
    total: tokens?.total_tokens ?? 0,
    cached: tokens?.cache_read_tokens ?? 0,
    reasoning: tokens?.reasoning_tokens ?? 0,
  };
}

export interface ModelRuns {
  readonly id: string;
  readonly provider: string;
  readonly runs: number;
}

export function modelsIn(metrics: readonly DayMetrics[]): readonly ModelRuns[] {
  const found = new Map<string, ModelRuns>();
  for (const { model_metrics } of metrics)
    for (const { model_id: id, model_provider: provider, count } of model_metrics) {
      const key = `${provider} ${id}`;
      found.set(key, { id, provider, runs: count + (found.get(key)?.runs ?? 0) });
    }
  return [...found.values()].toSorted((a, b) => b.runs - a.runs);
}

export interface LiveScores {
  readonly eval: string;
  readonly component: string;
  readonly scorer: string;
  readonly count: number;
  readonly mean: number | undefined;
  readonly passRate: number | undefined;
}

/** Means over all days, weighted by how many runs each day has. */
export function liveScoresIn(metrics: readonly DayMetrics[]): readonly LiveScores[] {
  const found = new Map<string, LiveScores>();
  for (const { eval_metrics = [] } of metrics)
    for (const one of eval_metrics)
      for (const { scorer, count, mean_score, pass_rate } of one.scorers) {
        const key = JSON.stringify([one.eval, one.component_id, scorer]);
        const before = found.get(key);
        found.set(key, {
          eval: one.eval,
          component: one.component_id,
          scorer,
          count: count + (before?.count ?? 0),
          mean: weighted(before?.mean, before?.count, mean_score, count),
          passRate: weighted(before?.passRate, before?.count, pass_rate, count),
        });
      }
  return [...found.values()];
}

function weighted(
  before: number | undefined,
  countBefore: number | undefined,
  value: number | null,
  count: number,
): number | undefined {
  if (value === null) return before;
  if (before === undefined || !countBefore) return value;
  return (before * countBefore + value * count) / (countBefore + count);
}

export function sum(days: readonly Day[], of: (day: Day) => number): number {
  return days.reduce((total, day) => total + of(day), 0);
}
