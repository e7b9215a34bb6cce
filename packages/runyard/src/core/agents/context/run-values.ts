import type { Json, JsonObject } from '../../json.js';

/** What functions of an agent's definition learn about the run. */
export interface RunValues {
  readonly runId: string;
  readonly sessionId: string;
  readonly userId: string | null;
  readonly state: JsonObject;
  readonly dependencies: JsonObject;
  readonly metadata: JsonObject;
  /** Aborted when the run is cancelled. */
  readonly signal: AbortSignal;
}

/** A value, or a function that is called once for each run. */
export type DependencyValue =
  | Json
  | ((run: Omit<RunValues, 'dependencies'>) => Json | undefined | Promise<Json | undefined>);

export type InstructionsFunction = (
  run: RunValues,
) => string | readonly string[] | Promise<string | readonly string[]>;
