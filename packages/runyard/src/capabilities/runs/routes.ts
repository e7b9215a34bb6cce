import { forkSession, getCheckpoint, listCheckpoints } from './routes/checkpoint-routes.js';
import { followEvents, resumeRun } from './routes/follow-routes.js';
import type { RunKindFacts, RunRoute } from './routes/route-kit.js';
import { cancelRun, continueRun, createRun, getRun, listRuns } from './routes/run-routes.js';
import { agentRuns, teamRuns, workflowRuns } from './run-kinds.js';

/** What can be done with every run. */
const ofEveryRun = [createRun, listRuns, getRun, cancelRun, continueRun, resumeRun, followEvents];

/** What can be done with a conversation alone. */
const ofConversations = [listCheckpoints, getCheckpoint, forkSession];

/** Everything that can be done with the runs of one kind of component. */
function runRoutesOf(facts: RunKindFacts): readonly RunRoute[] {
  const routes = facts.checkpoint === undefined ? ofEveryRun : [...ofEveryRun, ...ofConversations];
  return routes.map((route) => route(facts));
}

export const runRoutes: readonly RunRoute[] = [agentRuns, teamRuns, workflowRuns].flatMap(runRoutesOf);
