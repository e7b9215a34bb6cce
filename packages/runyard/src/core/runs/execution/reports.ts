import type { RunEvent } from '../../events/run-event.js';
import type { Timers } from '../../timers.js';
import type { RunContext } from '../context.js';

/** How long a report takes that reaches no receiver. */
const unheardMs = 100;

const turns = new WeakMap<Timers, Promise<void>>();

/**
 * A report without a receiver does nothing. It takes a moment, so that code that reports in an
 * endless loop does not keep the process from everything else.
 */
export function unheard(timers: Timers): Promise<void> {
  let turn = turns.get(timers);
  if (turn === undefined) {
    turn = new Promise((resolve) => {
      timers.after(unheardMs, () => {
        turns.delete(timers);
        resolve();
      });
    });
    turns.set(timers, turn);
  }
  return turn;
}

/** What one call of application code reports while it lasts. What it reports after its end is ignored. */
export class Reports {
  private ended = false;

  constructor(private readonly context: RunContext) {}

  send(event: () => RunEvent, key: string): Promise<void> {
    return this.ended ? unheard(this.context.timers) : this.context.report(event, key);
  }

  end(): void {
    this.ended = true;
  }
}
