import { systemTimers } from '../../platform/engine/local/timers.js';
import type { Capability } from '../capability.js';
import { liveEvals as tables } from './migrations/0021-live-evals.js';
import './tables.js';

/** Grades a share of the finished runs in the background. Its scores are shown by traces and metrics. */
export const liveEvals: Capability = {
  name: 'live-evals',
  migrations: [tables],
  async open({ liveEvals = [], components, databases, prices, log }) {
    if (liveEvals.length === 0) return {};
    // a service without live evals loads nothing of this
    const { registeredLiveEvals } = await import('./registered-live-evals.js');
    const { openLiveEvals } = await import('./open-live-evals.js');
    const registered = await registeredLiveEvals(liveEvals, components);
    return {
      inDatabase(database, space) {
        const own = registered.filter(({ databaseId = databases[0]?.id }) => databaseId === database.id);
        if (own.length === 0) return {};
        return openLiveEvals(own, { database, space, prices, timers: systemTimers, log });
      },
    };
  },
};
