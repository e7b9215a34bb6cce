import type { RetryBackoff } from '../async/back-off.js';
import type { JsonSchema } from '../json.js';
import type { ToolDefinition } from '../models/model.js';
import { isNative, native } from '../native-code.js';
import { checkOptions, ownerOf } from '../options/check-options.js';
import type { ValueSchema } from '../schemas/value-schema.js';
import { type ClearedCall, type OfArguments, openGate, type ToolGate } from './call/gate.js';
import { generatedResult, isGenerated } from './call/generated-result.js';
import type { ToolHook } from './call/tool-hooks.js';
import { checkToolOptions } from './check-tool-options.js';
import type { PersonForm } from './questions/person-form.js';
import type { ToolContext } from './tool-context.js';
import {
  type CacheOptions,
  type ToolOptions,
  toolOptions,
  type UnknownOutcomePolicy,
} from './tool-options.js';
import { modelSchemaOf, type ToolSchema } from './tool-schema.js';

/** The options of any tool, whatever its arguments and results are. */
type AnyToolOptions = Omit<
  ToolOptions<ToolSchema, ValueSchema | undefined>,
  'execute' | 'hooks' | 'requiresConfirmation' | 'askPerson'
> & {
  /** The gate has checked the arguments of a call against `inputSchema`, which their type is derived from. */
  execute?(args: unknown, context: ToolContext): unknown;
  readonly hooks?: readonly ToolHook[];
  readonly requiresConfirmation?: ToolGate['requiresConfirmation'];
  readonly askPerson?: OfArguments<PersonForm>;
};

/** What a configuration or a toolkit may change of a tool: how it is described, and gates that it did not have. */
export type ToolChanges = Partial<
  Pick<
    AnyToolOptions,
    | 'description'
    | 'strict'
    | 'requiresConfirmation'
    | 'externalExecution'
    | 'approval'
    | 'stopAfterCall'
    | 'showResult'
  >
>;

const noBackoff: RetryBackoff = { delayMs: 0 };
const noArguments: JsonSchema = { type: 'object', properties: {}, additionalProperties: false };

/**
 * A function that a model may call, made with `tool()`. What it does can be reached only through `run`, and that
 * takes a call that has passed the tool's gate.
 */
export class Tool<
  Name extends string = string,
  Input extends ToolSchema = ToolSchema,
  Output extends ValueSchema | undefined = ValueSchema | undefined,
> {
  readonly name: Name;
  readonly gate: ToolGate;
  readonly #options: AnyToolOptions;
  private derived: ToolDefinition | undefined;
  private renamed: Map<string, Tool> | undefined;

  constructor(
    given: AnyToolOptions,
    /** What `this` is for its functions: the same for the tool under another name. */
    readonly code: object = given,
  ) {
    checkOptions(ownerOf('Tool', given), given, toolOptions);
    // under another name it is the same tool, whatever became of the options since
    const options = toolOptions.plain(given);
    checkToolOptions(options);
    // the types of the tool are those of its options: `tool()` declares them
    this.name = options.name as Name;
    this.gate = gateOf(options);
    this.#options = options;
  }

  get description(): string {
    return this.#options.description;
  }
  get inputSchema(): Input {
    // as its name
    return (this.#options.inputSchema ?? noArguments) as Input;
  }
  get outputSchema(): Output {
    // as its name
    return this.#options.outputSchema as Output;
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
    // each confirmation of a person allows one execution
    const agreedTo = !this.readOnly && (!!approval || !!requiresConfirmation);
    return onUnknownOutcome ?? (this.sideEffects || agreedTo ? 'ask' : 'retry');
  }
  get timeoutMs(): number | undefined {
    return this.#options.timeoutMs;
  }
  get retries(): number {
    return this.#options.retries ?? 0;
  }
  get backoff(): RetryBackoff {
    return this.#options.backoff ?? noBackoff;
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

  /** What the model sees. Derived when it is first needed. */
  get definition(): ToolDefinition {
    this.derived ??= {
      name: this.name,
      description: this.description,
      inputSchema: modelSchemaOf(this.name, this.inputSchema, this.gate, this.#options.strict ?? false),
      ...(this.#options.strict && { strict: true }),
    };
    return this.derived;
  }

  /** The same tool under another name. */
  named(name: string): Tool {
    if (name === this.name) return this;
    this.renamed ??= new Map();
    let renamed = this.renamed.get(name);
    if (renamed === undefined) {
      renamed = this.like({ name });
      this.renamed.set(name, renamed);
    }
    return renamed;
  }

  /** The same tool with other words or another gate. */
  changed(changes: ToolChanges): Tool {
    return this.like(changes);
  }

  /** Whether the other is this tool under whatever name and with whatever changes. */
  isSameCode(other: Tool): boolean {
    return this.code === other.code;
  }

  private like(changes: Partial<AnyToolOptions>): Tool {
    const other = new Tool({ ...this.#options, ...changes }, this.code);
    return isNative(this) ? native(other) : other;
  }

  async run(call: ClearedCall, context: ToolContext): Promise<unknown> {
    const args = call.argumentsFor(this.name);
    const returned = await this.#options.execute?.call(this.code, args, context);
    return isGenerated(returned) ? generatedResult(returned, context) : returned;
  }
}

export function tool<
  Input extends ToolSchema = JsonSchema,
  Output extends ValueSchema | undefined = undefined,
  Name extends string = string,
>(options: ToolOptions<Input, Output, Name>): Tool<Name, Input, Output> {
  // its hooks get what its own function returns
  return new Tool(options as AnyToolOptions);
}

/** One of Runyard's own, which calls no code of the application by itself. */
export function nativeTool<Input extends ToolSchema = JsonSchema>(options: ToolOptions<Input>): Tool {
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
