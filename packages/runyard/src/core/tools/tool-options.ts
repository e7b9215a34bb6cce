import type { z } from 'zod';
import type { RetryBackoff } from '../async/back-off.js';
import type { Json, JsonObject, JsonSchema } from '../json.js';
import { backoff } from '../options/backoff-kind.js';
import {
  anyOf,
  callable,
  count,
  flag,
  listOf,
  milliseconds,
  objectOf,
  required,
  text,
  word,
} from '../options/kinds.js';
import { objectSchema, schema } from '../options/schema-kind.js';
import type { ValueSchema } from '../schemas/value-schema.js';
import type { ApprovalType } from './call/gate.js';
import type { ToolHook } from './call/tool-hooks.js';
import type { PersonForm } from './questions/person-form.js';
import type { ToolContext } from './tool-context.js';
import type { ToolResult } from './tool-result.js';
import type { ToolSchema } from './tool-schema.js';

/** What becomes of a call whose process died before its outcome was recorded. */
export type UnknownOutcomePolicy = 'retry' | 'ask' | 'fail';

/** The arguments that `execute` receives: inferred from a zod schema, plain JSON otherwise. */
export type ToolArguments<Input> = Input extends z.core.$ZodType ? z.output<Input> : JsonObject;

/** A result that fits the output schema, as hooks see it; nothing is known of one without a schema. */
export type ToolOutput<Output> = Output extends z.core.$ZodType
  ? z.output<Output>
  : Output extends JsonSchema
    ? Json
    : unknown;

/** What `execute` returns: the schema may still fill in defaults and transform it. */
type Returned<Output> = Output extends z.core.$ZodType ? z.input<Output> : unknown;

/** How a result is made: at once, later, or by a generator that shows parts of it on the way. */
type Work<Result> =
  | Result
  | Promise<Result>
  | AsyncGenerator<unknown, Result, void>
  | AsyncGenerator<Result, void, void>
  | Generator<unknown, Result, void>
  | Generator<Result, void, void>;

type WithMedia<Value> = Value | ToolResult<Value>;

export interface CacheOptions {
  /**
   * Who is served from what one call found out: the same user in the same session (the default), or every caller
   * of this process. Choose `process` only for results that depend on nothing but the arguments.
   */
  readonly scope?: 'session' | 'process';
  /** Default: five minutes. */
  readonly ttlMs?: number;
  /** How many results are kept; the least recently used goes first. Default 500. */
  readonly maximumEntries?: number;
}

export interface ToolOptions<Input extends ToolSchema, Output = undefined, Name = string> {
  /** What the model calls it by: letters, digits, `_` and `-`. */
  readonly name: Name;
  readonly description: string;
  /** The arguments: a zod object or a JSON schema. Leave it out for a tool without arguments. */
  readonly inputSchema?: Input;
  /** What `execute` returns: a zod or JSON schema. A result that does not fit is a failure of the tool. */
  readonly outputSchema?: Output;
  /**
   * A string goes to the model as it is, anything else as JSON. What it throws is passed to the model as the reason. A tool
   * whose result comes from outside or from a person has none. A generator shows what it yields to those who follow the
   * run; its result is what it returns, or else what it yielded last.
   */
  execute?(args: ToolArguments<Input>, context: ToolContext): Work<WithMedia<Returned<Output>>>;
  /** Added to the agent's system message: when and how to use this tool. */
  readonly instructions?: string;
  /** Asks the provider to hold the arguments to the schema to the letter, where it can. */
  readonly strict?: boolean;
  /** It only looks: executing it twice does no harm. */
  readonly readOnly?: boolean;
  /** It changes something outside: its start is durable before it runs. */
  readonly sideEffects?: boolean;
  /** Default: `ask` for a tool with side effects and for one that a person has to agree to, `retry` otherwise. */
  readonly onUnknownOutcome?: UnknownOutcomePolicy;
  readonly timeoutMs?: number;
  /** How often it is executed again after it threw. Default 0. */
  readonly retries?: number;
  /** Waits between those. Left out: none. */
  readonly backoff?: RetryBackoff;
  /** The run ends after this call; its result is the last word. */
  readonly stopAfterCall?: boolean;
  /** The result is also shown as a part of the answer. */
  readonly showResult?: boolean;
  /** The same call is answered from memory for a while. Not for tools that do something. */
  readonly cacheResults?: boolean | CacheOptions;
  /** Called around each execution, the first one outermost. */
  readonly hooks?: readonly ToolHook<WithMedia<ToolOutput<Output>>>[];
  /** A person has to agree to each call, or to those for which the function answers true. */
  readonly requiresConfirmation?: boolean | ((args: ToolArguments<Input>) => boolean | Promise<boolean>);
  /** A person fills in arguments; the model does not see them. */
  readonly requiresUserInput?: boolean;
  /** Which arguments these are. Left out: all. */
  readonly userInputFields?: readonly string[];
  /** The result comes from outside: the caller of the run executes it. */
  readonly externalExecution?: boolean;
  /** The pause for it shows no sentence to the user. */
  readonly externalExecutionSilent?: boolean;
  /** What to ask a person, made from the arguments: fields to fill in, or questions. The answer is the result. */
  readonly askPerson?: (args: ToolArguments<Input>) => PersonForm;
  readonly approval?: ApprovalType;
  /** How long an approval can be given; after that the call counts as rejected. Left out: forever. */
  readonly approvalTimeoutMs?: number;
}

const cache = objectOf<CacheOptions>({
  scope: word('session', 'process'),
  ttlMs: milliseconds(1, Number.MAX_SAFE_INTEGER),
  maximumEntries: count(1),
});

export const toolOptions = objectOf<ToolOptions<ToolSchema, ValueSchema>>(
  {
    name: required(text),
    description: required(text),
    inputSchema: objectSchema,
    outputSchema: schema,
    execute: callable,
    instructions: text,
    strict: flag,
    readOnly: flag,
    sideEffects: flag,
    onUnknownOutcome: word('retry', 'ask', 'fail'),
    timeoutMs: milliseconds(1, Number.MAX_SAFE_INTEGER),
    retries: count(0),
    backoff,
    stopAfterCall: flag,
    showResult: flag,
    cacheResults: anyOf(flag, cache),
    hooks: listOf(callable),
    requiresConfirmation: anyOf(flag, callable),
    requiresUserInput: flag,
    userInputFields: listOf(text),
    externalExecution: flag,
    externalExecutionSilent: flag,
    askPerson: callable,
    approval: word('required', 'audit'),
    approvalTimeoutMs: milliseconds(1, Number.MAX_SAFE_INTEGER),
  },
  { parameters: 'inputSchema' },
);
