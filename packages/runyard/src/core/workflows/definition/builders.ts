import { defaultBackoff } from '../../async/back-off.js';
import { errors } from '../../errors/errors.js';
import type { Json } from '../../json.js';
import { isList } from '../../objects.js';
import { checkOptions, checkValue, ownerOf } from '../../options/check-options.js';
import type { Executable } from '../../runs/executable.js';
import type { FittedTo, GivenTo } from '../../schemas/schema-types.js';
import type { ValueSchema } from '../../schemas/value-schema.js';
import { compileExpression, type ExpressionPlace } from './cel.js';
import { checkReview } from './check-review.js';
import type { StepContents, StepFunction, TypedStep } from './functions.js';
import type {
  ConditionNode,
  ForeachNode,
  LoopNode,
  NodeType,
  ParallelNode,
  RouterNode,
  StepEntry,
  StepNode,
  StepsNode,
  WorkflowNode,
} from './node.js';
import {
  type ComponentStepSettings,
  type ConditionSettings,
  conditionOptions,
  type ForeachOptions,
  type FunctionStepSettings,
  foreachOptions,
  foreachStep,
  isComponent,
  type LoopSettings,
  loopOptions,
  type NamedSettings,
  type ParallelSettings,
  parallelOptions,
  type RouterSettings,
  routerOptions,
  type StepSettings,
  type StepsSettings,
  stepOptions,
  stepsOptions,
} from './node-options.js';
import type { ContentOfReturn, ReturnFor, StepReturn } from './step-return.js';

/** One step: an agent, a team, another workflow, or a function. Its type knows what it makes, and what it takes. */
export function step<
  Output extends ValueSchema,
  Taken extends ValueSchema = never,
  Input = Json,
  Contents extends StepContents = Record<string, Json>,
>(
  given: FunctionStepSettings<Input, Contents, ReturnFor<Output>, FittedTo<Taken, Json>> & {
    readonly inputSchema?: Taken;
    readonly outputSchema: Output;
  },
): StepNode & TypedStep<FittedTo<Output>, GivenTo<Taken>>;
export function step<
  Returned extends StepReturn,
  Input = Json,
  Contents extends StepContents = Record<string, Json>,
  Taken extends ValueSchema = never,
>(
  given: FunctionStepSettings<Input, Contents, Returned, FittedTo<Taken, Json>> & {
    readonly inputSchema?: Taken;
    readonly outputSchema?: never;
  },
): StepNode & TypedStep<ContentOfReturn<Returned>, GivenTo<Taken>>;
/** The content fits the output schema of the step: anything else is a failure of the step. */
export function step<Output extends ValueSchema, Taken extends ValueSchema = never>(
  given: ComponentStepSettings<unknown> & { readonly inputSchema?: Taken; readonly outputSchema: Output },
): StepNode & TypedStep<FittedTo<Output>, GivenTo<Taken>>;
/** An answer that does not fit the schema of the agent stays a text. */
export function step<Content, Taken extends ValueSchema = never>(
  given: ComponentStepSettings<Content> & { readonly inputSchema?: Taken },
): StepNode & TypedStep<Content | string, GivenTo<Taken>>;
/** Settings whose parts are not known one by one. Those that are known have one of the types above. */
export function step<Given extends StepSettings>(
  given: StepSettings extends Given ? Given : never,
): StepNode & TypedStep<Json>;
// the application vouches for what its function says of the workflow around it
export function step(settings: StepSettings): StepNode {
  return stepFrom(settings);
}

/** The same for settings of any kind. */
export function stepFrom(settings: StepSettings): StepNode {
  checkOptions(stepOwner(settings), settings, stepOptions);
  const { agent, team, workflow, run, onError = 'fail', timeoutMs, inputSchema, outputSchema } = settings;
  const workers = [agent, team, workflow, run].filter((value) => value !== undefined);
  const component = agent ?? team ?? workflow;
  const name = settings.name ?? nameOf(component ?? run);
  const owner = `Step '${name ?? '(without a name)'}'`;
  const work = component ? { component } : run && { function: run };
  if (work === undefined || workers.length !== 1)
    throw errors.invalidConfig(`${owner} needs exactly one of agent, team, workflow and run.`);
  return {
    ...base(owner, 'Step', settings, name),
    type: 'Step',
    run: work,
    maxRetries: settings.maxRetries ?? (run === undefined ? 0 : defaultRetries),
    backoff: settings.backoff ?? defaultBackoff,
    skipOnFailure: settings.skipOnFailure ?? false,
    onError,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(inputSchema !== undefined && { inputSchema }),
    ...(outputSchema !== undefined && { outputSchema }),
  };
}

/** Several steps as one, in order. */
export function steps(settings: StepsSettings | readonly StepEntry[]): StepsNode {
  const given: StepsSettings = listed(settings);
  const owner = groupOf('Steps', given);
  checkOptions(owner, given, stepsOptions);
  return { ...base(owner, 'Steps', given), type: 'Steps', steps: nodesFrom(owner, given.steps) };
}

/** Steps that are done again until a condition is met, or often enough. */
export function loop(settings: LoopSettings): LoopNode {
  const owner = groupOf('Loop', settings);
  checkOptions(owner, settings, loopOptions);
  const { until, maxIterations = 3 } = settings;
  return {
    ...base(owner, 'Loop', settings),
    type: 'Loop',
    steps: nodesFrom(owner, settings.steps),
    maxIterations,
    forwardOutput: settings.forwardOutput ?? false,
    ...(until !== undefined && { until: decision(until, 'loop', owner) }),
  };
}

