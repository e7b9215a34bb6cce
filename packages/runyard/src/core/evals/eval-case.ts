import type { JsonObject } from '../json.js';

/** One question of an eval, and what is known of a good answer. */
export interface EvalCase {
  /** Identifies the case within its dataset: two evals are compared case by case. */
  readonly id: string;
  /** The message for the component; a text of JSON where the component has an input schema. */
  readonly input: string;
  readonly expectedOutput?: string;
  readonly expectedToolCalls?: readonly ExpectedToolCall[];
  readonly metadata?: JsonObject;
  /** What the run is given beside its message. */
  readonly sessionState?: JsonObject;
  readonly dependencies?: JsonObject;
}

export interface ExpectedToolCall {
  readonly name: string;
  /** A part of the arguments that one call of the tool must have. Left out: any arguments. */
  readonly arguments?: JsonObject;
}
