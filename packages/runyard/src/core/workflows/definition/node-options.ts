import type { RetryBackoff } from '../../async/back-off.js';
import type { Json } from '../../json.js';
import { fieldsOf, keysOf } from '../../objects.js';
import { backoff } from '../../options/backoff-kind.js';
import type { Kind, Optional, Shape } from '../../options/kind.js';
import {
  amount,
  anyOf,
  anything,
  callable,
  count,
  flag,
  having,
  kind,
  listOf,
  milliseconds,
  name,
  objectOf,
  required,
  text,
  word,
} from '../../options/kinds.js';
import { schema } from '../../options/schema-kind.js';
import type { Executable } from '../../runs/executable.js';
import type { RunKind } from '../../runs/run.js';
import type { ValueSchema } from '../../schemas/value-schema.js';
import type { LoopCondition, RouteFunction, StepContents, StepFunction, WhenFunction } from './functions.js';
import type {
  ConditionNode,
  ErrorPolicy,
  ForeachNode,
  LoopNode,
  NodeType,
  ParallelNode,
  ReviewSettings,
  RouterNode,
  StepEntry,
  StepNode,
  StepsNode,
  UserInputField,
} from './node.js';
import type { Maker } from './step-calls.js';
import type { StepReturn } from './step-return.js';

const field = objectOf<UserInputField>({
  name: required(name),
  type: word('str', 'int', 'float', 'bool', 'list', 'dict'),
  description: text,
  required: flag,
  allowedValues: listOf(
    anyOf(
      text,
      flag,
      amount('a number', () => true),
    ),
    1,
  ),
});

const review = objectOf<ReviewSettings>({
  requiresConfirmation: flag,
  confirmationMessage: text,
  requiresUserInput: flag,
  userInputMessage: text,
  userInputSchema: listOf(field),
  requiresOutputReview: { ...anyOf(flag, callable), allowed: 'true, false or a function' },
  outputReviewMessage: text,
  requiresIterationReview: flag,
  requiresRouteReview: flag,
  onReject: word('skip', 'cancel', 'else', 'retry'),
  maxRetries: count(0),
  timeoutMs: milliseconds(1),
  onTimeout: word('cancel', 'skip', 'approve'),
});

const entry: Optional = {
  allowed:
    'an agent, a team, a workflow, a function, or what step(), steps(), loop(), parallel(), foreach(), condition() or router() made',
  takes: (value) => typeof value === 'function' || isComponent(value) || nodeKindOf(value) !== undefined,
  inside: (value: unknown, path, faults) => {
    if (!isComponent(value)) nodeKindOf(value)?.inside?.(value, path, faults);
  },
};

function nodeKindOf(value: unknown): Kind | undefined {
  const { type } = fieldsOf(value);
  return keysOf(nodeKinds).flatMap((known) => (known === type ? [nodeKinds[known]] : []))[0];
}

/** An entry of a list of steps. */
export const entries = listOf(entry, 1);

/** What executes a step. */
function component(of: RunKind) {
  return kind(
    `${of === 'agent' ? 'an' : 'a'} ${of}, made with ${of}()`,
    (value) => isComponent(value) && value.kind === of,
  );
}

export function isComponent(value: unknown): value is Executable {
  return (
    typeof value === 'object' &&
    value !== null &&
    'kind' in value &&
    typeof fieldsOf(value).execute === 'function'
  );
}

export interface NamedSettings {
  /** What its output is called; unique among its neighbours. */
  readonly name?: string;
  readonly description?: string;
  readonly review?: ReviewSettings;
}

const named: Shape<NamedSettings> = { name, description: text, review };
const onError = word('fail', 'skip', 'pause');
const decision = { ...anyOf(callable, text), allowed: 'a function or a CEL text' };

/** The component that does the work of a step. One of them. */
type ComponentWork<Content> =
  | { readonly agent: Maker<Content>; readonly team?: never; readonly workflow?: never; readonly run?: never }
  | { readonly team: Maker<Content>; readonly agent?: never; readonly workflow?: never; readonly run?: never }
  | {
      readonly workflow: Maker<Content>;
      readonly agent?: never;
      readonly team?: never;
      readonly run?: never;
    };

/** The function that does it. */
interface FunctionWork<Input, Contents extends StepContents, Returned extends StepReturn, Previous> {
  readonly run: StepFunction<Input, Contents, Returned, Previous>;
  readonly agent?: never;
  readonly team?: never;
  readonly workflow?: never;
}

export type StepSettings<Input = Json, Contents extends StepContents = Record<string, Json>> =
  | ComponentStepSettings<unknown>
  | FunctionStepSettings<Input, Contents, StepReturn>;

export type ComponentStepSettings<Content> = ComponentWork<Content> & CommonStepSettings;

export type FunctionStepSettings<
  Input,
  Contents extends StepContents,
  Returned extends StepReturn,
  Previous = Json,
> = FunctionWork<Input, Contents, Returned, Previous> & CommonStepSettings;

