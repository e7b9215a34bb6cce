import type {
  ContinueAgentRunBody,
  ContinueTeamRunBody,
  ContinueWorkflowRunBody,
  CreateAgentRunBody,
  CreateTeamRunBody,
  CreateWorkflowRunBody,
  Run,
  TeamRun,
  WorkflowRun,
} from './generated/api.js';
import type { AgentEvent, TeamEvent, WorkflowEvent } from './generated/events.js';

/** Fields that the client sets. */
type OfClient = 'stream' | 'background' | 'stream_events' | 'on_disconnect' | 'monitor' | 'debug_mode';

/** A field that a person filled in: the entry of `user_input_schema` with its `value`. */
export interface FilledField {
  readonly name: string;
  readonly field_type: string | null;
  readonly description: string | null;
  readonly value: unknown;
}

/** A question with the options that a person selected: the entry of `user_feedback_schema`. */
export interface AnsweredQuestion {
  readonly question: string;
  readonly selected_options: readonly string[];
}

interface FilledForm {
  /** The fields with their values. */
  readonly user_input_schema?: readonly (FilledField | Readonly<Record<string, unknown>>)[] | null;
  readonly user_feedback_schema?: readonly (AnsweredQuestion | Readonly<Record<string, unknown>>)[] | null;
  /** Dismisses a question that a tool asks while it runs. */
  readonly cancelled?: boolean | null;
}

/** The answer to a tool call, by its id. The whole call of the paused run with the answer in it is one, too. */
export interface ToolAnswer extends FilledForm {
  readonly tool_call_id: string;
  readonly confirmed?: boolean | null;
  readonly confirmation_note?: string | null;
  /** That all fields which are not required stay empty. */
  readonly answered?: boolean | null;
  /** Of a call that is executed outside of the service. */
  readonly result?: unknown;
}

/** The answer to a requirement, by its id. The whole requirement of the paused run with the answer in it is one, too. */
export interface RequirementAnswer extends FilledForm {
  readonly id: string;
  readonly confirmation?: boolean | null;
  readonly confirmation_note?: string | null;
  /** Of a call that is executed outside of the service. */
  readonly external_execution_result?: unknown;
  readonly tool_execution?: ToolAnswer;
}

/** The answer to a step of a workflow. */
export interface StepAnswer {
  readonly step_id: string;
  readonly confirmed?: boolean | null;
  readonly user_input?: Readonly<Record<string, unknown>> | null;
  readonly selected_choices?: readonly string[] | null;
  readonly edited_output?: unknown;
  readonly rejection_feedback?: string | null;
  /** Answers for the agent or team that executes the step. */
  readonly executor_requirements?: readonly RequirementAnswer[];
}

/** What to do about a step that failed. */
export interface ErrorAnswer {
  readonly step_id: string;
  readonly decision: 'retry' | 'skip' | null;
}

type ComponentAnswers<Body> = Omit<Body, OfClient | 'tools' | 'requirements'> & {
  readonly tools?: readonly ToolAnswer[];
  readonly requirements?: readonly RequirementAnswer[];
};

type WorkflowAnswers = Omit<
  ContinueWorkflowRunBody,
  OfClient | 'step_requirements' | 'error_requirements'
> & {
  readonly step_requirements?: readonly StepAnswer[];
  readonly error_requirements?: readonly ErrorAnswer[];
};

/** What the runs of each kind of component take and give. */
export interface Kinds {
  agent: {
    readonly input: Omit<CreateAgentRunBody, OfClient>;
    readonly answers: ComponentAnswers<ContinueAgentRunBody>;
    readonly event: AgentEvent;
    readonly run: Run;
  };
  team: {
    readonly input: Omit<CreateTeamRunBody, OfClient>;
    readonly answers: ComponentAnswers<ContinueTeamRunBody>;
    readonly event: TeamEvent;
    readonly run: TeamRun;
  };
  workflow: {
    readonly input: Omit<CreateWorkflowRunBody, OfClient>;
    readonly answers: WorkflowAnswers;
    readonly event: WorkflowEvent;
    readonly run: WorkflowRun;
  };
}

export type Kind = keyof Kinds;
