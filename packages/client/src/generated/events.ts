// Written by `npm run client-types` from the routes and events of the service.

/** A value that survives JSON. */
type Json = string | number | boolean | null | Json[] | {
  [key: string]: Json;
};

type JsonObject = {
  [key: string]: Json;
};

/**
 * Why a model stopped. `refusal`: the model itself declined; `content_filter`: the provider withheld or cut the answer.
 */
type FinishReason = (typeof finishReasons)[number];

declare const finishReasons: readonly ['stop', 'tool_calls', 'length', 'content_filter', 'refusal', 'other'];

type RunKind = 'agent' | 'team' | 'workflow';

/** A chunk that a search found, in the words of the wire. */
type ReferenceBody = {
  name: string | null;
  content: string;
  meta_data: JsonObject;
};

/** What one search found, in the words of the wire. `time`: how many seconds it took. */
type ReferencesBody = {
  query: string;
  references: ReferenceBody[];
  time: number;
};

declare const nextActions: readonly ['final_answer', 'continue', 'validate', 'reset'];

/** One step of thinking before an answer, in the words of the wire contract. */
type ReasoningStep = {
  title: string | null;
  action: string | null;
  result: string | null;
  reasoning: string | null;
  next_action: (typeof nextActions)[number] | null;
  /** Between 0 and 1. */
  confidence: number | null;
};

/** The fields of an event that only has a name. */
type NoFields = Record<never, never>;

type ModelFields = {
  model: string;
  model_provider: string;
};

/** Media are described: their bytes are in the body of the run. */
type MediaFields = {
  images?: JsonObject[];
  audio?: JsonObject[];
  videos?: JsonObject[];
  files?: JsonObject[];
};

/** How the answer ended and what it cites. */
type EndingFields = {
  finish_reason?: FinishReason;
  finish_message?: string;
  citations?: CitationsBody;
};

type CitationsBody = {
  urls?: {
    url: string;
    title?: string;
  }[];
  documents?: {
    document_title?: string;
    cited_text?: string;
    file_name?: string;
  }[];
  search_queries?: string[];
  /** Which part of the answer rests on what. */
  sources?: {
    url?: string;
    title?: string;
    cited_text?: string;
    file_id?: string;
    file_name?: string;
    document_index?: number;
    start_index?: number;
    end_index?: number;
  }[];
};

/** What a tool call asks of a person, and the answer. */
type QuestionFields = {
  requires_confirmation: boolean | null;
  confirmed: boolean | null;
  confirmation_note: string | null;
  requires_user_input: boolean | null;
  user_input_schema: JsonObject[] | null;
  user_feedback_schema: JsonObject[] | null;
  answered: boolean | null;
  external_execution_required: boolean | null;
  external_execution_silent: boolean | null;
  approval_type: string | null;
  approval_id: string | null;
};

/** A tool call: every field is always there. */
export type ToolCallBody = QuestionFields & {
  tool_call_id: string;
  tool_name: string;
  tool_args: JsonObject | null;
  tool_call_error: boolean | null;
  result: string | null;
  metrics: {
    start_time: number;
    end_time: number;
    duration: number;
  } | null;
  child_run_id: string | null;
  stop_after_tool_call: boolean;
  created_at: number;
};

/** What a tool call waits for. */
export type RequirementBody = {
  id: string;
  created_at: string;
  tool_execution: ToolCallBody;
  confirmation?: boolean;
  confirmation_note?: string;
  external_execution_result?: string;
  user_input_schema?: JsonObject[] | null;
  user_feedback_schema?: JsonObject[] | null;
  outcome_unknown?: boolean;
  message?: string;
  member_agent_id?: string;
  member_agent_name?: string | null;
  member_run_id?: string;
};

type PreHookFields = {
  pre_hook_name: string;
  run_input: {
    input_content: string;
  } & Omit<MediaFields, 'audio'> & {
    audios?: JsonObject[];
  };
};

