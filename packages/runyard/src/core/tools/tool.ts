import type { z } from 'zod';
import type { JsonObject, JsonSchema } from '../json.js';
import type { ToolDefinition } from '../models/model.js';
import { isNative, native } from '../native-code.js';
import { checkToolOptions } from './check-tool-options.js';
import { type ApprovalType, type ClearedCall, openGate, type ToolGate } from './gate.js';
import type { PersonForm } from './person-form.js';
import type { ToolContext } from './tool-context.js';
import type { ToolHook } from './tool-hooks.js';
import { modelSchemaOf, type ToolParameters } from './tool-parameters.js';

/** What becomes of a call whose process died before its outcome was recorded. */
export type UnknownOutcomePolicy = 'retry' | 'ask' | 'fail';

/** The arguments that `execute` receives: inferred from a zod schema, plain JSON otherwise. */
export type ToolArguments<Parameters> = Parameters extends z.core.$ZodType
  ? z.output<Parameters>
  : JsonObject;

/** How long to wait before a failed call is made again: `delayMs`, then `factor` times as long each time. */
export interface RetryBackoff {
  readonly delayMs: number;
  /** Default 2. */
  readonly factor?: number;
  /** Default 30 000. */
  readonly maximumMs?: number;
}

export interface CacheOptions {
  /**
   * Who is served from what one call found out: the same user in the same session (the default), or every caller
   * of this process. Choose `process` only for results that depend on nothing but the arguments.
   */
  readonly scope?: 'session' | 'process';
  /** Default: five minutes. */
  readonly ttlMs?: number;
  /** How many results are kept; the one that was not used for longest goes first. Default 500. */
  readonly maximumEntries?: number;
}

export interface ToolOptions<Parameters extends ToolParameters> {
  /** What the model calls it by: letters, digits, `_` and `-`. */
  readonly name: string;
  readonly description: string;
  /** A zod object or a JSON schema. Leave it out for a tool without arguments. */
  readonly parameters?: Parameters;
  /**
   * A string goes to the model as it is, anything else as JSON. Throwing tells the model what went wrong. A tool
   * whose result comes from outside or from a person has none.
   */
  execute?(args: ToolArguments<Parameters>, context: ToolContext): unknown;
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
  readonly hooks?: readonly ToolHook[];
  /** A person has to agree to each call, or to those for which the function answers true. */
  readonly requiresConfirmation?: boolean | ((args: ToolArguments<Parameters>) => boolean | Promise<boolean>);
  /** A person fills in arguments; the model does not see them. */
  readonly requiresUserInput?: boolean;
  /** Which arguments these are. Left out: all. */
  readonly userInputFields?: readonly string[];
  /** The result comes from outside: whoever called the run executes it. */
  readonly externalExecution?: boolean;
  /** The pause for it shows no sentence to the user. */
  readonly externalExecutionSilent?: boolean;
  /** What to ask a person, made from the arguments: fields to fill in, or questions. The answer is the result. */
  readonly askPerson?: (args: ToolArguments<Parameters>) => PersonForm;
  readonly approval?: ApprovalType;
  /** How long an approval can be given; after that the call counts as rejected. Left out: for ever. */
  readonly approvalTimeoutMs?: number;
}

/** The options of any tool, whatever its arguments are. */
type AnyToolOptions = Omit<ToolOptions<ToolParameters>, 'execute' | 'requiresConfirmation' | 'askPerson'> & {
  execute?(args: never, context: ToolContext): unknown;
  readonly requiresConfirmation?: ToolGate['requiresConfirmation'];
  readonly askPerson?: (args: never) => PersonForm;
};

const noParameters: JsonSchema = { type: 'object', properties: {}, additionalProperties: false };

/**
 * A function that a model may call, made with `tool()`. What it does can be reached only through `run`, and that
 * takes a call that has passed the tool's gate.
 */
