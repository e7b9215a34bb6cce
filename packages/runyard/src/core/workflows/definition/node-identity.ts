import { functionIdentity, sourceIdentity } from '../../fingerprint.js';
import type { Json } from '../../json.js';
import type { Executable } from '../../runs/executable.js';
import { read } from '../../runs/journal/codec.js';
import type { StepIdentity } from '../../runs/journal/journal-match.js';
import type { StepRecord } from '../../runs/run.js';
import { type NodeInput, nodeInput } from '../journal-records.js';
import { Expression } from './cel.js';
import { nodesOf, type ReviewSettings, type StepNode, type WorkflowNode } from './node.js';

type Executor = NonNullable<NodeInput['executor']>;

/** What a node is in the journal: `Workflow` for a step that another workflow executes. */
export function nodeKindOf(node: WorkflowNode): NodeInput['node'] {
  const isWorkflow =
    node.type === 'Step' && 'component' in node.run && node.run.component.kind === 'workflow';
  return isWorkflow ? 'Workflow' : node.type;
}

/** Who executes a step; null for a group. */
export function executorOf(node: WorkflowNode): Executor | null {
  if (node.type !== 'Step') return null;
  if ('component' in node.run) {
    const { kind, name, id } = node.run.component;
    return { type: kind, name: name ?? id, id };
  }
  const name = node.run.function.name || node.name;
  return isUnnamed(node)
    ? { type: 'function', name, id: sourceIdentity(node.run.function) }
    : { type: 'function', name };
}

/** A record of a node answers for one of the same name, in the same form, that the same component executes. */
export function nodeIdentity(node: WorkflowNode): StepIdentity {
  const executor = executorOf(node);
  return {
    is: inWords(node.name, nodeKindOf(node), executor),
    was: (recorded) => recordedNode(recorded, executor),
  };
}

function recordedNode(step: StepRecord, now: Executor | null): string {
  const { node, executor } = read(step, nodeInput);
  // records of earlier versions do not say which component it was
  const known = executor?.id === undefined && executor?.type === now?.type ? now : executor;
  return inWords(step.name, node, known);
}

function inWords(name: string, kind: NodeInput['node'], executor: Executor | null): string {
  if (executor === null) return `'${name}' (${kind.toLowerCase()})`;
  const { type, id } = executor;
  if (id === undefined || id === name) return `'${name}' (${type})`;
  return `'${name}' (${type} ${type === 'function' ? id : `'${id}'`})`;
}

/** A node with all that is within it: what a person agrees to who lets it run. Undefined without children. */
export function contentsInWords(node: WorkflowNode): readonly string[] | undefined {
  switch (node.type) {
    case 'Step':
      return 'component' in node.run ? nodesOf(node.run.component)?.map(nodeInWords) : undefined;
    case 'Condition':
      return [
        ...node.steps.map(nodeInWords),
        ...node.otherwise.map((otherwise) => `else ${nodeInWords(otherwise)}`),
      ];
    default:
      return node.steps.map(nodeInWords);
  }
}

export function nodeInWords(node: WorkflowNode): string {
  const { is } = nodeIdentity(node);
  const inside = contentsInWords(node);
  return inside === undefined ? is : `${is} of ${inside.join(', ')}`;
}

/** A function that neither the step nor its definition names: `run` is only the name of its property. */
export function isUnnamed({ isNamed, name, run }: StepNode): boolean {
  if (!('function' in run)) return false;
  return run.function.name === '' ? !isNamed : run.function.name === 'run' && /^run( \d+)?$/.test(name);
}

/** What decides which way a group takes: the text of an expression, or a function of a group that has a name. */
export function deciderIdentity(
  node: WorkflowNode,
  by: Expression | ((...args: never[]) => unknown),
): string {
  if (by instanceof Expression) return `the expression ${by.text}`;
  return node.isNamed ? 'a function' : `the function ${sourceIdentity(by)}`;
}

/** The structure of nodes, as far as a journal has to fit it. */
export function structureOf(nodes: readonly WorkflowNode[]): Json {
  return nodes.map((node): Json => {
    const shared = [nodeIdentity(node).is, reviewStructure(node.review)];
    switch (node.type) {
      case 'Step':
        return [...shared, node.onError, node.skipOnFailure, componentStructure(node)];
      case 'Loop':
        return [...shared, structureOf(node.steps), deciderOf(node, node.until), node.maxIterations];
      case 'Condition': {
        const when = typeof node.when === 'boolean' ? node.when : deciderOf(node, node.when);
        return [...shared, structureOf(node.steps), structureOf(node.otherwise), when];
      }
      case 'Router': {
        const select = node.select === 'user' ? 'user' : deciderOf(node, node.select);
        return [...shared, structureOf(node.steps), select];
      }
      default:
        return [...shared, structureOf(node.steps)];
    }
  });
}

function deciderOf(
  node: WorkflowNode,
  by: Expression | ((...args: never[]) => unknown) | undefined,
): string | null {
  return by === undefined ? null : deciderIdentity(node, by);
}

function componentStructure({ run }: StepNode): Json {
  return 'component' in run ? fingerprintOfComponent(run.component) : functionIdentity(run.function);
}

/** Its own fingerprint; of a component that has none, what it is. */
export function fingerprintOfComponent({ kind, id, fingerprint }: Executable): Json {
  return [kind, id, fingerprint ?? null];
}

function reviewStructure(review: ReviewSettings | undefined): Json {
  if (review === undefined) return null;
  const {
    requiresConfirmation,
    requiresOutputReview,
    requiresIterationReview,
    userInputSchema = [],
  } = review;
  return [
    requiresConfirmation ?? false,
    Boolean(requiresOutputReview),
    requiresIterationReview ?? false,
    userInputSchema.map(({ name, type = 'str', required = true }) => [name, type, required]),
    ...(review.requiresRouteReview ? ['route'] : []),
  ];
}
