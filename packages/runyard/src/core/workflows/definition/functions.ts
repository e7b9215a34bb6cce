import type { StepOutput } from '../../events/workflow-event.js';
import type { Json, JsonObject } from '../../json.js';
import type { Log } from '../../log.js';
import type { Media } from '../../media/media.js';
import type { StateView } from '../../runs/execution/session-state.js';
import type { StepCalls } from './step-calls.js';
import type { StepReturn } from './step-return.js';

/** An earlier run of the workflow in this session. */
export interface PastRun {
  readonly input: string;
  readonly output: Json;
}

/** By the names of the steps: what each made. */
export type StepContents = Readonly<Record<string, unknown>>;

/** A step with the type of what it makes, by which `outputOf` knows it. The field is never set. */
export interface TypedStep<Content, Taken = never> {
  readonly name: string;
  readonly '~content'?: Content;
  /** What its input schema takes from the step before it; as a parameter, so that a step which takes more fits, too. */
  readonly '~takes'?: (taken: Taken) => void;
}

/** The outputs of steps whose contents are known. */
type OutputsOf<Contents> = {
  readonly [Name in keyof Contents]: Omit<StepOutput, 'content'> & { readonly content: Contents[Name] };
};

/** Media that a function can read. */
export interface StepMedia extends Media {
  /** The bytes, from where they are stored or, for media that only has an address, from there. */
  bytes(): Promise<Uint8Array>;
}

/** What a step, a condition or a selector learns about where the workflow is. */
export interface StepInput<
  Input = Json,
  Contents extends StepContents = Record<string, Json>,
  Previous = Json,
> {
  /** What the workflow was given: a text, or with an input schema the checked object. */
  readonly input: Input;
  /**
   * What the last step before this one made; null for the first one. In a step with an input schema what that schema made
   * of it, or of the input of the workflow.
   */
  readonly previousStepContent: Previous;
  /** The outputs of all earlier steps, by their names. */
  readonly previousStepOutputs: OutputsOf<Contents>;
  /** What an earlier step made, with its type; undefined when it has not run. */
  readonly outputOf: <Content>(step: TypedStep<Content>) => Content | undefined;
  /** What came with the request beside the input, and what a person filled in under `user_input`. */
  readonly additionalData: JsonObject;
  /** Pictures, sounds, films and documents of the input and of the steps so far. */
  readonly media: readonly StepMedia[];
  readonly dependencies: JsonObject;
  readonly metadata: JsonObject;
  /** Earlier runs of this session, when the workflow shows them to its steps. */
  readonly history: readonly PastRun[];
  /** Which iteration of the innermost loop this is, counted from 1; 0 outside of one. */
  readonly iteration: number;
  readonly runId: string;
  readonly sessionId: string;
  readonly userId: string | null;
  /** What a step, a condition or a selector changes counts when it has ended. */
  readonly state: StateView;
}

/** What a function that is a step is given. */
export interface StepContext<
  Input = Json,
  Contents extends StepContents = Record<string, Json>,
  Previous = Json,
> extends StepInput<Input, Contents, Previous>,
    StepCalls {
  /** What a person said about the last attempt, when they rejected it. */
  readonly rejectionFeedback: string | null;
  /** What that attempt made; null when there was none. */
  readonly rejectedContent: Json;
  /** Aborted when the run is cancelled or the time of the step is up. */
  readonly signal: AbortSignal;
  /** The same whenever this very step is executed again, so that its effect can be had only once. */
  readonly idempotencyKey: string;
  /**
   * Sends an event of your own to those who follow the run. Wait for it: it resolves when there is room for the next
   * one. After the end of the step it does nothing.
   */
  emit(customEvent: JsonObject): Promise<void>;
  readonly log: Log;
}

/** What a function that is a whole workflow is given. */
export interface WorkflowContext<Input = Json> extends StepContext<Input> {
  /** Form fields that came with the request and mean nothing to Runyard. */
  readonly fields: JsonObject;
}

export type StepFunction<
  Input = Json,
  Contents extends StepContents = Record<string, Json>,
  Returned extends StepReturn = StepReturn,
  Previous = Json,
> = (step: StepContext<Input, Contents, Previous>) => Returned | Promise<Returned>;

export type WorkflowFunction<Input = Json> = (
  workflow: WorkflowContext<Input>,
) => StepReturn | Promise<StepReturn>;

export type WhenFunction = (step: StepInput) => boolean | Promise<boolean>;

/** Answers with the name of a choice, or of several. */
export type RouteFunction = (
  step: StepInput & { readonly choices: readonly string[] },
) => string | readonly string[] | Promise<string | readonly string[]>;

/** Answers true when a person has to look at what the step made. */
export type ReviewCondition = (output: Json, step: StepInput) => boolean | Promise<boolean>;

export interface LoopState extends StepInput {
  /** The outputs of the steps of this iteration. */
  readonly outputs: readonly StepOutput[];
  readonly allSuccess: boolean;
  readonly lastStepContent: Json;
}

/** Answers true when the loop has done its work. */
export type LoopCondition = (loop: LoopState) => boolean | Promise<boolean>;
