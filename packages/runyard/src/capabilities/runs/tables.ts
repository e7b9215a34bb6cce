import type { Generated } from 'kysely';
import type { RunKind, RunStatus, StepKind, StepRecord } from '../../core/runs/run.js';

declare module '../../platform/storage/schema.js' {
  interface Schema {
    /** `session_seq` is the place of a run among those of its session: the database gives it when it stores the run. */
    runs: RunsTable & PackedColumns & { session_seq: Generated<number>; queue_turn: Generated<number> };
    steps: StepsTable;
    event_blocks: EventBlocksTable;
    run_texts: RunTextsTable;
    idempotency_keys: IdempotencyKeysTable;
    received_events: ReceivedEventsTable;
    run_cancellations: RunCancellationsTable;
    /** Jobs have the tables of runs, apart from them; `session_id` of a job is empty. */
    jobs: RunsTable & PackedColumns & { queue_turn: Generated<number> };
    job_steps: StepsTable;
    job_event_blocks: EventBlocksTable;
    job_texts: RunTextsTable;
    job_cancellations: RunCancellationsTable;
  }
}

export interface RunsTable {
  run_id: string;
  kind: RunKind;
  component_id: string;
  component_name: string | null;
  session_id: string;
  user_id: string | null;
  parent_run_id: string | null;
  model: string | null;
  model_provider: string | null;
  input: string;
  created_at: number;
  status: RunStatus;
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
  /** The place of the run's priority among `priorities`; `queue_turn` orders the waiting runs that have the same. */
  priority: number;
  /** A JSON list of those who started, continued or edited it. */
  askers: string;
}

/** The journal of a run that ended with its first write, instead of rows in `steps` and `event_blocks`. */
export interface PackedColumns {
  packed_steps: string | null;
  packed_events: string | null;
}

export interface StepsTable {
  run_id: string;
  seq: number;
  key: string;
  kind: StepKind;
  name: string;
  parent_key: string | null;
  status: StepRecord['status'];
  attempt: number;
  input: string | null;
  output: string | null;
  error: string | null;
  started_at: number;
  ended_at: number | null;
}

interface EventBlocksTable {
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

/** What a run was sent from outside. */
interface ReceivedEventsTable {
  run_id: string;
  event_id: string;
  name: string;
  data: string;
  /** The order in which the run received them. */
  position: number;
  /** The key of the wait that has it. */
  taken_by: string | null;
  /** 0 once the run has ended. */
  open: number;
  received_at: number;
}

interface IdempotencyKeysTable {
  /** `-` for no user in particular, else `u:` and the user's id: a key holds no null. */
  user_key: string;
  kind: string;
  component_id: string;
  key: string;
  run_id: string;
  payload: string;
  created_at: number;
}

/** Requests to cancel runs, also of ids that no run has yet: one for each user who asked. */
interface RunCancellationsTable {
  run_id: string;
  /** As in `IdempotencyKeysTable`. */
  user_key: string;
  kind: RunKind;
  component_id: string;
  session_id: string | null;
  user_id: string | null;
  reason: string;
  requested_at: number;
}
