import type { Json, JsonObject } from '../../json.js';
import type { Executable } from '../../runs/executable.js';
import type { FittedTo } from '../../schemas/schema-types.js';
import type { ValueSchema } from '../../schemas/value-schema.js';

/** A component whose completed runs have this content. */
export type Maker<Content> = Executable & {
  runOrThrow?(input: never): Promise<{ readonly content: Content }>;
};

/** The answer to a question without a schema. */
export interface Confirmation {
  readonly confirmed: boolean;
  /** What the person said about a rejection. */
  readonly feedback: string | null;
}

export interface WaitOptions {
  /** Recognizes the wait when the function is executed again. Left out: its place among those of the function. */
  readonly name?: string;
  /** How long to wait; the result is then undefined. Left out: as long as it takes. */
  readonly timeoutMs?: number;
}

type AnswerTo<Schema> = Schema extends ValueSchema ? FittedTo<Schema> : Confirmation;

type WhenLate<Options> = Options extends { readonly timeoutMs: number } ? undefined : never;

/**
 * What the function of a step, or of a whole workflow, does as parts of its run. Each part is recorded. A function that
 * is executed again, after a crash, a failure or a wait, gets what it got before.
 */
export interface StepCalls {
  /**
   * Runs an agent, a team or a workflow as a part of this run, once for each name. An answer that does not fit the
   * schema of the agent stays a text. Left out, the name is that of the component.
   */
  run<Content = Json>(
    component: Maker<Content>,
    input: string | JsonObject,
    name?: string,
  ): Promise<unknown extends Content ? Json : Content | string>;
  /**
   * Asks a person and ends this execution of the function: once there is an answer, the function is executed again and
   * gets it here. A boolean schema or none asks for a confirmation, any other for values.
   */
  suspend<
    const Schema extends ValueSchema | undefined = undefined,
    Options extends WaitOptions = WaitOptions,
  >(question: string, schema?: Schema, options?: Options): Promise<AnswerTo<Schema> | WhenLate<Options>>;
  /**
   * Waits until the run is sent an event of this name: one that came before this call, or the next one. Without a
   * schema its data is any JSON. With `timeoutMs`, the result is undefined when the time is up.
   */
  waitForEvent<
    const Schema extends ValueSchema | undefined = undefined,
    Options extends WaitOptions = WaitOptions,
  >(
    name: string,
    schema?: Schema,
    options?: Options,
  ): Promise<(Schema extends ValueSchema ? FittedTo<Schema> : Json) | WhenLate<Options>>;
  /** Waits for so many milliseconds, or until that time, and leaves the slot of the run to others. */
  sleep(until: number | Date, options?: Pick<WaitOptions, 'name'>): Promise<void>;
}
