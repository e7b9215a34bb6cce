import { Approvals } from './approvals.js';
import type { Calls } from './calls.js';
import { Memories } from './memories.js';
import { Metrics } from './metrics.js';
import { Runs } from './runs.js';
import { Sessions } from './sessions.js';
import { Traces } from './traces.js';

/** The operations of the API for one caller, within the process: the same rules, bodies and types, and no HTTP. */
export class Operations {
  readonly runs: Runs;
  readonly sessions: Sessions;
  readonly memories: Memories;
  readonly approvals: Approvals;
  readonly traces: Traces;
  readonly metrics: Metrics;

  constructor(calls: Calls) {
    this.runs = new Runs(calls);
    this.sessions = new Sessions(calls);
    this.memories = new Memories(calls);
    this.approvals = new Approvals(calls);
    this.traces = new Traces(calls);
    this.metrics = new Metrics(calls);
  }
}
