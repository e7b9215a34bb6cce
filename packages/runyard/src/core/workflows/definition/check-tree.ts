import { errors } from '../../errors/errors.js';
import { nodesInside, nodesOf, type ReviewSettings, type WorkflowNode } from './node.js';

const deepest = 10;

interface Place {
  /** The ids of the workflows around, the outermost first. */
  readonly workflows: readonly string[];
  readonly depth: number;
  /** The name of the parallel group around, if there is one. */
  readonly parallel: string | undefined;
}

/** Rejects what a single node cannot see: how the nodes of a workflow stand to each other. */
export function checkTree(workflowId: string, nodes: readonly WorkflowNode[]): void {
  checkNodes(nodes, { workflows: [workflowId], depth: 1, parallel: undefined });
}

function checkNodes(nodes: readonly WorkflowNode[], place: Place): void {
  if (place.depth > deepest)
    throw errors.invalidConfig(
      `Workflow '${place.workflows[0]}' has steps nested deeper than ${deepest} levels. Make it flatter.`,
    );
  for (const node of nodes) checkNode(node, place);
}

function checkNode(node: WorkflowNode, place: Place): void {
  const isSideBySide = node.type === 'Parallel' || node.type === 'Foreach';
  const within = isSideBySide ? node.name : place.parallel;
  if (place.parallel !== undefined && needsPerson(node))
    throw errors.invalidConfig(
      `Workflow '${place.workflows[0]}': ${node.type.toLowerCase()} '${node.name}' waits for a person inside the parallel group '${place.parallel}'. Put it before or after the group.`,
    );
  if (node.type !== 'Step') {
    checkNodes(nodesInside(node), { ...place, depth: place.depth + 1, parallel: within });
    return;
  }
  if ('component' in node.run) node.run.component.assertRuns?.();
  const inner = 'component' in node.run ? nodesOf(node.run.component) : undefined;
  if (inner === undefined || !('component' in node.run)) return;
  const { id } = node.run.component;
  if (place.workflows.includes(id))
    throw errors.invalidConfig(
      `Workflow '${place.workflows[0]}': step '${node.name}' runs the workflow '${id}' inside itself.`,
    );
  checkNodes(inner, { workflows: [...place.workflows, id], depth: place.depth + 1, parallel: within });
}

function needsPerson(node: WorkflowNode): boolean {
  const review: ReviewSettings = node.review ?? {};
  return (
    (node.type === 'Router' && node.select === 'user') ||
    asksBefore(review) ||
    Boolean(review.requiresOutputReview) ||
    review.requiresRouteReview === true ||
    review.requiresIterationReview === true
  );
}

/** Whether a person is asked before the node runs. */
export function asksBefore({
  requiresConfirmation,
  requiresUserInput,
  userInputSchema,
}: ReviewSettings): boolean {
  return requiresConfirmation === true || requiresUserInput === true || (userInputSchema?.length ?? 0) > 0;
}
