import type { RunContext } from '../runs/context.js';
import { nothingSent, sentWith } from '../runs/events/sent-events.js';
import { contextWith } from './members/member-events.js';

/** A context that emits the start of the run with the leader's first event. */
export interface LateEntry {
  readonly context: RunContext;
  /** Emits it now, unless that was done. */
  release(): void;
}

/**
 * A team begins after its pre-hooks, and continues after the members that it waited for: the event of that is held back until
 * then. `entered` is called right after it was emitted.
 */
export function withLateEntry(context: RunContext, entered: () => void): LateEntry {
  const { entry } = context;
  const entryKey = `started:${context.run.attempt}`;
  const isSent = entry === 'continued' ? sentWith(context.steps()) : nothingSent;
  let held: (() => void) | undefined;
  const release = () => {
    const say = held;
    held = undefined;
    say?.();
  };
  const leader = contextWith(context, {
    emit(event, key) {
      if (key === entryKey) {
        held = () => {
          context.emit(event, key);
          entered();
        };
        if (entry === 'recovered') release();
        return;
      }
      const isBefore =
        entry === 'started' && (event.event === 'PreHookStarted' || event.event === 'PreHookCompleted');
      if (!isBefore && !isSent(key)) release();
      context.emit(event, key);
    },
    emitDelta(event, text) {
      release();
      context.emitDelta(event, text);
    },
  });
  return { context: leader, release };
}
