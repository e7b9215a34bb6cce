import type { JsonObject } from '../json.js';
import type { Media } from '../media.js';
import type { ToolCall } from '../models/message.js';
import type { Timers } from '../timers.js';
import { parseArguments } from './parse-arguments.js';
import { type Tool, ToolResult } from './tool.js';
import type { ToolContext } from './tool-context.js';
import { validateArguments } from './validate-arguments.js';

/** What a call came to. `content` is what the model reads. */
export interface ToolOutcome {
  readonly content: string;
  readonly error: boolean;
  /** The arguments as the model gave them; null when they were not JSON. */
  readonly args: JsonObject | null;
  readonly media?: readonly Media[];
  /** The run ends here. */
  readonly stop: boolean;
  readonly showResult: boolean;
}

export interface ToolEnvironment {
  readonly timers: Timers;
  /** Names to offer to a model that calls a tool that is not there. */
  readonly availableTools: readonly string[];
}

const longestResult = 100_000;

/**
 * Executes one call. Whatever goes wrong becomes an outcome that the model can read and mend; only the abort of
 * the run rejects, at once, whether or not the tool listens to its signal.
 */
export async function executeTool(
  tool: Tool | undefined,
  call: ToolCall,
  context: ToolContext,
  environment: ToolEnvironment,
): Promise<ToolOutcome> {
  context.signal.throwIfAborted();
  const parsed = parseArguments(call.arguments);
  const args = parsed.ok ? parsed.args : null;
  if (!tool) return failed(args, unknownTool(call.name, environment.availableTools));
  if (!parsed.ok) return failed(null, `${parsed.message}\nCall '${tool.name}' again with a JSON object.`);
  try {
    const valid = await validateArguments(tool, parsed.args);
    if (!valid.ok) {
      const faults = valid.faults.map((fault) => `- ${fault}`).join('\n');
      return failed(
        args,
        `The arguments of '${tool.name}' do not fit:\n${faults}\nCall it again with arguments that fit.`,
      );
    }
    return outcome(tool, parsed.args, await attempts(tool, valid.value, context, environment.timers));
  } catch (error) {
    context.signal.throwIfAborted();
    context.log.warn(
      { err: error, tool: tool.name, toolCallId: call.id, runId: context.runId },
      'a tool failed',
    );
    return failed(
      args,
      error instanceof ToolTimeout ? error.message : `'${tool.name}' failed: ${messageOf(error)}`,
    );
  }
}

class ToolTimeout extends Error {}

async function attempts(tool: Tool, args: unknown, context: ToolContext, timers: Timers): Promise<unknown> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await attemptOnce(tool, args, context, timers);
    } catch (error) {
      context.signal.throwIfAborted();
      if (error instanceof ToolTimeout || attempt >= tool.retries) throw error;
    }
  }
}

/** Races the tool against its time and the run's abort, and tells it when it has lost. */
function attemptOnce(tool: Tool, args: unknown, context: ToolContext, timers: Timers): Promise<unknown> {
  const controller = new AbortController();
  return new Promise((resolve, reject) => {
    const giveUp = (reason: unknown) => {
      settle();
      reject(reason);
      controller.abort(reason);
    };
    const onAbort = () => giveUp(context.signal.reason);
    const cancelTimer =
      tool.timeoutMs === undefined
        ? undefined
        : timers.after(tool.timeoutMs, () => giveUp(new ToolTimeout(timeoutMessage(tool))));
    const settle = () => {
      cancelTimer?.();
      context.signal.removeEventListener('abort', onAbort);
    };
    context.signal.addEventListener('abort', onAbort, { once: true });
    invoke(tool, args, withSignal(context, controller.signal)).then(
      (result) => {
        settle();
        resolve(result);
      },
      (error) => {
        settle();
        reject(error);
      },
    );
  });
}

async function invoke(tool: Tool, args: unknown, context: ToolContext): Promise<unknown> {
  return tool.execute(args as never, context);
}

/** The same context with another signal, whatever kind of object it is. */
function withSignal(context: ToolContext, signal: AbortSignal): ToolContext {
  return Object.create(context, { signal: { value: signal, enumerable: true } }) as ToolContext;
}

function outcome(tool: Tool, args: JsonObject, result: unknown): ToolOutcome {
  const { content: value, media } =
    result instanceof ToolResult ? result : { content: result, media: undefined };
  let content: string;
  try {
    content = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  } catch (error) {
    return failed(args, `'${tool.name}' ran, but its result cannot be written as JSON: ${messageOf(error)}`);
  }
  const shared = {
    args,
    ...(media?.length ? { media } : undefined),
    stop: tool.stopAfterCall,
    showResult: tool.showResult,
  };
  if (content.length <= longestResult) return { content, error: false, ...shared };
  const note = `[Cut here: the result has ${content.length} characters, the limit is ${longestResult}. Ask for less.]`;
  return { content: `${content.slice(0, longestResult)}\n${note}`, error: true, ...shared };
}

function failed(args: JsonObject | null, content: string): ToolOutcome {
  // A model that is to mend its call needs another turn, whatever the tool says about stopping.
  return { content, error: true, args, stop: false, showResult: false };
}

function unknownTool(name: string, available: readonly string[]): string {
  const offer = available.length > 0 ? `Available: ${available.join(', ')}.` : 'There are no tools here.';
  return `There is no tool '${name}'. ${offer}`;
}

function timeoutMessage(tool: Tool): string {
  const effect = tool.readOnly ? '' : ' It may or may not have taken effect.';
  return `'${tool.name}' did not finish within ${tool.timeoutMs} ms and was stopped.${effect}`;
}

function messageOf(error: unknown): string {
  const text =
    error instanceof Error
      ? error.message || error.name
      : typeof error === 'string'
        ? error
        : 'it threw no error';
  return text.length > 2_000 ? `${text.slice(0, 2_000)}…` : text;
}
