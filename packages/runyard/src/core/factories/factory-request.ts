import type { z } from 'zod';
import type { JsonObject, JsonSchema } from '../json.js';
import { callable, json, objectOf, required, text } from '../options/kinds.js';
import { schema } from '../options/schema-kind.js';
import type { ValueSchema } from '../schemas/value-schema.js';

/** What a factory learns about the run that it builds an agent, a team or a workflow for. */
export interface FactoryRequest<Input = JsonObject> {
  /** The caller's `factory_input`, checked against the schema of the factory. */
  readonly input: Input;
  /** Who the run belongs to: the identity that a token proved, or what an anonymous caller named. */
  readonly userId: string | null;
  /**
   * All that the caller's token says, and the token alone; null when there was none, and when an admin starts a run
   * for another user. It can be trusted.
   */
  readonly claims: JsonObject | null;
  readonly sessionId: string;
  /** The state of the session when the run began, with what the run brings along. */
  readonly state: JsonObject;
}

/** What callers give for it, before its defaults. */
export type GivenFactoryInput<Schema> = Schema extends z.ZodType ? z.input<Schema> : JsonObject;

export type FactoryInput<Schema> = Schema extends z.ZodType ? z.output<Schema> : JsonObject;

export interface FactorySettings<Built, Schema extends ValueSchema = JsonSchema> {
  /** The identifier in URLs; made from the name when left out. Runs belong to it, whatever id the built component has. */
  readonly id?: string;
  readonly name?: string;
  readonly description?: string;
  readonly metadata?: JsonObject;
  /** What `factory_input` has to be. Left out: any JSON object. */
  readonly inputSchema?: Schema;
  /** The id of the registered database that holds its sessions; the service's own when left out. */
  readonly database?: string;
  /**
   * Makes the component of one run. A run that resumes after a crash asks for it again, with the same input, state and
   * claims. Throw `FactoryRefusal` for a caller who may not have one.
   */
  build(request: FactoryRequest<FactoryInput<Schema>>): Built | Promise<Built>;
}

/** The settings of a factory whose input is not known here. */
export type AnyFactorySettings<Built> = Omit<FactorySettings<Built, ValueSchema>, 'build'> & {
  build(request: FactoryRequest<never>): Built | Promise<Built>;
};

export const factoryOptions = objectOf<AnyFactorySettings<unknown>>({
  id: text,
  name: text,
  description: text,
  metadata: json,
  inputSchema: schema,
  database: text,
  build: required(callable),
});

/** What code gives a factory beside the options of the run. */
export interface FactoryCall<Input = JsonObject> {
  /** What the factory gets as `input`, as `factory_input` over HTTP. */
  readonly factoryInput?: Input;
  /** Who the run is for: over HTTP, the claims of the caller's token. */
  readonly claims?: JsonObject;
}

/** The factory does not serve this caller: they read the message as it is, with status 403. */
export class FactoryRefusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'FactoryRefusal';
  }
}
