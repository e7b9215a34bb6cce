import type { StepsNode } from '../definition/node.js';
import { childPath, type GroupRecord } from '../journal-records.js';
import { groupEvent } from '../workflow-events.js';
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
    tell(flow, place, 'started', groupEvent('StepsExecutionStarted', fields, counts));
  const { keys, views, stopped } = await runList(flow, node.steps, scope.fork(), (position) =>
    placeInside(flow, place, childPath.of(place.path, position), position),
  );
  const results = views.map(({ output }) => output);
  tell(
    flow,
    place,
    'completed',
    groupEvent('StepsExecutionCompleted', fields, {
      ...counts,
      executed_steps: keys.length,
      step_results: results,
    }),
  );
  return { children: keys, stop: stopped };
}
