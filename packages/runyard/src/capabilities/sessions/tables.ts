import type { Generated } from 'kysely';
import type { RunKind } from '../../core/runs/run.js';

declare module '../../platform/storage/schema.js' {
  interface Schema {
    /** `last_run_seq` is the place that its last run got. */
    sessions: SessionsTable & { last_run_seq: Generated<number> };
    session_state: SessionStateTable;
    session_summaries: SessionSummariesTable;
  }
}

export interface SessionsTable {
  session_id: string;
  kind: RunKind;
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
