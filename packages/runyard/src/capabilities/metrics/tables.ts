import type { RunKind } from '../../core/runs/run.js';

declare module '../../platform/storage/schema.js' {
  interface Schema {
    run_usage: RunUsageTable;
    daily_metrics: DailyMetricsTable;
    metrics_refresh: MetricsRefreshTable;
  }
}

export interface RunUsageTable {
  session_id: string;
  run_id: string;
  /** What the model was called for; empty for the row of the run itself (of a team's: one for each main model). */
  purpose: string;
  /** The provider of the model; in a row of the run itself, that of its main model, or empty without one. */
  provider: string;
  model: string;
  kind: RunKind;
  user_id: string | null;
  /** Of the run's creation: days since 1970, UTC. */
  day: number;
  /** In a row of the run itself, which has no tokens: how many runs it counts for. 0 in the others. */
  run_count: number;
  input_tokens: number;
  output_tokens: number;
  total_tokens: number;
  audio_input_tokens: number;
  audio_output_tokens: number;
  audio_total_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  reasoning_tokens: number;
  cost: number | null;
  updated_at: number;
}

export interface DailyMetricsTable {
  /** Days since 1970, UTC. */
  day: number;
  id: string;
  agent_runs_count: number;
  agent_sessions_count: number;
  team_runs_count: number;
  team_sessions_count: number;
  workflow_runs_count: number;
  workflow_sessions_count: number;
  users_count: number;
  token_metrics: string;
  model_metrics: string;
  eval_metrics: string;
  created_at: number;
  updated_at: number;
}

export type RefreshStatus = 'idle' | 'running' | 'completed' | 'failed';

export interface MetricsRefreshTable {
  id: string;
  status: RefreshStatus;
  started_at: number | null;
  finished_at: number | null;
  error: string | null;
  owner: string | null;
  lease_expires_at: number | null;
  counted_until: number;
}