interface CommonStepSettings extends NamedSettings {
  /** How often it is tried again after it failed. Default 3 for a function, 0 for anything else. */
  readonly maxRetries?: number;
  /** Waits between those. Default: half a second, then twice as long each time. */
  readonly backoff?: RetryBackoff;
  /** The same as `onError: 'skip'`, over any other. */
  readonly skipOnFailure?: boolean;
  /**
   * Default `fail`: the run ends with an error. `skip`: the workflow continues, and the output of the step says that
   * it failed. `pause`: a person decides.
   */
  readonly onError?: ErrorPolicy;
  /** How long one attempt may take. */
  readonly timeoutMs?: number;
  /** What the step takes from the step before it, or from the input of the workflow: a zod or JSON schema. */
  readonly inputSchema?: ValueSchema;
  /** What the step makes: a zod or JSON schema. An agent or a team is asked for it. */
  readonly outputSchema?: ValueSchema;
}

export const stepOptions = objectOf<Partial<StepSettings>>({
  ...named,
  agent: component('agent'),
  team: component('team'),
  workflow: component('workflow'),
  run: callable,
  maxRetries: count(0),
  backoff,
  skipOnFailure: flag,
  onError,
  timeoutMs: milliseconds(1),
  inputSchema: schema,
  outputSchema: schema,
});

export interface StepsSettings extends NamedSettings {
  readonly steps: readonly StepEntry[];
}

export const stepsOptions = objectOf<StepsSettings>({ ...named, steps: required(entries) });

export interface LoopSettings extends NamedSettings {
  readonly steps: readonly StepEntry[];
  /** Default 3. */
  readonly maxIterations?: number;
  /** Ends the loop when it is true after an iteration: a function, or a CEL text. */
  readonly until?: LoopCondition | string;
  /** Each iteration begins with what the one before it made, instead of what came before the loop. */
  readonly forwardOutput?: boolean;
}

export const loopOptions = objectOf<LoopSettings>({
  ...named,
  steps: required(entries),
  maxIterations: count(1),
  until: decision,
  forwardOutput: flag,
});

export interface ParallelSettings extends NamedSettings {
  readonly steps: readonly StepEntry[];
  /** How many run at once. Left out: as many as the workflow allows. */
  readonly maxParallel?: number;
}

export const parallelOptions = objectOf<ParallelSettings>({
  ...named,
  steps: required(entries),
  maxParallel: count(1),
});

/** How the items of a list are done. */
export interface ForeachOptions extends NamedSettings {
  /** How many items are done at once. Default 1: one after the other. */
  readonly concurrency?: number;
}

export const foreachOptions = objectOf<ForeachOptions>({ ...named, concurrency: count(1) });

export const foreachStep = required(entry);

export interface ConditionSettings extends NamedSettings {
  /** A value, a function, or a CEL text. */
  readonly when: boolean | WhenFunction | string;
  readonly steps: readonly StepEntry[];
  /** What is done when it is not met. */
  readonly otherwise?: readonly StepEntry[];
}

export const conditionOptions = objectOf<ConditionSettings>({
  ...named,
  when: required({ ...anyOf(flag, decision), allowed: 'true, false, a function or a CEL text' }),
  steps: required(entries),
  otherwise: entries,
});

export interface RouterSettings extends NamedSettings {
  readonly choices: readonly StepEntry[];
  /** A function or a CEL text that gives the name of a choice (or a list of them), or `user`: a person chooses. */
  readonly select: RouteFunction | string;
  /** A person may choose several. */
  readonly allowMultiple?: boolean;
}

export const routerOptions = objectOf<RouterSettings>({
  ...named,
  choices: required(entries),
  select: required({ ...decision, allowed: "a function, a CEL text or 'user'" }),
  allowMultiple: flag,
});

const node = {
  type: required(text),
  name: required(name),
  isNamed: required(flag),
  description: text,
  review,
};
const inside = { ...node, steps: required(listOf(entry)) };

/** What the functions above make: a copy of one may have been changed since. */
const nodeKinds: Readonly<Record<NodeType, Kind>> = {
  Step: objectOf<StepNode>({
    ...node,
    run: required({
      ...anyOf(
        having('a function', { function: required(callable) }),
        having('a component', { component: required(kind('a component', isComponent)) }),
      ),
      allowed: 'the run of a step that step() made',
    }),
    maxRetries: required(count(0)),
    backoff: required(backoff),
    skipOnFailure: required(flag),
    onError: required(onError),
    timeoutMs: milliseconds(1),
    inputSchema: schema,
    outputSchema: schema,
  }),
  Steps: objectOf<StepsNode>(inside),
  Loop: objectOf<LoopNode>({
    ...inside,
    maxIterations: required(count(1)),
    until: anything,
    forwardOutput: required(flag),
  }),
  Parallel: objectOf<ParallelNode>({ ...inside, maxParallel: count(1) }),
  Foreach: objectOf<ForeachNode>({ ...inside, concurrency: required(count(1)) }),
  Condition: objectOf<ConditionNode>({
    ...inside,
    when: required(anything),
    otherwise: required(listOf(entry)),
  }),
  Router: objectOf<RouterNode>({ ...inside, select: required(anything), allowMultiple: required(flag) }),
};
