declare module '../../platform/storage/schema.js' {
  interface Schema {
    eval_runs: EvalRunsTable;
    eval_results: EvalResultsTable;
  }
}

export interface EvalRunsTable {
  /** Also the id of the job that executes it. */
  eval_run_id: string;
  /** Who started it. */
  user_id: string | null;
  eval_type: string;
  name: string | null;
  agent_id: string | null;
  team_id: string | null;
  workflow_id: string | null;
  component_name: string | null;
  model_id: string | null;
  model_provider: string | null;
  dataset_id: string | null;
  status: string;
  /** Why it failed. */
  error: string | null;
  /** How many results there will be, are, and are failures. */
  total: number;
  done: number;
  failed: number;
  /** JSON: what was asked for, as the wire shows it. */
  eval_input: string;
  /** JSON: what came out, as the wire shows it; null until it has ended. */
  eval_data: string | null;
  /** JSON: all that the job needs, with the cases. */
  plan: string;
  created_at: number;
  updated_at: number;
}

/** One execution of one case. */
export interface EvalResultsTable {
  eval_run_id: string;
  /** Its place among the results: case by case, and the iterations of a case in their order. */
  position: number;
  case_id: string;
  /** From 1. */
  iteration: number;
  input: string;
  expected_output: string | null;
  output: string | null;
  /** Of the run; `failed` for one that could not be started. */
  status: string;
  /** JSON: by the name of the scorer. */
  scores: string;
  /** Why there is no score, or not from every scorer. */
  error: string | null;
  run_id: string | null;
  session_id: string | null;
  /** How long the run was executed. */
  duration_ms: number | null;
  /** From the request to the stored end of the run. */
  run_time_ms: number | null;
  /** How much the heap of the process grew. */
  memory_bytes: number | null;
  /** JSON: tokens and cost. */
  usage: string | null;
  created_at: number;
}
