/**
 * The tables, as the queries see them. Payload columns hold JSON as text: storage never looks inside, and
 * PostgreSQL's own JSON type cannot hold every string. Times are milliseconds since the epoch.
 */
export interface Schema {
  sessions: SessionsTable;
  session_state: SessionStateTable;
  session_summaries: SessionSummariesTable;
  runs: RunsTable;
  steps: StepsTable;
  event_blocks: EventBlocksTable;
  media_contents: MediaContentsTable;
  approvals: ApprovalsTable;
  idempotency_keys: IdempotencyKeysTable;
  run_cancellations: RunCancellationsTable;
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
