import type { Json } from '../../json.js';
import type { Run } from '../run.js';

/** What a run receives from outside: the function of a workflow waits for it by its name. */
export interface ReceivedEvent {
  /** The sender's own: the same event again is one event. */
  readonly eventId: string;
  readonly name: string;
  readonly data: Json;
}

/** How many events a run receives in all. */
export const mostEvents = 1_000;

/** What a `wait` step for events of this name is called. */
export function eventWaitName(name: string): string {
  return `event:${name}`;
}

/** The name of the events that a `wait` step is for; undefined for any other step. */
export function awaitedEvent({
  kind,
  name,
}: {
  readonly kind: string;
  readonly name: string;
}): string | undefined {
  return kind === 'wait' && name.startsWith('event:') ? name.slice('event:'.length) : undefined;
}

/** The events that runs were sent. They are kept until a wait takes them, and as long as their run. */
export interface ReceivedEvents {
  /**
   * Keeps an event of a run that is stored; durable when it resolves. `known`: it was received before; `differs`:
   * another event has the id; `full`: the run has `mostEvents`.
   */
  add(runId: string, event: ReceivedEvent): Promise<'added' | 'known' | 'differs' | 'full'>;

  /**
   * The oldest event of this name that no other wait has taken; from then on it belongs to the wait with this key, and
   * the same wait gets it again.
   */
  take(runId: string, name: string, waitKey: string): Promise<ReceivedEvent | undefined>;

  /** Paused runs with an open wait that an event answers, in the order of their ids. `passed` and `of` as in `RunQueue`. */
  answerable(limit: number, passed: number, of?: readonly string[]): Promise<readonly Run[]>;
}
