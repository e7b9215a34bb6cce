import { backOffMs } from '../back-off.js';
import { pause } from '../pause.js';
import { RunPaused } from '../runs/context.js';
import type { Timers } from '../timers.js';
import type { ClearedCall } from './gate.js';
import type { Tool } from './tool.js';
import { attemptContext, type ToolContext } from './tool-context.js';
import { ToolRefused } from './tool-hooks.js';

/** A tool's time was up. It is not tried again: nobody knows what it did. */
export class ToolTimeout extends Error {}

/** Is told of a try that failed before the next one is made. */
export type NoteTry = (failed: { error: unknown; startedAt: number; delayMs: number }) => void;

/** Executes a cleared call, again after a throw as often as the tool allows. */
export async function attemptTool(
  tool: Tool,
  call: ClearedCall,
  context: ToolContext,
  timers: Timers,
  noteTry?: NoteTry,
): Promise<unknown> {
  for (let attempt = 0; ; attempt++) {
    context.signal.throwIfAborted();
    const startedAt = timers.now();
    try {
      return await attemptOnce(tool, call, context, timers);
    } catch (error) {
      context.signal.throwIfAborted();
      const isFinal = [ToolTimeout, ToolRefused, RunPaused].some((kind) => error instanceof kind);
      if (isFinal || attempt >= tool.retries) throw error;
      const delayMs = backOffMs(tool.backoff, attempt);
      noteTry?.({ error, startedAt, delayMs });
      if (delayMs > 0) await pause(delayMs, context.signal, timers);
    }
  }
}

/** Races the tool against its time and the run's abort, and tells it when it has lost. */
function attemptOnce(tool: Tool, call: ClearedCall, context: ToolContext, timers: Timers): Promise<unknown> {
  const controller = new AbortController();
  let over = false;
  const own = attemptContext(context, { signal: controller.signal, isOver: () => over, timers });
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
      over = true;
      cancelTimer?.();
      context.signal.removeEventListener('abort', onAbort);
    };
    context.signal.addEventListener('abort', onAbort, { once: true });
    tool.run(call, own).then(
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

function timeoutMessage(tool: Tool): string {
  const effect = tool.readOnly ? '' : ' It may or may not have taken effect.';
  return `'${tool.name}' did not finish within ${tool.timeoutMs} ms and was stopped.${effect}`;
}
