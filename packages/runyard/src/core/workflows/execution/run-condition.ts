import type { ConditionNode } from '../definition/node.js';
import { childPath, type GroupRecord } from '../journal-records.js';
import { decide, readBoolean } from './decide.js';
import {
  type Flow,
  hasBegun,
  type Place,
  placeInside,
  runList,
  type Scope,
  stepFields,
  stepInput,
  tell,
  variablesOf,
} from './flow.js';

/** `isElse`: a person decided for the other branch. */
export async function runCondition(
  flow: Flow,
  node: ConditionNode,
  place: Place,
  scope: Scope,
  isElse: boolean,
): Promise<GroupRecord> {
  const met = !isElse && (await isMet(flow, node, place, scope));
  const nodes = met ? node.steps : node.otherwise;
  const pathOf = met ? childPath.of : childPath.otherwise;
  const branch = met ? 'if' : nodes.length > 0 ? 'else' : undefined;
  const fields = stepFields(node, place);
  if (!hasBegun(flow, pathOf(place.path, 0)))
    tell(flow, place, 'started', { event: 'ConditionExecutionStarted', ...fields, condition_result: met });
  const { keys, views, stopped } = await runList(flow, nodes, scope.fork(), (position) =>
    placeInside(flow, place, pathOf(place.path, position), position),
  );
  tell(flow, place, 'completed', {
    event: 'ConditionExecutionCompleted',
    ...fields,
    condition_result: met,
    branch,
    executed_steps: keys.length,
    step_results: views.map(({ output }) => output),
  });
  return {
    children: keys,
    stop: stopped,
    ...(branch === undefined
      ? { note: `Condition '${node.name}' was not met: its steps were skipped.`, skipped: true }
      : { branch }),
  };
}

async function isMet(flow: Flow, node: ConditionNode, place: Place, scope: Scope): Promise<boolean> {
  const { name, when } = node;
  if (typeof when === 'boolean') return when;
  return decide(
    flow,
    place,
    {
      key: 'when',
      what: `Condition '${name}'`,
      by: when,
      node,
      variables: () => variablesOf(flow, scope),
      ask: (ask, state) => ask(stepInput(flow, place, scope, state)),
    },
    readBoolean,
  );
}
