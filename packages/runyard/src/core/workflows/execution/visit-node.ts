import type { WorkflowNode } from '../definition/node.js';
import { executorOf, nodeIdentity, nodeKindOf } from '../definition/node-identity.js';
import { foldNode, type NodeView } from '../fold/node-view.js';
import {
  groupPathOf,
  isGroup,
  type NodeInput,
  type NodeRecord,
  nodeKey,
  nodeRecord,
} from '../journal-records.js';
import { askBefore } from '../review/ask-before.js';
import { type Flow, type Place, type Scope, stepFields } from './flow.js';
import { matchGroup } from './match-group.js';
import { runCondition } from './run-condition.js';
import { runForeach } from './run-foreach.js';
import { runLoop } from './run-loop.js';
import { runParallel } from './run-parallel.js';
import { runRouter } from './run-router.js';
import { runStep } from './run-step.js';
import { runSteps } from './run-steps.js';

/** Executes a node as a step of the journal: one that has ended is not executed again. */
export async function visitNode(
  flow: Flow,
  node: WorkflowNode,
  place: Place,
  scope: Scope,
): Promise<NodeView> {
  const key = nodeKey(place.path);
  const input: NodeInput = {
    node: nodeKindOf(node),
    step_id: stepFields(node, place).step_id,
    index: place.index,
    executor: executorOf(node),
  };
  const group = groupPathOf(place.path);
  const spec = {
    kind: 'step',
    name: node.name,
    identity: nodeIdentity(node),
    contains: true,
    input,
    record: nodeRecord,
    failed: isFailed,
    ...(group !== undefined && { parentKey: nodeKey(group) }),
  } as const;
  const wasDone = flow.context.recorded(key)?.status === 'completed';
  await flow.context.step(key, spec, () => execute(flow, node, place, scope));
  if (wasDone) matchGroup(flow, node, place.path);
  return foldNode((other) => flow.context.recorded(other), key);
}

async function execute(flow: Flow, node: WorkflowNode, place: Place, outer: Scope): Promise<NodeRecord> {
  const asked = node.review === undefined ? undefined : await askBefore(flow, node, node.review, place);
  if (asked?.decision === 'skip') return skipped(node, asked.reason);
  const isElse = asked?.decision === 'else';
  const scope =
    asked?.userInput === undefined
      ? outer
      : outer.fork({ ...outer.additionalData, user_input: asked.userInput });
  switch (node.type) {
    case 'Step':
      return runStep(flow, node, place, scope);
    case 'Steps':
      return runSteps(flow, node, place, scope);
    case 'Loop':
      return runLoop(flow, node, place, scope);
    case 'Parallel':
      return runParallel(flow, node, place, scope);
    case 'Foreach':
      return runForeach(flow, node, place, scope);
    case 'Condition':
      return runCondition(flow, node, place, scope, isElse);
    case 'Router':
      return runRouter(flow, node, place, scope);
  }
}

function isFailed(record: NodeRecord): boolean {
  return !isGroup(record) && !record.success;
}

function skipped(node: WorkflowNode, reason: string): NodeRecord {
  const text = `${node.type} '${node.name}' was skipped: ${reason}.`;
  return node.type === 'Step'
    ? { content: text, success: true, error: null, stop: false, skipped: true }
    : { children: [], note: text, stop: false, skipped: true };
}