/** What happens in a run of an agent: the name of each event with its fields. */
interface AgentEvents {
  RunStarted: ModelFields & {
    recovered?: boolean;
  };
  RunContinued: NoFields;
  PreHookStarted: PreHookFields;
  PreHookCompleted: PreHookFields;
  ReasoningStarted: NoFields;
  ReasoningStep: {
    content: ReasoningStep;
    content_type: 'ReasoningStep';
    reasoning_content: string;
  };
  ReasoningContentDelta: {
    reasoning_content: string;
  };
  ReasoningCompleted: {
    content: {
      reasoning_steps: readonly ReasoningStep[];
    };
    content_type: 'ReasoningSteps';
  };
  ModelRequestStarted: ModelFields;
  ModelRequestCompleted: ModelFields & {
    input_tokens: number;
    output_tokens: number;
    total_tokens: number;
    time_to_first_token: number;
    reasoning_tokens: number;
    cache_read_tokens: number;
    cache_write_tokens: number;
    finish_reason: FinishReason;
    finish_message?: string;
    /** The answer came from the response cache. */
    cached?: true;
  };
  RunContent: {
    content: Json;
    /** Whether the agent in front of a workflow says it. */
    workflow_agent: boolean;
    content_type: string;
    reasoning_content: string;
    /** What was found in knowledge so far: in the first event after a search. */
    references?: readonly ReferencesBody[];
  };
  RunIntermediateContent: {
    content: string;
    content_type: 'str';
  };
  ToolCallStarted: {
    tool: ToolCallBody;
  };
  ToolCallCompleted: MediaFields & {
    tool: ToolCallBody;
    content: string;
  };
  ToolCallError: {
    tool: ToolCallBody;
    error: string;
  };
  /** The fields are those that the application gives it. */
  CustomEvent: JsonObject;
  CompressionStarted: NoFields;
  CompressionCompleted: {
    tool_results_compressed: number;
    original_size: number;
    compressed_size: number;
  };
  OutputModelResponseStarted: NoFields;
  OutputModelResponseCompleted: NoFields;
  ParserModelResponseStarted: NoFields;
  ParserModelResponseCompleted: NoFields;
  FollowupsStarted: NoFields;
  FollowupsCompleted: {
    followups: readonly string[];
  };
  RunContentCompleted: NoFields;
  PostHookStarted: {
    post_hook_name: string;
  };
  PostHookCompleted: {
    post_hook_name: string;
  };
  MemoryUpdateStarted: NoFields;
  MemoryUpdateCompleted: {
    memories: readonly {
      memory_id: string;
      memory: string;
      topics: readonly string[];
      user_id: string;
      created_at: string;
      updated_at: string;
    }[];
  };
  SessionSummaryStarted: NoFields;
  SessionSummaryCompleted: {
    session_summary?: {
      summary: string;
      topics: readonly string[];
      updated_at: string;
    };
  };
  RunPaused: {
    content: string;
    tools: readonly ToolCallBody[];
    requirements: readonly RequirementBody[];
  };
  RunCancelled: {
    reason: string;
    content: Json;
  };
  RunError: {
    content: string;
    error_type: string;
    error_id?: string;
    additional_data?: Json;
  };
  RunCompleted: EndingFields & MediaFields & {
    content: Json;
    content_type: string;
    reasoning_content?: string;
    reasoning_steps?: readonly ReasoningStep[];
    reasoning_messages?: readonly JsonObject[];
    additional_input?: readonly JsonObject[];
    followups?: readonly string[];
    model_provider_data?: JsonObject;
    metadata?: JsonObject;
    metrics?: JsonObject;
    session_state?: JsonObject;
    /** All that was found in knowledge. */
    references?: readonly ReferencesBody[];
    /** The runs of the members of a team. */
    member_responses?: readonly JsonObject[];
  };
}

/** How far a job is. */
type JobProgress = {
  /** How many parts are done, in the unit that `message` names. */
  done: number;
  /** Null while the job does not know it. */
  total: number | null;
  /** 0 to 100; null without a total. */
  percent: number | null;
  message: string;
  /** What else this kind of work reports. */
  data?: JsonObject;
};

/** The events of jobs: long work of the service, such as ingesting content. */
interface JobEvents {
  /** Sent for each execution: after a crash, the job continues with a further one. */
  JobStarted: {
    attempt: number;
  };
  JobProgress: JobProgress;
  JobCompleted: {
    result: Json;
  };
  JobFailed: {
    error: {
      type: string;
      message: string;
    };
  };
  JobCancelled: {
    reason: string;
  };
}

declare const taskStatuses: readonly ['pending', 'in_progress', 'completed', 'failed', 'blocked'];

type TaskStatus = (typeof taskStatuses)[number];

