import type { AgentRunOptions } from '../agents/run-options.js';
import { type RunOutput, runOutputOf } from '../components/run-output.js';
import type { StepOutput } from '../events/workflow-event.js';
import type { Json, JsonObject } from '../json.js';
import type { RunMediaOptions } from '../media/given-media.js';
import type { MediaContents } from '../media/media.js';
import type { EndedRun } from '../runs/run.js';
import { stepResultsOf } from './fold/workflow-fold.js';
import { workflowRequirementsOf } from './review/workflow-requirements.js';

export interface WorkflowRunOptions
  extends Pick<
    AgentRunOptions,
    | 'runId'
    | 'sessionId'
    | 'userId'
    | 'sessionState'
    | 'dependencies'
    | 'metadata'
    | 'signal'
    | keyof RunMediaOptions
  > {
  /** Handed to every step beside the input. */
  readonly additionalData?: JsonObject;
}

/** The output of a run of a workflow; `status` says which fields it has. `content` is what the last step made. */
export type WorkflowRunOutput<Content = unknown> = RunOutput<Content, OpenRequirement> & {
  /** The output of each step at the top. */
  readonly stepResults: readonly StepOutput[];
};

/** Something that a paused workflow waits for. */
export interface OpenRequirement {
  readonly stepName: string;
  /** `step`: about the step itself; `error`: it failed; `executor`: a tool call of the agent or team waits. */
  readonly kind: 'step' | 'error' | 'executor';
  /** What is asked, in the words of the wire. */
  readonly requirement: JsonObject;
}

export function outputOf({ run, steps }: EndedRun, contents: MediaContents): WorkflowRunOutput<Json> {
  const requirements = () =>
    workflowRequirementsOf(run, steps).open.map(({ stepName, kind, body }) => ({
      stepName,
      kind,
      requirement: body,
    }));
  return { ...runOutputOf(run, contents, requirements), stepResults: stepResultsOf(run, steps) };
}
