import type { RunKind } from '../runs/run.js';
import type { AgentEvents } from './agent-event.js';
import type { JobEvents } from './job-event.js';
import type { TaskEvents } from './task-event.js';
import type { StepIndex, WorkflowEvents } from './workflow-event.js';

/** The events of a table, distinguished by their names. Events of the application keep theirs in every component. */
type EventOf<Table, Prefix extends string = ''> = {
  [Name in keyof Table & string]: Readonly<Table[Name]> & {
    readonly event: Name extends 'CustomEvent' ? Name : `${Prefix}${Name}`;
  };
}[keyof Table & string];

/** What happened, as the code of a component emits it. Whose event it is, when it was and its index come with the log. */
export type RunEvent =
  | EventOf<AgentEvents>
  | EventOf<TaskEvents>
  | EventOf<WorkflowEvents>
  | EventOf<JobEvents>;

/** The events that are sent in pieces, and the field that a piece fills. */
export const pieceFields = {
  RunContent: 'content',
  RunIntermediateContent: 'content',
  ReasoningContentDelta: 'reasoning_content',
} as const satisfies Partial<Record<RunEvent['event'], string>>;

export type PieceEvent = Extract<RunEvent, { readonly event: keyof typeof pieceFields }>;

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

/** The events in the run of each kind of component. */
export interface EventsOf {
  readonly agent: AgentEvent;
  readonly team: TeamEvent;
  readonly workflow: WorkflowEvent;
}

/** The names of all events. */
export type EventName = EventsOf[RunKind]['event'] | JobEvent['event'];