export class Tool {
  readonly name: string;
  readonly gate: ToolGate;
  readonly #options: AnyToolOptions;
  private told: ToolDefinition | undefined;
  private renamed: Map<string, Tool> | undefined;

  constructor(options: AnyToolOptions) {
    checkToolOptions(options);
    this.name = options.name;
    this.gate = gateOf(options);
    this.#options = options;
  }

  get description(): string {
    return this.#options.description;
  }
  get parameters(): ToolParameters {
    return this.#options.parameters ?? noParameters;
  }
  get instructions(): string | undefined {
    return this.#options.instructions;
  }
  get readOnly(): boolean {
    return this.#options.readOnly ?? false;
  }
  get sideEffects(): boolean {
    return this.#options.sideEffects ?? false;
  }
  get onUnknownOutcome(): UnknownOutcomePolicy {
    const { onUnknownOutcome, approval, requiresConfirmation } = this.#options;
    // what a person agreed to is done once for each time that somebody said so
    const agreedTo = !this.readOnly && (!!approval || !!requiresConfirmation);
    return onUnknownOutcome ?? (this.sideEffects || agreedTo ? 'ask' : 'retry');
  }
  get timeoutMs(): number | undefined {
    return this.#options.timeoutMs;
  }
  get retries(): number {
    return this.#options.retries ?? 0;
  }
  get backoff(): RetryBackoff | undefined {
    return this.#options.backoff;
  }
  get stopAfterCall(): boolean {
    return this.#options.stopAfterCall ?? false;
  }
  get showResult(): boolean {
    return this.#options.showResult ?? false;
  }
  get cacheResults(): CacheOptions | undefined {
    const { cacheResults } = this.#options;
    return cacheResults === true ? {} : cacheResults || undefined;
  }
  get hooks(): readonly ToolHook[] {
    return this.#options.hooks ?? [];
  }

  /** What the model is told. Derived when it is first asked for. */
  get definition(): ToolDefinition {
    this.told ??= {
      name: this.name,
      description: this.description,
      parameters: modelSchemaOf(this.name, this.parameters, this.gate, this.#options.strict ?? false),
      ...(this.#options.strict && { strict: true }),
    };
    return this.told;
  }

  /** The same tool under another name. */
  named(name: string): Tool {
    if (name === this.name) return this;
    this.renamed ??= new Map();
    let renamed = this.renamed.get(name);
    if (renamed === undefined) {
      renamed = new Tool({ ...this.#options, name });
      if (isNative(this)) native(renamed);
      this.renamed.set(name, renamed);
    }
    return renamed;
  }

  async run(call: ClearedCall, context: ToolContext): Promise<unknown> {
    const args = call.argumentsFor(this.name) as never;
    return this.#options.execute?.(args, context);
  }
}

export function tool<Parameters extends ToolParameters = JsonSchema>(options: ToolOptions<Parameters>): Tool {
  return new Tool(options as AnyToolOptions);
}

/** One of Runyard's own, which calls no code of the application by itself. */
export function nativeTool<Parameters extends ToolParameters = JsonSchema>(
  options: ToolOptions<Parameters>,
): Tool {
  return native(tool(options));
}

function gateOf(options: AnyToolOptions): ToolGate {
  const { approval, askPerson, requiresConfirmation, requiresUserInput, externalExecution } = options;
  if (!(approval || askPerson || requiresConfirmation || requiresUserInput || externalExecution))
    return openGate;
  return {
    // An approval is about something: without another gate, about the call itself.
    requiresConfirmation: requiresConfirmation || !(requiresUserInput || externalExecution || askPerson),
    requiresUserInput: requiresUserInput ?? false,
    userInputFields: options.userInputFields ?? [],
    externalExecution: externalExecution ?? false,
    externalExecutionSilent: options.externalExecutionSilent ?? false,
    askPerson,
    approval,
    approvalTimeoutMs: options.approvalTimeoutMs,
  };
}
