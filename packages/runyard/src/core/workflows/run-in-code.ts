import { endingOf } from '../agents/answer/ending.js';
import type { AgentRunOptions } from '../agents/run-options.js';
import type { StepOutput } from '../events/workflow-event.js';
import type { Json, JsonObject } from '../json.js';
import type { RunMediaOptions } from '../media/given-media.js';
import { type MadeMedia, madeMedia } from '../media/made-media.js';
import type { MediaContents } from '../media/media.js';
import type { AnswerEnding } from '../models/model.js';
import type { EndedRun, RunFailure, RunStatus } from '../runs/run.js';
import { stepResultsOf } from './fold/workflow-fold.js';
import { workflowRequirementsOf } from './review/workflow-requirements.js';

export interface WorkflowRunOptions
  extends Pick<
    AgentRunOptions,
    'sessionId' | 'userId' | 'sessionState' | 'dependencies' | 'metadata' | 'signal' | keyof RunMediaOptions
  > {
  /** Handed to every step beside the input. */
  readonly additionalData?: JsonObject;
}

export interface WorkflowRunOutput extends Partial<AnswerEnding> {
  readonly runId: string;
  readonly sessionId: string;
  readonly status: RunStatus;
  /** What the last step made. */
  readonly content: Json;
  readonly contentType: string;
  /** What came of each step at the top. */
  readonly stepResults: readonly StepOutput[];
  /** What the steps made beside their texts. */
  readonly media: readonly MadeMedia[];
  readonly sessionState: JsonObject;
  readonly metrics: JsonObject;
  /** What a paused run waits for: `workflow.continue()` takes the answers. */
  readonly requirements: readonly OpenRequirement[];
  readonly error?: RunFailure;
}

/** Something that a paused workflow waits for. */
export interface OpenRequirement {
  readonly stepName: string;
  /** `step`: about the step itself; `error`: it failed; `executor`: a tool call of the agent or team waits. */
  readonly kind: 'step' | 'error' | 'executor';
  /** What is asked, in the words of the wire. */
  readonly requirement: JsonObject;
}

export function outputOf({ run, steps }: EndedRun, contents: MediaContents): WorkflowRunOutput {
  const { result } = run;
  const open = run.status === 'paused' ? workflowRequirementsOf(run, steps).open : [];
  return {
    runId: run.runId,
    sessionId: run.sessionId,
    status: run.status,
    content: result?.content ?? '',
    contentType: result?.contentType ?? 'str',
    ...endingOf(result ?? {}),
    stepResults: stepResultsOf(run, steps),
    media: madeMedia(result?.media, contents),
    sessionState: result?.sessionState ?? {},
    metrics: result?.metrics ?? {},
    requirements: open.map(({ stepName, kind, body }) => ({ stepName, kind, requirement: body })),
    ...(result?.error !== undefined && { error: result.error }),
  };
}
