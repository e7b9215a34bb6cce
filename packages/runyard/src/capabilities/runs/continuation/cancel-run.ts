import type { Run } from '../../../core/runs/run.js';
import type { Caller } from '../../../platform/auth/caller.js';
import type { RunLookup, RunPlace } from '../run-lookup.js';

const reason = 'The run was cancelled on request';

/**
 * Cancels a run in any state. One that has ended stays as it is, and so does one that the caller may not see; a request
 * for an id that no run has yet is kept for a while. The answer is the run if it has not ended yet.
 */
export async function cancelRun(
  lookup: RunLookup,
  caller: Caller,
  place: RunPlace,
): Promise<Run | undefined> {
  const found = await lookup.find(caller, place);
  const { scope } = caller;
  // a request that is kept names the owner of its run: without one it would mean the run of any user
  if (scope.kind === 'unowned' && found === undefined) return undefined;
  const space = found?.space ?? (await lookup.home(place, caller));
  return space.engine.cancel(place.runId, {
    runId: place.runId,
    kind: place.kind,
    componentId: place.componentId,
    sessionId: place.sessionId ?? null,
    userId: scope.kind === 'user' ? scope.userId : null,
    reason,
    requestedAt: Date.now(),
  });
}
