import { forkSession, getCheckpoint, listCheckpoints } from './routes/checkpoint-routes.js';
import { sendEvent } from './routes/event-routes.js';
import { followEvents, resumeRun } from './routes/follow-routes.js';
import type { RunKindFacts, RunRoute } from './routes/route-kit.js';
import { cancelRun, continueRun, createRun, getRun, listRuns } from './routes/run-routes.js';
import { agentRuns, teamRuns, workflowRuns } from './run-kinds.js';

/** What can be done with every run. */
const ofEveryRun = [createRun, listRuns, getRun, cancelRun, continueRun, resumeRun, followEvents];

/** Everything that can be done with the runs of one kind of component. */
function runRoutesOf(facts: RunKindFacts): readonly RunRoute[] {
  const routes = ofEveryRun.map((route) => route(facts));
  if (facts.checkpoint === undefined) return routes;
  // a conversation alone has checkpoints
  return [...routes, listCheckpoints(facts), getCheckpoint(facts, facts.checkpoint), forkSession(facts)];
}

export const runRoutes: readonly RunRoute[] = [
  ...[agentRuns, teamRuns, workflowRuns].flatMap(runRoutesOf),
  // only workflows wait for events
  sendEvent(workflowRuns),
];
