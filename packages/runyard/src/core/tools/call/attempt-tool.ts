import { pause, withinTime } from '../../async/abort.js';
import { backOffMs } from '../../async/back-off.js';
import { RunPaused } from '../../runs/context.js';
import type { Timers } from '../../timers.js';
import { type AskPerson, askedTooLate, type CallQuestions, nobodyToAsk } from '../questions/tool-question.js';
import type { Tool } from '../tool.js';
import { attemptContext, type ToolContext } from '../tool-context.js';
import type { ClearedCall } from './gate.js';
import { ToolRefused } from './tool-hooks.js';

/** A tool's time was up. It is not tried again: what it did is unknown. */
export class ToolTimeout extends Error {}

/** Called with a failed try before the next one is made. */
export type NoteTry = (failed: { error: unknown; startedAt: number; delayMs: number }) => void;

/** What attempts need from around them. */
export interface AttemptEnvironment {
  readonly timers: Timers;
  readonly noteTry?: NoteTry;
  /** Left out: the tool cannot ask a person. */
  readonly questions?: CallQuestions;
}

/** Executes a cleared call, again after a throw as often as the tool allows. */
export async function attemptTool(
  tool: Tool,
  call: ClearedCall,
  context: ToolContext,
  environment: AttemptEnvironment,
): Promise<unknown> {
  const { timers, noteTry } = environment;
  for (let attempt = 0; ; attempt++) {
    context.signal.throwIfAborted();
    const startedAt = timers.now();
    try {
      return await attemptOnce(tool, call, context, environment);
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

/** Races the tool against its time and the abort of the run, and aborts it when it has lost. */
async function attemptOnce(
  tool: Tool,
  call: ClearedCall,
  context: ToolContext,
  { timers, questions }: AttemptEnvironment,
): Promise<unknown> {
  const series = questions?.series() ?? nobodyToAsk;
  const timeout = () => new ToolTimeout(timeoutMessage(tool));
  let ended = false;
  try {
    const result = await withinTime(
      { timeoutMs: tool.timeoutMs, signal: context.signal, timers, timeout },
      (signal) => {
        const isOver = () => ended || signal.aborted;
        const ask: AskPerson = (question) => (isOver() ? askedTooLate() : series(question));
        return tool.run(call, attemptContext(context, { signal, isOver, timers, ask }));
      },
    );
    // whatever a tool makes of it, a call that has asked waits for the answer
    if (questions?.paused !== undefined) throw questions.paused;
    return result;
  } catch (error) {
    throw questions?.paused ?? error;
  } finally {
    ended = true;
  }
}

function timeoutMessage(tool: Tool): string {
  const effect = tool.readOnly ? '' : ' It may or may not have taken effect.';
  return `'${tool.name}' did not finish within ${tool.timeoutMs} ms and was stopped.${effect}`;
}
