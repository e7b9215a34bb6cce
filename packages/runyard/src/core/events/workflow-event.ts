import type { Json, JsonObject } from '../json.js';
import type { RunKind } from '../runs/run.js';
import type { EndingFields, NoFields, RequirementBody } from './agent-event.js';

/** The place of a step: a number at the top level, a path in a group. */
export type StepIndex = number | number[];

/** The step of an event. */
export type StepFields = {
  step_id: string;
  parent_step_id?: string;
  step_name: string;
  step_index: StepIndex;
};

/** The output of a step: `StepOutput` of the wire. */
export type StepOutput = {
  readonly content: Json;
  readonly step_name: string;
  readonly step_id: string;
  readonly step_type:
    | 'Step'
    | 'Steps'
    | 'Loop'
    | 'Parallel'
    | 'Foreach'
    | 'Condition'
    | 'Router'
    | 'Workflow';
  readonly executor_type: 'agent' | 'team' | 'function' | 'workflow' | 'parallel' | null;
  readonly executor_name: string | null;
  readonly step_run_id: string | null;
  readonly images: JsonObject[] | null;
  readonly videos: JsonObject[] | null;
  readonly audio: JsonObject[] | null;
  readonly files: JsonObject[] | null;
  readonly metrics: JsonObject | null;
  readonly success: boolean;
  readonly error: string | null;
  readonly stop: boolean;
  readonly is_paused: boolean;
  /** Nothing was done: a condition was not met, or a person decided so. */
  readonly skipped?: true;
  /** The outputs of the steps within it, in order. */
  readonly steps?: StepOutput[];
};

/** Who executes a step. */
export type ExecutorFields = {
  executor_id: string;
  executor_name: string;
  executor_type: RunKind;
  executor_run_id?: string;
};

/** What a workflow waits for. */
export type PauseFields = {
  paused_step_index?: number;
  paused_step_name?: string;
  pause_kind?: 'step' | 'executor';
  step_requirements?: JsonObject[];
  error_requirements?: JsonObject[];
  waiting_for?: JsonObject[];
};

type Results = { step_results: StepOutput[] };
type ConditionFields = StepFields & { condition_result: boolean };
type IterationFields = StepFields & { iteration: number; max_iterations: number };
type RouterFields = StepFields & { selected_steps: string[] };

/** What happens in a run of a workflow: the name of each event with its fields. */
export interface WorkflowEvents {
  WorkflowStarted: { recovered?: boolean };
  WorkflowCompleted: EndingFields &
    Results & {
      content: Json;
      content_type: string;
      step_executor_runs?: JsonObject[];
      metadata?: JsonObject;
      metrics?: JsonObject;
    };
  WorkflowCancelled: { reason: string; content: Json };
  WorkflowError: { error: string; error_type: string; error_id?: string; additional_data?: Json };
  WorkflowPaused: PauseFields &
    Results & { status: 'paused'; step_executor_runs: JsonObject[]; content?: Json; metadata?: JsonObject };
  WorkflowAgentStarted: NoFields;
  WorkflowAgentCompleted: { content: Json };
  StepStarted: StepFields;
  StepContinued: StepFields;
  StepOutput: StepFields & { step_output: StepOutput };
  StepCompleted: StepFields & {
    content: Json;
    content_type: string;
    images?: JsonObject[];
    videos?: JsonObject[];
    audio?: JsonObject[];
    step_response: StepOutput;
  };
  StepError: StepFields & { error: string };
  StepPaused: StepFields & {
    requires_confirmation: boolean;
    confirmation_message?: string;
    requires_user_input: boolean;
    user_input_message?: string;
    user_input_schema?: JsonObject[];
  };
  RouterPaused: StepFields & {
    available_choices: string[] | null;
    user_input_message?: string;
    allow_multiple_selections: boolean;
  };
  StepOutputReview: StepFields & { output_review_message?: string; requires_output_review: boolean };
  StepExecutorPaused: StepFields & ExecutorFields & { executor_requirements: RequirementBody[] };
  StepExecutorContinued: StepFields & ExecutorFields;
  StepsExecutionStarted: StepFields & { steps_count: number };
  StepsExecutionCompleted: StepFields & Results & { steps_count: number; executed_steps: number };
  ParallelExecutionStarted: StepFields & { parallel_step_count: number };
  ParallelExecutionCompleted: StepFields & Results & { parallel_step_count: number };
  ConditionExecutionStarted: ConditionFields;
  ConditionExecutionCompleted: ConditionFields & Results & { branch?: 'if' | 'else'; executed_steps: number };
  LoopExecutionStarted: StepFields & { max_iterations: number };
  LoopIterationStarted: IterationFields;
  LoopIterationCompleted: IterationFields & { iteration_results: StepOutput[]; should_continue: boolean };
  LoopExecutionCompleted: StepFields & {
    total_iterations: number;
    max_iterations: number;
    all_results: StepOutput[][];
  };
  RouterExecutionStarted: RouterFields;
  RouterExecutionCompleted: RouterFields & Results & { executed_steps: number };
  /** The fields are those that the application gives it. */
  CustomEvent: JsonObject;
}
