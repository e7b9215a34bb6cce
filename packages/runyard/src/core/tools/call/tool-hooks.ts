import { handled } from '../../errors/handled.js';
import type { JsonObject } from '../../json.js';
import type { ToolContext } from '../tool-context.js';

/** A call as a hook sees it. */
export interface HookedToolCall {
  readonly toolName: string;
  /** The arguments as the model gave them, or as an outer hook changed them. */
  readonly args: JsonObject;
  readonly context: ToolContext;
}

/**
 * Runs around a tool call. `next()` executes the call and answers with its result; `next(args)` executes it with
 * other arguments, which are checked again. What the hook returns is the result that the model sees; what it throws
 * reaches the model as a failure, `ToolRefused` word for word.
 */
export type ToolHook<Result = unknown> = (
  call: HookedToolCall,
  next: (args?: JsonObject) => Promise<Result>,
) => unknown;

/** Throw it in a hook or a tool to refuse a call: the model reads the message as it is. */
export class ToolRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ToolRefused';
  }
}

/** Calls the hooks, the first one outermost, around the execution itself. */
export async function throughHooks(
  hooks: readonly ToolHook[],
  call: HookedToolCall,
  execute: (args: JsonObject) => Promise<unknown>,
): Promise<unknown> {
  const [hook, ...inner] = hooks;
  if (hook === undefined) return execute(call.args);
  return hook(call, (args = call.args) => handled(throughHooks(inner, { ...call, args }, execute)));
}
