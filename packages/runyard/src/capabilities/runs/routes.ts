import { forkSession, getCheckpoint, listCheckpoints } from './checkpoint-routes.js';
import { followEvents, resumeRun } from './follow-routes.js';
import { agentRuns, type RunKindFacts, type RunRoute } from './route-kit.js';
import { cancelRun, continueRun, createRun, getRun, listRuns } from './run-routes.js';

/** Everything that can be done with the runs of one kind of component. */
function runRoutesOf(facts: RunKindFacts): readonly RunRoute[] {
  const routes = [
    createRun,
    listRuns,
    getRun,
    cancelRun,
    continueRun,
    resumeRun,
    followEvents,
    listCheckpoints,
    getCheckpoint,
    forkSession,
  ];
  return routes.map((route) => route(facts));
}

export const runRoutes: readonly RunRoute[] = runRoutesOf(agentRuns);
