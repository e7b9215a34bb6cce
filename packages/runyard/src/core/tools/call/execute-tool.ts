import { untilAborted } from '../../async/abort.js';
import { reasonOf } from '../../errors/reason.js';
import { thrownError } from '../../errors/thrown-error.js';
import type { JsonObject } from '../../json.js';
import type { MediaContents } from '../../media/media.js';
import type { ToolCall } from '../../models/message.js';
import { RunPaused } from '../../runs/context.js';
import type { Tool } from '../tool.js';
import { type ToolCallSite, type ToolContext, toolContextAt } from '../tool-context.js';
import { type AttemptEnvironment, attemptTool, ToolTimeout } from './attempt-tool.js';
import { canonicalJson } from './canonical-json.js';
import { checkedResult } from './checked-result.js';
import { type Approval, type ClearedCall, clearCall, type GatedCall, type GateKind } from './gate.js';
import { parseArguments } from './parse-arguments.js';
import { resultCacheOf } from './result-cache.js';
import { type ToolHook, ToolRefused, throughHooks } from './tool-hooks.js';
import { failedOutcome, outcomeOf, type ToolOutcome } from './tool-outcome.js';
import { validateArguments, validateModelsPart } from './validate-arguments.js';

export interface ToolEnvironment extends AttemptEnvironment {
  /** Names to offer to a model that calls a tool that is not there. */
  readonly availableTools: readonly string[];
  /** Called around every call, outside of the tool's own hooks. */
  readonly hooks?: readonly ToolHook[];
  /** Where the bytes of media go that a tool makes. */
  readonly media?: MediaContents;
}

/**
 * Executes one call. Whatever goes wrong becomes an outcome that the model can read and correct; only the abort of
 * the run rejects, at once, whether or not the tool listens to its signal, and the pause of a nested run.
 * A gated call is executed with the approval that names it, and is refused without.
 */
export async function executeTool(
  tool: Tool | undefined,
  call: ToolCall,
  site: ToolCallSite,
  environment: ToolEnvironment,
  approval?: Approval,
): Promise<ToolOutcome> {
  site.signal.throwIfAborted();
  const parsed = parseArguments(call.arguments);
  if (!tool)
    return failedOutcome(parsed.ok ? parsed.args : null, unknownTool(call.name, environment.availableTools));
  if (!parsed.ok)
    return failedOutcome(null, `${parsed.message}\nCall '${tool.name}' again with a JSON object.`);
  const execution = new ToolExecution(tool, call.id, site, environment, approval);
  try {
    const result = await execution.run(parsed.args);
    return await outcomeOf(tool, execution.args ?? parsed.args, result, environment.media);
  } catch (thrown) {
    const error = thrownError(thrown);
    site.signal.throwIfAborted();
    if (error instanceof RunPaused) throw error;
    const args = execution.args ?? parsed.args;
    if (error instanceof ToolRefused) return failedOutcome(args, error.message);
    site.log.warn({ err: error, tool: tool.name, toolCallId: call.id, runId: site.runId }, 'a tool failed');
    return failedOutcome(
      args,
      error instanceof ToolTimeout ? error.message : `'${tool.name}' failed: ${reasonOf(error)}`,
    );
  }
}

interface PreparedCall {
  readonly args: JsonObject;
  readonly cleared: ClearedCall;
}

/** One call on its way through checks, gate, hooks and cache to the tool. */
class ToolExecution {
  /** The arguments that the tool was executed with last. */
  args: JsonObject | undefined;
  /** What a nested run waits for: no hook can turn that into a result. */
  private paused: RunPaused | undefined;
  private ended = false;

  constructor(
    private readonly tool: Tool,
    private readonly callId: string,
    private readonly site: ToolCallSite,
    private readonly environment: ToolEnvironment,
    private readonly approval: Approval | undefined,
  ) {}

  async run(given: JsonObject): Promise<unknown> {
    const { signal } = this.site;
    // Before the hooks: a call without the required consent does not even reach those.
    const prepared = await this.prepare(given);
    const context = toolContextAt(this.site);
    signal.throwIfAborted();
    const hooks = [...(this.environment.hooks ?? []), ...this.tool.hooks];
    let executed = false;
    const execute = async (args: JsonObject) => {
      if (this.ended) throw new ToolRefused(`'${this.tool.name}' was not executed: its call has ended.`);
      if (executed && this.approval !== undefined)
        throw new ToolRefused(`'${this.tool.name}' was executed once: the approval is used up.`);
      const next = sameArguments(args, given) ? prepared : await this.prepare(args);
      executed = true;
      return this.perform(next, context);
    };
    if (hooks.length === 0) return execute(given);
    const call = { toolName: this.tool.name, args: given, context };
    const hooked = this.unlessPaused(throughHooks(hooks, call, execute));
    // a hook that hangs does not keep a cancelled run
    return untilAborted(hooked, signal).finally(() => {
      this.ended = true;
    });
  }

