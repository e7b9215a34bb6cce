import type { Run } from '../../../core/runs/run.js';
import type { Caller } from '../../../platform/auth/caller.js';
import type { RunLookup, RunPlace } from '../run-lookup.js';

const reason = 'The run was cancelled on request';

/**
 * Ends a run, whatever it does at the moment. One that has ended stays as it is, and so does one that the caller may
 * not see; an id that no run has yet is remembered for a while. The answer is the run if it has not ended yet.
 */
export async function cancelRun(
  lookup: RunLookup,
  caller: Caller,
  place: RunPlace,
): Promise<Run | undefined> {
  const found = await lookup.find(caller, place);
  const { scope } = caller;
  // a wish that is kept names whose run it means: of one who is nobody it would mean anybody's
  if (scope.kind === 'unowned' && found === undefined) return undefined;
  const { space } = found ?? (await lookup.component(place, caller));
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
