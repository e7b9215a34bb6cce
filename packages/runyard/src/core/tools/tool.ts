import { z } from 'zod';
import { errors } from '../errors.js';
import type { JsonObject, JsonSchema } from '../json.js';
import type { Media } from '../media.js';
import type { ToolDefinition } from '../models/model.js';
import type { ToolContext } from './tool-context.js';

/** What becomes of a call whose process died before its outcome was recorded. */
export type UnknownOutcomePolicy = 'retry' | 'ask' | 'fail';

export type ToolParameters = z.core.$ZodType | JsonSchema;

/** The arguments that `execute` receives: inferred from a zod schema, plain JSON otherwise. */
export type ToolArguments<Parameters> = Parameters extends z.core.$ZodType
  ? z.output<Parameters>
  : JsonObject;

export interface ToolOptions<Parameters extends ToolParameters> {
  /** What the model calls it by: letters, digits, `_` and `-`. */
  readonly name: string;
  readonly description: string;
  /** A zod object or a JSON schema. Leave it out for a tool without arguments. */
  readonly parameters?: Parameters;
  /** A string goes to the model as it is, anything else as JSON. Throwing tells the model what went wrong. */
  execute(args: ToolArguments<Parameters>, context: ToolContext): unknown;
  /** It only looks: executing it twice does no harm. */
  readonly readOnly?: boolean;
  /** It changes something outside: its start is durable before it runs. */
  readonly sideEffects?: boolean;
  /** Default: `ask` with side effects, `retry` otherwise. */
  readonly onUnknownOutcome?: UnknownOutcomePolicy;
  readonly timeoutMs?: number;
  /** How often it is executed again, at once, after it threw. Default 0. */
  readonly retries?: number;
  /** The run ends after this call; its result is the last word. */
  readonly stopAfterCall?: boolean;
  /** The result is also shown as a part of the answer. */
  readonly showResult?: boolean;
}

/** A function that a model may call. */
export interface Tool<Arguments = never> {
  readonly name: string;
  readonly description: string;
  readonly parameters: ToolParameters;
  readonly readOnly: boolean;
  readonly sideEffects: boolean;
  readonly onUnknownOutcome: UnknownOutcomePolicy;
  readonly timeoutMs: number | undefined;
  readonly retries: number;
  readonly stopAfterCall: boolean;
  readonly showResult: boolean;
  /** What the model is told. Derived when it is first asked for. */
  readonly definition: ToolDefinition;
  execute(args: Arguments, context: ToolContext): unknown;
}

const noParameters: JsonSchema = { type: 'object', properties: {}, additionalProperties: false };

export function tool<Parameters extends ToolParameters = JsonSchema>(
  options: ToolOptions<Parameters>,
): Tool<ToolArguments<Parameters>> {
  checkOptions(options);
  const parameters: ToolParameters = options.parameters ?? noParameters;
  const sideEffects = options.sideEffects ?? false;
  let definition: ToolDefinition | undefined;
  return {
    name: options.name,
    description: options.description,
    parameters,
    readOnly: options.readOnly ?? false,
    sideEffects,
    onUnknownOutcome: options.onUnknownOutcome ?? (sideEffects ? 'ask' : 'retry'),
    timeoutMs: options.timeoutMs,
    retries: options.retries ?? 0,
    stopAfterCall: options.stopAfterCall ?? false,
    showResult: options.showResult ?? false,
    get definition() {
      definition ??= {
        name: options.name,
        description: options.description,
        parameters: jsonSchemaOf(parameters),
      };
      return definition;
    },
    execute: (args, context) => options.execute(args, context),
  };
}

/** A tool's result that carries media beside its content. */
export class ToolResult {
  constructor(
    readonly content: unknown,
    readonly media: readonly Media[],
  ) {}
}

export function toolResult(content: unknown, options: { readonly media: readonly Media[] }): ToolResult {
  return new ToolResult(content, options.media);
}

export function isZodSchema(parameters: ToolParameters): parameters is z.core.$ZodType {
  return '_zod' in parameters;
}

function jsonSchemaOf(parameters: ToolParameters): JsonSchema {
  const { $schema: _, ...schema } = isZodSchema(parameters)
    ? // A schema with a part that JSON cannot express (a date, a custom check) still describes the rest.
      (z.toJSONSchema(parameters, { io: 'input', unrepresentable: 'any' }) as JsonSchema)
    : parameters;
  return schema.type === undefined && schema.$ref === undefined ? { type: 'object', ...schema } : schema;
}

function checkOptions(options: ToolOptions<ToolParameters>): void {
  const { name, parameters } = options;
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name)) {
    throw errors.invalidConfig(
      `Tool name '${name}' must have 1 to 64 letters, digits, _ or -: models accept no others.`,
    );
  }
  if (parameters !== undefined && '_def' in parameters && !isZodSchema(parameters)) {
    throw errors.invalidConfig(`The parameters of tool '${name}' are a zod 3 schema. Make them with zod 4.`);
  }
  if (options.readOnly && options.sideEffects) {
    throw errors.invalidConfig(
      `Tool '${name}' is marked readOnly and sideEffects. It can be only one of them.`,
    );
  }
}
