import type { JsonObject } from '../../json.js';
import type { Timers } from '../../timers.js';
import { nothingSent } from '../events/sent-events.js';
import { LiveRun } from '../execution/live-run.js';
import type { Run } from '../run.js';

/** A job that is not stored yet, to be written once: the process that claims it executes it. */
export function waitingJob(run: Run, eventFields: JsonObject, timers: Timers): LiveRun {
  const start = { run, eventFields, leaseMs: 0, steps: [], sessionState: {}, sentEvents: nothingSent };
  return new LiveRun({ ...start, entry: 'started', session: null, unstoredJob: true }, () => {}, timers);
}