/** Steps that are done side by side. */
export function parallel(settings: ParallelSettings | readonly StepEntry[]): ParallelNode {
  const given: ParallelSettings = listed(settings);
  const owner = groupOf('Parallel', given);
  checkOptions(owner, given, parallelOptions);
  return {
    ...base(owner, 'Parallel', given),
    type: 'Parallel',
    steps: nodesFrom(owner, given.steps),
    ...(given.maxParallel !== undefined && { maxParallel: given.maxParallel }),
  };
}

/**
 * One step for each item of the list that the step before makes. The step gets its item as `previousStepContent`; what
 * all of them make is a list in the same order.
 */
export function foreach<Content, Taken>(
  each: TypedStep<Content, Taken> & WorkflowNode,
  options?: ForeachOptions,
): ForeachNode & TypedStep<Content[], readonly Taken[]>;
export function foreach(
  each: StepEntry,
  options?: ForeachOptions,
): ForeachNode & TypedStep<Json[], readonly unknown[]>;
export function foreach(each: StepEntry, options: ForeachOptions = {}): ForeachNode {
  const owner = groupOf('Foreach', options);
  checkValue(owner, 'the step', each, foreachStep);
  checkOptions(owner, options, foreachOptions);
  return {
    ...base(owner, 'Foreach', options),
    type: 'Foreach',
    steps: [nodeFrom(each, 0)],
    concurrency: options.concurrency ?? 1,
  };
}

/** Steps that are done only when a condition is met. */
export function condition(settings: ConditionSettings): ConditionNode {
  const owner = groupOf('Condition', settings);
  checkOptions(owner, settings, conditionOptions);
  const { when, otherwise } = settings;
  return {
    ...base(owner, 'Condition', settings),
    type: 'Condition',
    when: typeof when === 'boolean' ? when : decision(when, 'condition', owner),
    steps: nodesFrom(owner, settings.steps),
    otherwise: otherwise === undefined ? [] : nodesFrom(owner, otherwise, 'otherwise'),
  };
}

/** Does the one of several steps that is chosen. */
export function router(settings: RouterSettings): RouterNode {
  const owner = groupOf('Router', settings);
  checkOptions(owner, settings, routerOptions);
  const { select, review } = settings;
  if (select === 'user' && review?.requiresRouteReview)
    throw errors.invalidConfig(`${owner} has review.requiresRouteReview, although a person chooses anyway.`);
  return {
    ...base(owner, 'Router', settings),
    type: 'Router',
    steps: nodesFrom(owner, settings.choices, 'choices'),
    select: select === 'user' ? select : decision(select, 'router', owner),
    allowMultiple: settings.allowMultiple ?? false,
  };
}

/** Turns the entries of a list into nodes: each name occurs once. */
export function nodesFrom(owner: string, entries: readonly StepEntry[], what = 'steps'): WorkflowNode[] {
  const nodes = entries.map(nodeFrom);
  const taken = new Set<string>();
  for (const { name, isNamed } of nodes) {
    if (isNamed && taken.has(name))
      throw errors.invalidConfig(`${owner} has two ${what} with the name '${name}'. Give each its own.`);
    if (isNamed) taken.add(name);
  }
  return nodes.map((node) => (node.isNamed ? node : { ...node, name: freeName(node.name, taken) }));
}

const defaultRetries = 3;
function nodeFrom(entry: StepEntry, position: number): WorkflowNode {
  if (typeof entry === 'function') {
    const made = step({ name: entry.name || `Step ${position + 1}`, run: entry });
    return { ...made, isNamed: entry.name !== '' };
  }
  if (!isComponent(entry)) return entry;
  if (entry.kind === 'agent') return step({ agent: entry });
  return entry.kind === 'team' ? step({ team: entry }) : step({ workflow: entry });
}

function freeName(wanted: string, taken: Set<string>): string {
  let name = wanted;
  for (let number = 2; taken.has(name); number += 1) name = `${wanted} ${number}`;
  taken.add(name);
  return name;
}

function base(owner: string, type: NodeType, settings: NamedSettings, name = settings.name) {
  const { description, review } = settings;
  if (review !== undefined) checkReview(owner, type, review);
  return {
    name: name ?? type,
    isNamed: name !== undefined,
    ...(description !== undefined && { description }),
    ...(review !== undefined && { review }),
  };
}

function decision<F extends (...args: never[]) => unknown>(
  given: F | string,
  place: ExpressionPlace,
  owner: string,
) {
  return typeof given === 'string' ? compileExpression(given, place, owner) : given;
}

/** What may be left out when a list says it all. */
function listed<S extends { readonly steps: readonly StepEntry[] }>(settings: S | readonly StepEntry[]): S {
  // only groups whose other settings may be left out take a list
  return (isList(settings) ? { steps: settings } : settings) as S;
}

function groupOf(type: NodeType, settings: NamedSettings): string {
  const named = typeof settings?.name === 'string' && settings.name !== '';
  return named ? `${type} '${settings.name}'` : `A ${type.toLowerCase()} group`;
}

/** A step without a name has that of what it runs. */
function stepOwner(settings: StepSettings): string {
  const { name, run } = { ...settings };
  return ownerOf('Step', { name: name ?? (typeof run === 'function' ? run.name : undefined) });
}

function nameOf(worker: Executable | StepFunction | undefined): string | undefined {
  if (worker === undefined) return undefined;
  return (typeof worker === 'function' ? worker.name : (worker.name ?? worker.id)) || undefined;
}
