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
   * Begins to hear what any of the processes says in this place, the own one included. The returned function says
   * something; it never throws, and a process that cannot be reached does not hear it.
   */
  channel(place: string, hears: (message: string) => void): (message: string) => void;
}
