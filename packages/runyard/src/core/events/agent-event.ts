import type { ReferencesBody } from '../agents/knowledge/references.js';
import type { ReasoningStep } from '../agents/reasoning/reasoning-step.js';
import type { Json, JsonObject } from '../json.js';
import type { FinishReason } from '../models/model.js';

/** The fields of an event that only has a name. */
export type NoFields = Record<never, never>;

type ModelFields = { model: string; model_provider: string };

/** Media are described: their bytes are in the body of the run. */
export type MediaFields = {
  images?: JsonObject[];
  audio?: JsonObject[];
  videos?: JsonObject[];
  files?: JsonObject[];
};

/** How the answer ended and what it cites. */
export type EndingFields = {
  finish_reason?: FinishReason;
  finish_message?: string;
  citations?: CitationsBody;
};

export type CitationsBody = {
  urls?: { url: string; title?: string }[];
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
export type QuestionFields = {
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
  run_input: { input_content: string } & Omit<MediaFields, 'audio'> & {
      audios?: JsonObject[];
    };
};

/** What happens in a run of an agent: the name of each event with its fields. */
export interface AgentEvents {
  RunStarted: ModelFields & { recovered?: boolean };
  RunContinued: NoFields;
  PreHookStarted: PreHookFields;
  PreHookCompleted: PreHookFields;
  ReasoningStarted: NoFields;
  ReasoningStep: {
    content: ReasoningStep;
    content_type: 'ReasoningStep';
    reasoning_content: string;
  };
  ReasoningContentDelta: { reasoning_content: string };
  ReasoningCompleted: {
    content: { reasoning_steps: readonly ReasoningStep[] };
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
  RunIntermediateContent: { content: string; content_type: 'str' };
  ToolCallStarted: { tool: ToolCallBody };
  ToolCallCompleted: MediaFields & { tool: ToolCallBody; content: string };
  ToolCallError: { tool: ToolCallBody; error: string };
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
  FollowupsCompleted: { followups: readonly string[] };
  RunContentCompleted: NoFields;
  PostHookStarted: { post_hook_name: string };
  PostHookCompleted: { post_hook_name: string };
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
  RunCancelled: { reason: string; content: Json };
  RunError: {
    content: string;
    error_type: string;
    error_id?: string;
    additional_data?: Json;
  };
  RunCompleted: EndingFields &
    MediaFields & {
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
