import type { DailyMetrics } from './daily-metrics.js';
import { startOf } from './day.js';
import type { RefreshStatus } from './service.js';

export function dayBodyOf(metrics: DailyMetrics) {
  const { id, day, runs, sessions, users, tokens, models, evals, createdAt, updatedAt } = metrics;
  return {
    id,
    agent_runs_count: runs.agent,
    agent_sessions_count: sessions.agent,
    team_runs_count: runs.team,
    team_sessions_count: sessions.team,
    workflow_runs_count: runs.workflow,
    workflow_sessions_count: sessions.workflow,
    users_count: users,
    token_metrics: tokens,
    model_metrics: models,
    ...(evals.length > 0 && { eval_metrics: evals }),
    date: inSeconds(startOf(day)),
    created_at: inSeconds(createdAt),
    updated_at: inSeconds(updatedAt),
  };
}

export function metricsBodyOf(found: { days: readonly DailyMetrics[]; updatedAt: number | null }) {
  return {
    metrics: found.days.map(dayBodyOf),
    updated_at: found.updatedAt === null ? null : inSeconds(found.updatedAt),
  };
}

export function statusBodyOf({ status, startedAt, finishedAt, error }: RefreshStatus) {
  return { status, started_at: inMicroseconds(startedAt), finished_at: inMicroseconds(finishedAt), error };
}

function inSeconds(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** With six digits, or with none when it is a whole second. */
function inMicroseconds(time: number | null): string | null {
  if (time === null) return null;
  return new Date(time).toISOString().replace(/\.(\d+)Z$/, (_end, digits: string) => {
    return digits === '000' ? 'Z' : `.${digits}000Z`;
  });
}