type TaskFields = {
  title: string;
  status: TaskStatus;
};

/** What a team that works on tasks adds to the events of its leader. */
interface TaskEvents {
  TaskIterationStarted: {
    iteration: number;
    max_iterations: number;
  };
  TaskIterationCompleted: {
    iteration: number;
    max_iterations: number;
    task_summary: string;
  };
  TaskCreated: TaskFields & {
    task_id: string;
    description: string;
    assignee?: string;
    dependencies: readonly string[];
  };
  TaskUpdated: TaskFields & {
    task_id: string;
    previous_status: TaskStatus;
    result?: string;
    assignee?: string;
  };
  TaskStateUpdated: {
    task_summary: string;
    goal_complete: boolean;
    tasks: readonly (TaskFields & {
      id: string;
      description: string;
      assignee: string | null;
      dependencies: readonly string[];
      result: string | null;
    })[];
    completion_summary?: string;
  };
}

/** The place of a step: a number at the top level, a path in a group. */
type StepIndex = number | number[];

/** The step of an event. */
type StepFields = {
  step_id: string;
  parent_step_id?: string;
  step_name: string;
  step_index: StepIndex;
};

/** The output of a step: `StepOutput` of the wire. */
type StepOutput = {
  readonly content: Json;
  readonly step_name: string;
  readonly step_id: string;
  readonly step_type: 'Step' | 'Steps' | 'Loop' | 'Parallel' | 'Foreach' | 'Condition' | 'Router' | 'Workflow';
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
type ExecutorFields = {
  executor_id: string;
  executor_name: string;
  executor_type: RunKind;
  executor_run_id?: string;
};

/** What a workflow waits for. */
type PauseFields = {
  paused_step_index?: number;
  paused_step_name?: string;
  pause_kind?: 'step' | 'executor';
  step_requirements?: JsonObject[];
  error_requirements?: JsonObject[];
  waiting_for?: JsonObject[];
};

type Results = {
  step_results: StepOutput[];
};

type ConditionFields = StepFields & {
  condition_result: boolean;
};

type IterationFields = StepFields & {
  iteration: number;
  max_iterations: number;
};

type RouterFields = StepFields & {
  selected_steps: string[];
};

/** What happens in a run of a workflow: the name of each event with its fields. */
interface WorkflowEvents {
  WorkflowStarted: {
    recovered?: boolean;
  };
  WorkflowCompleted: EndingFields & Results & {
    content: Json;
    content_type: string;
    step_executor_runs?: JsonObject[];
    metadata?: JsonObject;
    metrics?: JsonObject;
  };
  WorkflowCancelled: {
    reason: string;
    content: Json;
  };
  WorkflowError: {
    error: string;
    error_type: string;
    error_id?: string;
    additional_data?: Json;
  };
  WorkflowPaused: PauseFields & Results & {
    status: 'paused';
    step_executor_runs: JsonObject[];
    content?: Json;
    metadata?: JsonObject;
  };
  WorkflowAgentStarted: NoFields;
  WorkflowAgentCompleted: {
    content: Json;
  };
  StepStarted: StepFields;
  StepContinued: StepFields;
  StepOutput: StepFields & {
    step_output: StepOutput;
  };
  StepCompleted: StepFields & {
    content: Json;
    content_type: string;
    images?: JsonObject[];
    videos?: JsonObject[];
    audio?: JsonObject[];
    step_response: StepOutput;
  };
  StepError: StepFields & {
    error: string;
  };
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
  StepOutputReview: StepFields & {
    output_review_message?: string;
    requires_output_review: boolean;
  };
  StepExecutorPaused: StepFields & ExecutorFields & {
    executor_requirements: RequirementBody[];
  };
  StepExecutorContinued: StepFields & ExecutorFields;
  StepsExecutionStarted: StepFields & {
    steps_count: number;
  };
  StepsExecutionCompleted: StepFields & Results & {
    steps_count: number;
    executed_steps: number;
  };
  ParallelExecutionStarted: StepFields & {
    parallel_step_count: number;
  };
  ParallelExecutionCompleted: StepFields & Results & {
    parallel_step_count: number;
  };
  ConditionExecutionStarted: ConditionFields;
  ConditionExecutionCompleted: ConditionFields & Results & {
    branch?: 'if' | 'else';
    executed_steps: number;
  };
  LoopExecutionStarted: StepFields & {
    max_iterations: number;
  };
  LoopIterationStarted: IterationFields;
  LoopIterationCompleted: IterationFields & {
    iteration_results: StepOutput[];
    should_continue: boolean;
  };
  LoopExecutionCompleted: StepFields & {
    total_iterations: number;
    max_iterations: number;
    all_results: StepOutput[][];
  };
  RouterExecutionStarted: RouterFields;
  RouterExecutionCompleted: RouterFields & Results & {
    executed_steps: number;
  };
  /** The fields are those that the application gives it. */
  CustomEvent: JsonObject;
}

/** The events of a table, distinguished by their names. Events of the application keep theirs in every component. */
type EventOf<Table, Prefix extends string = ''> = { [Name in keyof Table & string]: Readonly<Table[Name]> & {
  readonly event: Name extends 'CustomEvent' ? Name : `${Prefix}${Name}`;
}; }[keyof Table & string];

/** What every event says about itself. */
interface Envelope {
  /** Seconds. */
  readonly created_at: number;
  readonly run_id: string;
  readonly session_id: string;
  /** How many runs are around its run. */
  readonly nested_depth: number;
  readonly event_index: number;
  /** Made from the journal: the events that were sent are no longer kept. */
  readonly rebuilt?: true;
}

/** What the run of an agent or a team is a part of. */
interface InnerEnvelope extends Envelope {
  /** The run of the team that asked. */
  readonly parent_run_id?: string;
  readonly workflow_id?: string;
  readonly workflow_run_id?: string;
  readonly step_id?: string;
  readonly step_name?: string;
  readonly step_index?: StepIndex;
}

interface AgentEnvelope extends InnerEnvelope {
  readonly agent_id: string;
  readonly agent_name: string | null;
}

interface TeamEnvelope extends InnerEnvelope {
  readonly team_id: string;
  readonly team_name: string | null;
}

interface WorkflowEnvelope extends Envelope {
  readonly workflow_id: string;
  readonly workflow_name: string | null;
  /** The step of the workflow around it. */
  readonly parent_step_id?: string;
}

/** An event of an agent, as streams and stored runs have it. */
export type AgentEvent = AgentEnvelope & EventOf<AgentEvents>;

/** An event in the run of a team: of its leader, or of a member. */
export type TeamEvent = (TeamEnvelope & EventOf<AgentEvents & TaskEvents, 'Team'>) | AgentEvent;

/** An event in the run of a workflow: its own, or one of what executes its steps. */
export type WorkflowEvent = (WorkflowEnvelope & EventOf<WorkflowEvents>) | TeamEvent;

/** An event of a job. */
export type JobEvent = EventOf<JobEvents> & {
  /** Seconds. */
  readonly created_at: number;
  readonly job_id: string;
  /** Which work it is, such as `ingestion`. */
  readonly kind: string;
  readonly event_index: number;
};

type NodeType = StepOutput['step_type'];

/**
 * What a step waits for, in the words of the wire: the input of its `wait` step. What is done later comes from here,
 * never from what a request says. Stored data.
 */
export type StepRequirement = {
  step_id: string;
  step_name: string;
  step_index: StepIndex;
  step_type: NodeType;
  requires_confirmation: boolean;
  confirmation_message: string | null;
  confirmed: boolean | null;
  on_reject: 'skip' | 'cancel' | 'else' | 'retry';
  requires_user_input: boolean;
  user_input_message: string | null;
  user_input: JsonObject | null;
  requires_route_selection: boolean;
  available_choices: string[] | null;
  allow_multiple_selections: boolean;
  selected_choices: string[] | null;
  requires_output_review: boolean;
  output_review_message: string | null;
  is_post_execution: boolean;
  rejection_feedback: string | null;
  retry_count: number;
  max_retries: number;
  timeout_at: string | null;
  on_timeout: 'cancel' | 'skip' | 'approve';
  user_input_schema?: JsonObject[];
  /** Of a question of a function that has a name. */
  question_name?: string;
};

/** What a step that failed waits for. Stored data. */
export type ErrorRequirement = {
  step_id: string;
  step_name: string;
  step_index: StepIndex;
  error_message: string;
  error_type: string;
  retry_count: number;
  decision: 'retry' | 'skip' | null;
};
