import type { Json } from '../../json.js';
import { type Requirement, RunPaused } from '../../runs/context.js';
import type { ParallelNode } from '../definition/node.js';
import type { NodeView } from '../fold/node-view.js';
import { childPath, type GroupRecord, nodeKey } from '../journal-records.js';
import { groupEvent } from '../workflow-events.js';
import { type Flow, hasBegun, type Place, placeInside, type Scope, stepFields, tell } from './flow.js';

/**
 * Branches side by side, so many at once as allowed. Each comes to its own end before the group does: one that fails
 * or waits for somebody does not take the others with it. Once one ends the run, no other begins.
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
    tell(flow, place, 'started', groupEvent('ParallelExecutionStarted', fields, counts));
  const bound = Math.min(node.maxParallel ?? flow.maxParallel, node.steps.length);
  const settled = await settleAll(node.steps, bound, (branch, position) => {
    const inside = placeInside(flow, place, childPath.of(place.path, position), position);
    return flow.visit(branch, inside, scope.fork());
  });
  flow.context.signal.throwIfAborted();
  const views = endedViews(settled);
  const results = views.map(({ output }) => output as Json);
  tell(
    flow,
    place,
    'completed',
    groupEvent('ParallelExecutionCompleted', fields, { ...counts, step_results: results }),
  );
  return {
    children: node.steps.map((_, position) => nodeKey(childPath.of(place.path, position))),
    stop: views.some(({ output }) => output.stop),
  };
}

/** The results have no entries for the items that did not begin. */
async function settleAll<Item, Result>(
  items: readonly Item[],
  bound: number,
  work: (item: Item, position: number) => Promise<Result>,
): Promise<PromiseSettledResult<Result>[]> {
  const results: PromiseSettledResult<Result>[] = [];
  let next = 0;
  let failed = false;
  const worker = async (): Promise<void> => {
    while (!failed && next < items.length) {
      const position = next;
      next += 1;
      const [result] = await Promise.allSettled([work(items[position]!, position)]);
      results[position] = result!;
      failed ||= result!.status === 'rejected' && !(result!.reason instanceof RunPaused);
    }
  };
  await Promise.all(Array.from({ length: bound }, worker));
  return results;
}

/** A failure counts for more than a pause; all that the branches wait for is one pause. */
function endedViews(settled: readonly PromiseSettledResult<NodeView>[]): NodeView[] {
  const reasons = settled.flatMap((result) =>
    result.status === 'rejected' ? [result.reason as unknown] : [],
  );
  const failure = reasons.find((reason) => !(reason instanceof RunPaused));
  if (failure !== undefined) throw failure;
  const waits: Requirement[] = reasons.flatMap((reason) => [...(reason as RunPaused).requirements]);
  if (waits.length > 0) throw new RunPaused(waits);
  return settled.map((result) => (result as PromiseFulfilledResult<NodeView>).value);
}
