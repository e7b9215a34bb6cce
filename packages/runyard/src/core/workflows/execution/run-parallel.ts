import { mapConcurrently } from '../../concurrency.js';
import { RunPaused } from '../../runs/context.js';
import { settledValues } from '../../runs/settled.js';
import type { ParallelNode } from '../definition/node.js';
import { childPath, type GroupRecord, nodeKey } from '../journal-records.js';
import { type Flow, hasBegun, type Place, placeInside, type Scope, stepFields, tell } from './flow.js';

/**
 * Branches side by side, so many at once as allowed. Each ends by itself before the group does: one that fails
 * or waits for a person does not take the others with it. Once one ends the run, no other begins.
 */
export async function runParallel(
  flow: Flow,
  node: ParallelNode,
  place: Place,
  scope: Scope,
): Promise<GroupRecord> {
  const fields = stepFields(node, place);
  const counts = { parallel_step_count: node.steps.length };
  if (!hasBegun(flow, childPath.of(place.path, 0)))
    tell(flow, place, 'started', { event: 'ParallelExecutionStarted', ...fields, ...counts });
  const bound = Math.min(node.maxParallel ?? flow.maxParallel, node.steps.length);
  let failed = false;
  function* untilFailed() {
    for (const entry of node.steps.entries()) {
      if (failed) return;
      yield entry;
    }
  }
  const settled = await mapConcurrently(bound, untilFailed(), async ([position, branch]) => {
    const inside = placeInside(flow, place, childPath.of(place.path, position), position);
    const [result] = await Promise.allSettled([flow.visit(branch, inside, scope.fork())]);
    failed ||= result.status === 'rejected' && !(result.reason instanceof RunPaused);
    return result;
  });
  flow.context.signal.throwIfAborted();
  const views = settledValues(settled);
  const step_results = views.map(({ output }) => output);
  tell(flow, place, 'completed', { event: 'ParallelExecutionCompleted', ...fields, ...counts, step_results });
  return {
    children: node.steps.map((_, position) => nodeKey(childPath.of(place.path, position))),
    stop: views.some(({ output }) => output.stop),
  };
}
