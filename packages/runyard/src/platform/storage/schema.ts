import type { Generated } from 'kysely';

/**
 * The tables, as the queries see them. Payload columns hold JSON as text: storage never looks inside, and
 * PostgreSQL's own JSON type cannot hold every string. Times are milliseconds since the epoch.
 */
export interface Schema {
  /** `last_run_seq` is the place that its last run got. */
  sessions: SessionsTable & { last_run_seq: Generated<number> };
  session_state: SessionStateTable;
  session_summaries: SessionSummariesTable;
  /** `session_seq` is the place of a run among those of its session: the database gives it when it stores the run. */
  runs: RunsTable & { session_seq: Generated<number> };
  steps: StepsTable;
  event_blocks: EventBlocksTable;
  run_texts: RunTextsTable;
  media_contents: MediaContentsTable;
  approvals: ApprovalsTable;
  idempotency_keys: IdempotencyKeysTable;
  run_cancellations: RunCancellationsTable;
  memories: MemoriesTable;
  memory_topics: MemoryTopicsTable;
  memory_owners: MemoryOwnersTable;
  learnings: LearningsTable;
  traces: TracesTable;
  run_usage: RunUsageTable;
  daily_metrics: DailyMetricsTable;
  metrics_refresh: MetricsRefreshTable;
  retention_progress: RetentionProgressTable;
  service_accounts: ServiceAccountsTable;
}

export interface SessionsTable {
  session_id: string;
  kind: string;
  component_id: string;
  user_id: string | null;
  name: string | null;
  metadata: string | null;
  created_at: number;
  updated_at: number;
  /** The name as searches see it: `searchText` of it. */
  search_name: string | null;
}

export interface SessionStateTable {
  session_id: string;
  key: string;
  value: string;
}

export interface SessionSummariesTable {
  session_id: string;
  summary: string;
  topics: string;
  covers_until: number;
  updated_at: number;
}

export interface RunsTable {
  run_id: string;
  kind: string;
  component_id: string;
  component_name: string | null;
  session_id: string;
  user_id: string | null;
  parent_run_id: string | null;
  model: string | null;
  model_provider: string | null;
  input: string;
  created_at: number;
  status: string;
  result: string | null;
  attempt: number;
  lease_owner: string | null;
  lease_expires_at: number | null;
  next_event_index: number;
  updated_at: number;
  /** What the run was made from, for one that began as a copy. */
  lineage: string | null;
  wake_at: number | null;
  /** The `traceparent` of the request that began it. */
  trace_parent: string | null;
  /** The fingerprint of the definition that it was executed with last. */
  definition: string | null;
  /** A JSON list of those who started, continued or edited it. */
  askers: string;
}

export interface StepsTable {
  run_id: string;
  seq: number;
  key: string;
  kind: string;
  name: string;
  parent_key: string | null;
  status: string;
  attempt: number;
  input: string | null;
  output: string | null;
  error: string | null;
  started_at: number;
  ended_at: number | null;
}

export interface EventBlocksTable {
  run_id: string;
  first_index: number;
  event_count: number;
  payload: string;
}

export interface RunTextsTable {
  run_id: string;
  text_id: string;
  part: number;
  /** 0 for a text that only events refer to. */
  kept: number;
  payload: string;
}

export interface MediaContentsTable {
  hash: string;
  bytes: Uint8Array;
  size: number;
  created_at: number;
}

export interface ApprovalsTable {
  approval_id: string;
  run_id: string;
  session_id: string;
  source_type: string;
  component_id: string;
  source_name: string | null;
  user_id: string | null;
  approval_type: string;
  pause_type: string;
  status: string;
  tool_name: string;
  tool_args: string;
  requirement: string | null;
  resolution_data: string | null;
  resolved_by: string | null;
  resolved_at: number | null;
  expires_at: number | null;
  schedule_id: string | null;
  schedule_run_id: string | null;
  created_at: number;
  updated_at: number;
}

export interface IdempotencyKeysTable {
  /** `-` for nobody in particular, else `u:` and the user's id: a key holds no null. */
  user_key: string;
  kind: string;
  component_id: string;
  key: string;
  run_id: string;
  payload: string;
  created_at: number;
}

/** Wishes to cancel runs, also of ids that no run has yet: one for each user who asked. */
export interface RunCancellationsTable {
  run_id: string;
  /** As in `IdempotencyKeysTable`. */
  user_key: string;
  kind: string;
  component_id: string;
  session_id: string | null;
  user_id: string | null;
  reason: string;
  requested_at: number;
}

export interface MemoriesTable {
  memory_id: string;
  user_id: string;
  agent_id: string | null;
  team_id: string | null;
  memory: string;
  /** `searchText` of the memory. */
  search_text: string;
  topics: string | null;
  input: string | null;
  created_at: number;
  updated_at: number;
}

export interface MemoryTopicsTable {
  /** `searchText` of the topic. */
  search_topic: string;
  memory_id: string;
  user_id: string;
  /** That of the memory. */
  updated_at: number;
  topic: string;
}

/** One row for everybody who has memories. */
export interface MemoryOwnersTable {
  user_id: string;
  /** How many. */
  total: number;
  /** Of the newest memory. */
  updated_at: number;
}

export interface LearningsTable {
  learning_id: string;
  learning_type: string;
  namespace: string | null;
  user_id: string | null;
  agent_id: string | null;
  team_id: string | null;
  session_id: string | null;
  entity_id: string | null;
  entity_type: string | null;
  content: string;
  /** All that the content says, as searches see it. */
  search_text: string;
  metadata: string | null;
  /** JSON: keys of changes that runs have made. */
  changes: string | null;
  created_at: number;
  updated_at: number;
}

/** A narrow row for each recorded run. The spans of the trace are the run's steps. */
export interface TracesTable {
  run_id: string;
  trace_id: string;
  name: string;
  status: string;
  kind: string;
  component_id: string;
  session_id: string;
  user_id: string | null;
  start_time: number;
  end_time: number;
}

export interface RunUsageTable {
  session_id: string;
  run_id: string;
  /** What the model was called for; empty for the row of the run itself (of a team's: one for each main model). */
  purpose: string;
  /** Of the model; in a row of the run itself that of the main model, empty when there is none. */
  provider: string;
  model: string;
  kind: string;
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
  created_at: number;
  updated_at: number;
}

export interface MetricsRefreshTable {
  id: string;
  status: string;
  started_at: number | null;
  finished_at: number | null;
  error: string | null;
  owner: string | null;
  lease_expires_at: number | null;
  counted_until: number;
}

export interface RetentionProgressTable {
  name: string;
  removed_until: number;
}

export interface ServiceAccountsTable {
  id: string;
  name: string;
  /** The SHA-256 of the whole token, in hex. */
  token_hash: string;
  token_prefix: string;
  /** A JSON list of texts. */
  scopes: string;
  user_id: string | null;
  created_by: string | null;
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
  revoked_at: number | null;
}
