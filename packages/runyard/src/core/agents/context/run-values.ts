import type { Json, JsonObject } from '../../json.js';

/** What functions of an agent's definition learn about the run. */
export interface RunValues {
  readonly runId: string;
  readonly sessionId: string;
  readonly userId: string | null;
  /** What the user said: the message that the run began with. */
  readonly input: string;
  readonly state: JsonObject;
  readonly dependencies: JsonObject;
  readonly metadata: JsonObject;
  /**
   * All that the caller's token says, and the token alone; null when there was none, and when an admin starts a run
   * for another user. It can be trusted.
   */
  readonly claims: JsonObject | null;
  /** Aborted when the run is cancelled. */
  readonly signal: AbortSignal;
}

/** A value, or a function that is called for each run. */
export type OfRun<Value> = Value | ((run: RunValues) => Value | Promise<Value>);

/** A value, or a function that is called once for each run. */
export type DependencyValue =
  | Json
  | ((run: Omit<RunValues, 'dependencies'>) => Json | undefined | Promise<Json | undefined>);

export type InstructionsFunction = (
  run: RunValues,
) => string | readonly string[] | Promise<string | readonly string[]>;
