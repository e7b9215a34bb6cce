import type { Log } from '../../core/log.js';
import type { ModelPrices } from '../../core/models/prices.js';
import type { Timers } from '../../core/timers.js';
import type { Database } from '../../platform/storage/database.js';
import type { DatabasePart, RunSpace } from '../capability.js';
import { DatabaseLiveEvals } from './database-live-evals.js';
import { liveEvalJob } from './live-eval-job.js';
import type { RegisteredLiveEval } from './registered-live-evals.js';
import { LiveEvalStore } from './store.js';

export interface LiveEvalsPlace {
  readonly database: Database;
  readonly space: Pick<RunSpace, 'runs' | 'jobs'>;
  readonly prices: ModelPrices;
  readonly timers: Timers;
  readonly log: Log;
}

/** What the live evals of one database consist of. */
export function openLiveEvals(
  registered: readonly RegisteredLiveEval[],
  { database, space, prices, timers, log }: LiveEvalsPlace,
): DatabasePart {
  const store = new LiveEvalStore(database);
  const byName = new Map(registered.map((one) => [one.liveEval.name, one]));
  const job = liveEvalJob({ store, journal: space.runs, prices, find: (name) => byName.get(name) });
  const liveEvals = new DatabaseLiveEvals({
    liveEvals: registered.map(({ liveEval }) => liveEval),
    store,
    // the space has them when everything is built
    jobs: () => space.jobs,
    job,
    timers,
    log,
  });
  return {
    jobs: [job],
    onRest: (rested) => liveEvals.rested(rested),
    start: () => liveEvals.start(),
    stop: () => liveEvals.stop(),
  };
}
