import type { ModelTurns } from '../../core/models/pace/model-turns.js';
import type { WakeUps } from '../../core/runs/notifications/wake-ups.js';
import type { Timers } from '../../core/timers.js';
import type { SharedCounts } from './shared-counts.js';

/** What the processes of one database do together while they can reach each other, and each for itself otherwise. */
export interface SharedParts {
  readonly counts: SharedCounts;
  readonly wakeUps: WakeUps;
  /** The turns of the models that they call. */
  modelTurns(timers: Timers): ModelTurns;
  /**
   * Listens to what any of the processes sends in this place, the own one included. The returned function sends a
   * message; it never throws, and a process that cannot be reached does not receive it.
   */
  channel(place: string, listener: (message: string) => void): (message: string) => void;
}
