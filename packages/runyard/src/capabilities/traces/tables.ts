import type { RunKind } from '../../core/runs/run.js';
import type { SpanStatus } from '../../core/traces/span.js';

declare module '../../platform/storage/schema.js' {
  interface Schema {
    traces: TracesTable;
  }
}

/** A narrow row for each recorded run. The spans of the trace are the run's steps. */
export interface TracesTable {
  run_id: string;
  trace_id: string;
  name: string;
  status: SpanStatus;
  kind: RunKind;
  component_id: string;
  session_id: string;
  user_id: string | null;
  start_time: number;
  end_time: number;
}
