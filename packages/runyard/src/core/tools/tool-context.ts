import { handled } from '../errors/handled.js';
import type { Json, JsonObject } from '../json.js';
import type { Log } from '../log.js';
import type { MadeMedia } from '../media/made-media.js';
import type { Message } from '../models/message.js';
import { unheard } from '../runs/execution/reports.js';
import type { Timers } from '../timers.js';
import { type AskPerson, nobodyToAsk } from './questions/tool-question.js';

/** The state of the session, as a tool may read and change it. Changes are stored with the run. */
export interface SessionState {
  get(key: string): Json | undefined;
  set(key: string, value: Json): void;
  delete(key: string): void;
  /** A copy of the whole. */
  all(): JsonObject;
}

/** Where a call happens: what the run knows about it. */
export interface ToolCallSite {
  readonly runId: string;
  readonly sessionId: string;
  readonly userId: string | null;
  readonly toolCallId: string;
  /** The same whenever this very call is executed again, so that its effect can be had only once. */
  readonly idempotencyKey: string;
  /** Aborted when the run is cancelled or the tool's time is up. */
  readonly signal: AbortSignal;
  readonly state: SessionState;
  readonly dependencies: JsonObject;
  readonly metadata: JsonObject;
  /** What the caller gave the run (pictures, sounds, documents), and then what its model and tools have made so far. */
  readonly media: readonly MadeMedia[];
  /** What the model was given when it asked for this call, oldest first: a copy. */
  readonly messages: readonly Message[];
  /**
   * Sends an event of your own to those who follow the run. Wait for it: it resolves when there is room for the next
   * one. After the end of the call it does nothing.
   */
  emit(customEvent: JsonObject): Promise<void>;
  readonly log: Log;
}

/** What a tool learns about the call that it serves. */
export interface ToolContext extends ToolCallSite {
  /** Reports to those who follow the run how far the call is: a fraction between 0 and 1. */
  progress(fraction: number, message?: string): Promise<void>;
  /**
   * Asks a person. The run pauses; when they have answered, the tool is executed again from its start, and the same
   * question returns the answer. Let what it rejects with pass.
   */
  readonly ask: AskPerson;
}

/** The context of one call. Progress that would look the same as before is not sent again. */
export function toolContextAt(site: ToolCallSite): ToolContext {
  let last: string | undefined;
  const tell = async (fraction: number, message?: string): Promise<void> => {
    const bounded = Math.min(Math.max(Number.isFinite(fraction) ? fraction : 0, 0), 1);
    const rounded = Math.round(bounded * 100) / 100;
    const seen = `${rounded} ${message ?? ''}`;
    if (seen === last) return;
    last = seen;
    await site.emit({ progress: rounded, ...(message !== undefined && { message }) });
  };
  const progress: ToolContext['progress'] = (fraction, message) => handled(tell(fraction, message));
  // Inherits instead of copying, so that it works for whatever kind of object the site is.
  return Object.create(site, {
    progress: { value: progress, enumerable: true },
    ask: { value: nobodyToAsk, enumerable: true },
  });
}

interface Attempt {
  readonly signal: AbortSignal;
  readonly isOver: () => boolean;
  readonly timers: Timers;
  readonly ask: AskPerson;
}

/** The context of one attempt: it has a signal of its own, and what is reported once it is over is ignored. */
export function attemptContext(context: ToolContext, attempt: Attempt): ToolContext {
  const { signal, isOver, timers, ask } = attempt;
  const emit: ToolContext['emit'] = (event) => (isOver() ? unheard(timers) : context.emit(event));
  const progress: ToolContext['progress'] = (fraction, message) =>
    isOver() ? unheard(timers) : context.progress(fraction, message);
  return Object.create(context, {
    signal: { value: signal, enumerable: true },
    emit: { value: emit, enumerable: true },
    progress: { value: progress, enumerable: true },
    ask: { value: ask, enumerable: true },
  });
}
