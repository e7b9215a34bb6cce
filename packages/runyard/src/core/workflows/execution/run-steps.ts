import type { StepsNode } from '../definition/node.js';
import { childPath, type GroupRecord } from '../journal-records.js';
import {
  type Flow,
  hasBegun,
  type Place,
  placeInside,
  runList,
  type Scope,
  stepFields,
  tell,
} from './flow.js';

export async function runSteps(
  flow: Flow,
  node: StepsNode,
  place: Place,
  scope: Scope,
): Promise<GroupRecord> {
  const fields = stepFields(node, place);
  const counts = { steps_count: node.steps.length };
  if (!hasBegun(flow, childPath.of(place.path, 0)))
    tell(flow, place, 'started', { event: 'StepsExecutionStarted', ...fields, ...counts });
  const { keys, views, stopped } = await runList(flow, node.steps, scope.fork(), (position) =>
    placeInside(flow, place, childPath.of(place.path, position), position),
  );
  tell(flow, place, 'completed', {
    event: 'StepsExecutionCompleted',
    ...fields,
    ...counts,
    executed_steps: keys.length,
    step_results: views.map(({ output }) => output),
  });
  return { children: keys, stop: stopped };
}
