import type { Timers } from '../../timers.js';
import type { RunJournal } from '../journal/ports.js';
import type { EventLog } from './event-log.js';
import type { EventRelay, Wake } from './event-relay.js';
import type { Follower } from './following.js';
import type { LoggedEvent } from './logged-event.js';

/** Where readers find the events of runs. */
export interface EventSources {
  readonly journal: RunJournal;
  readonly timers: Timers;
  /** The log of a run that is live in this process. */
  liveLog(runId: string): EventLog | undefined;
  /** What carries events of other processes sooner than the store. */
  readonly relay?: EventRelay | undefined;
  /** Calls `wake` when a run that another process executes may have progressed. */
  follow?(runId: string, wake: Wake): Follower;
  /** The events of an ended run, rebuilt from its journal: those that were sent are no longer kept. */
  rebuilt?(runId: string): Promise<readonly LoggedEvent[]>;
}
