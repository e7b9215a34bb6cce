import { mapConcurrently } from '../../async/concurrency.js';
import { RunPaused } from '../../runs/context.js';
import { settledValues } from '../../runs/settled.js';
import type { ForeachNode, ParallelNode, WorkflowNode } from '../definition/node.js';
import { childPath, type GroupRecord, nodeKey } from '../journal-records.js';
import { type Flow, hasBegun, type Place, placeInside, type Scope, stepFields, tell } from './flow.js';

/** One of the things that a group does side by side. */
export interface Branch {
  readonly node: WorkflowNode;
  readonly scope: Scope;
  /** As of the step: `Place.iteration`. */
  readonly iteration: number;
}

export async function runParallel(
  flow: Flow,
  node: ParallelNode,
  place: Place,
  scope: Scope,
): Promise<GroupRecord> {
  const { iteration } = place;
  const branches = node.steps.map((step) => ({ node: step, scope: scope.fork(), iteration }));
  return runBranches(flow, node, place, branches, node.maxParallel ?? flow.maxParallel);
}

/**
 * Branches side by side, so many at once as allowed. Each ends by itself before the group does: one that fails
 * or waits for a person does not take the others with it. Once one ends the run, no other begins.
 */
export async function runBranches(
  flow: Flow,
  node: ParallelNode | ForeachNode,
  place: Place,
  branches: readonly Branch[],
  maximum: number,
): Promise<GroupRecord> {
  const fields = stepFields(node, place);
  const counts = { parallel_step_count: branches.length };
  if (!hasBegun(flow, childPath.of(place.path, 0)))
    tell(flow, place, 'started', { event: 'ParallelExecutionStarted', ...fields, ...counts });
  let failed = false;
  function* untilFailed() {
    for (const entry of branches.entries()) {
      if (failed) return;
      yield entry;
    }
  }
  const bound = Math.min(maximum, branches.length);
  const settled = await mapConcurrently(bound, untilFailed(), async ([position, branch]) => {
    const path = childPath.of(place.path, position);
    const inside = placeInside(flow, place, path, position, branch.iteration);
    const [result] = await Promise.allSettled([flow.visit(branch.node, inside, branch.scope)]);
    failed ||= result.status === 'rejected' && !(result.reason instanceof RunPaused);
    return result;
  });
  flow.context.signal.throwIfAborted();
  const views = settledValues(settled);
  const step_results = views.map(({ output }) => output);
  tell(flow, place, 'completed', { event: 'ParallelExecutionCompleted', ...fields, ...counts, step_results });
  return {
    children: branches.map((_, position) => nodeKey(childPath.of(place.path, position))),
    stop: views.some(({ output }) => output.stop),
  };
}