  private async unlessPaused(hooked: Promise<unknown>): Promise<unknown> {
    const [result] = await Promise.allSettled([hooked]);
    if (this.paused !== undefined) throw this.paused;
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  }

  /** Checks arguments and lets them through the gate. */
  private async prepare(given: JsonObject): Promise<PreparedCall> {
    const { tool } = this;
    const call = { id: this.callId, toolName: tool.name, args: given };
    const valid = await validateModelsPart(tool, given);
    if (!valid.ok) throw new ToolRefused(misfit(tool, valid.faults));
    const input = this.approval?.inputFor(call);
    if (!tool.gate.requiresUserInput) {
      // the tool changed while it was asked for: without what the person filled in it is not what they agreed to
      if (input !== undefined) throw new ToolRefused(inputWithoutPlace(tool));
      return this.clear(call, given, valid.value);
    }
    if (input === undefined) throw new ToolRefused(needsPerson(tool, 'user_input'));
    const args = withPersonsPart(tool, given, input);
    const completed = await validateArguments(tool, args);
    if (!completed.ok) throw new ToolRefused(misfit(tool, completed.faults));
    return this.clear(call, args, completed.value);
  }

  private async clear(call: GatedCall, args: JsonObject, value: unknown): Promise<PreparedCall> {
    const cleared = await clearCall(this.tool.gate, call, value, this.approval);
    if (typeof cleared === 'string') throw new ToolRefused(needsPerson(this.tool, cleared));
    return { args, cleared };
  }

  private async perform({ args, cleared }: PreparedCall, context: ToolContext): Promise<unknown> {
    const { timers } = this.environment;
    this.args = args;
    const cache = resultCacheOf(this.tool);
    const key = cache?.key(context, args) ?? '';
    const known = cache?.get(key, timers.now());
    if (known !== undefined) return known.result;
    const { outputSchema } = this.tool;
    const returned = await attemptTool(this.tool, cleared, context, this.environment).catch((error) => {
      if (error instanceof RunPaused) this.paused = error;
      throw error;
    });
    const result = outputSchema === undefined ? returned : await checkedResult(outputSchema, returned);
    cache?.set(key, result, timers.now());
    return result;
  }
}

function sameArguments(args: JsonObject, others: JsonObject): boolean {
  return args === others || canonicalJson(args) === canonicalJson(others);
}

/** The model's arguments and a person's: neither says anything about what is the other's to fill in. */
function withPersonsPart({ gate }: Tool, given: JsonObject, input: JsonObject): JsonObject {
  const { userInputFields } = gate;
  if (userInputFields.length === 0) return input;
  const isPersons = ([name]: [string, unknown]) => userInputFields.includes(name);
  return Object.fromEntries([
    ...Object.entries(given).filter((entry) => !isPersons(entry)),
    ...Object.entries(input).filter(isPersons),
  ]);
}

const waitsFor: Record<GateKind, string> = {
  confirmation: 'a person must confirm it first',
  user_input: 'a person must fill in a part of it first',
  user_feedback: 'a person must answer it first',
  external_execution: 'it must be executed outside this service',
};

function needsPerson({ name }: Tool, kind: GateKind): string {
  return `'${name}' was not executed: ${waitsFor[kind]}, which has not happened. Do not call it again; tell the user what you wanted to do with it.`;
}

function inputWithoutPlace({ name }: Tool): string {
  return `'${name}' was not executed: a person has filled in a part of it, but it no longer takes input from a person. Call it again.`;
}

function misfit({ name }: Tool, faults: readonly string[]): string {
  const list = faults.map((fault) => `- ${fault}`).join('\n');
  return `The arguments of '${name}' do not fit:\n${list}\nCall it again with arguments that fit.`;
}

function unknownTool(name: string, available: readonly string[]): string {
  const offer = available.length > 0 ? `Available: ${available.join(', ')}.` : 'There are no tools here.';
  return `There is no tool '${name}'. ${offer}`;
}
