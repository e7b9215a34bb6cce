import type { RetryBackoff } from '../../async/back-off.js';
import type { Json } from '../../json.js';
import type { Executable } from '../../runs/executable.js';
import type { ValueSchema } from '../../schemas/value-schema.js';
import type { InputFieldType } from '../../tools/questions/person-form.js';
import type { Expression } from './cel.js';
import type {
  LoopCondition,
  ReviewCondition,
  RouteFunction,
  StepFunction,
  WhenFunction,
} from './functions.js';

/** What becomes of something that a person rejects. `else` is the other branch of a condition. */
export type RejectPolicy = 'skip' | 'cancel' | 'else' | 'retry';

export type TimeoutPolicy = 'cancel' | 'skip' | 'approve';

/** What becomes of a step that failed for good. */
export type ErrorPolicy = 'skip' | 'fail' | 'pause';

/** A field that a person fills in before a step. */
export interface UserInputField {
  readonly name: string;
  /** Default `str`. */
  readonly type?: InputFieldType;
  readonly description?: string;
  /** Default true. */
  readonly required?: boolean;
  /** The only values that it can have. */
  readonly allowedValues?: readonly (string | number | boolean)[];
}

/** What a person has to decide about a step, a group of steps, or its output. */
export interface ReviewSettings {
  /** A person has to agree before it runs. */
  readonly requiresConfirmation?: boolean;
  readonly confirmationMessage?: string;
  /** A person fills in values before it runs; on when `userInputSchema` is given. */
  readonly requiresUserInput?: boolean;
  readonly userInputMessage?: string;
  readonly userInputSchema?: readonly UserInputField[];
  /** A person has to accept the output of a step, or the outputs for which the function returns true; they may edit it. */
  readonly requiresOutputReview?: boolean | ReviewCondition;
  readonly outputReviewMessage?: string;
  /** A person has to accept each iteration of a loop. */
  readonly requiresIterationReview?: boolean;
  /** A person has to accept what a router has chosen. Rejected with `onReject: 'retry'`, they choose themselves. */
  readonly requiresRouteReview?: boolean;
  /** Default `skip`; for what a step or an iteration made `retry`. */
  readonly onReject?: RejectPolicy;
  /** How often a rejected thing is asked for or made again before the workflow is cancelled. Default 3. */
  readonly maxRetries?: number;
  /** How long the workflow waits for an answer. Left out: for as long as it takes. */
  readonly timeoutMs?: number;
  /** What happens then. Default `cancel`. */
  readonly onTimeout?: TimeoutPolicy;
}

interface NodeBase {
  readonly name: string;
  /** False for a name that the workflow may change because another node has it. */
  readonly isNamed: boolean;
  readonly description?: string;
  readonly review?: ReviewSettings;
}

/** One thing to do: by an agent, a team, another workflow, or a function. */
export interface StepNode extends NodeBase {
  readonly type: 'Step';
  readonly run: { readonly function: StepFunction } | { readonly component: Executable };
  readonly maxRetries: number;
  readonly backoff: RetryBackoff;
  readonly skipOnFailure: boolean;
  readonly onError: ErrorPolicy;
  readonly timeoutMs?: number;
  /** What the step takes from the step before it, and what it makes. */
  readonly inputSchema?: ValueSchema;
  readonly outputSchema?: ValueSchema;
}

export interface StepsNode extends NodeBase {
  readonly type: 'Steps';
  readonly steps: readonly WorkflowNode[];
}

export interface LoopNode extends NodeBase {
  readonly type: 'Loop';
  readonly steps: readonly WorkflowNode[];
  readonly maxIterations: number;
  readonly until?: LoopCondition | Expression;
  readonly forwardOutput: boolean;
}

export interface ParallelNode extends NodeBase {
  readonly type: 'Parallel';
  readonly steps: readonly WorkflowNode[];
  readonly maxParallel?: number;
}

/** One step for each item of a list. */
export interface ForeachNode extends NodeBase {
  readonly type: 'Foreach';
  readonly steps: readonly [WorkflowNode];
  readonly concurrency: number;
}

export interface ConditionNode extends NodeBase {
  readonly type: 'Condition';
  readonly when: boolean | WhenFunction | Expression;
  readonly steps: readonly WorkflowNode[];
  readonly otherwise: readonly WorkflowNode[];
}

export interface RouterNode extends NodeBase {
  readonly type: 'Router';
  /** Its choices. */
  readonly steps: readonly WorkflowNode[];
  readonly select: RouteFunction | Expression | 'user';
  readonly allowMultiple: boolean;
}

export type WorkflowNode =
  | StepNode
  | StepsNode
  | LoopNode
  | ParallelNode
  | ForeachNode
  | ConditionNode
  | RouterNode;

export type NodeType = WorkflowNode['type'];

/** An entry of a list of steps: an agent, a team, a workflow or a function becomes a step with its name. */
export type StepEntry<Input = Json> = WorkflowNode | Executable | StepFunction<Input>;

/** The direct children of a node. */
export function nodesInside(node: WorkflowNode): readonly WorkflowNode[] {
  if (node.type === 'Step') return [];
  return node.type === 'Condition' ? [...node.steps, ...node.otherwise] : node.steps;
}

/** The nodes of the workflow that a component is; undefined for any other component. */
export function nodesOf(component: Executable): readonly WorkflowNode[] | undefined {
  // of the kind that has them; a workflow cannot be imported here, whose nodes these are
  return component.kind === 'workflow' && 'nodes' in component
    ? (component.nodes as readonly WorkflowNode[])
    : undefined;
}
