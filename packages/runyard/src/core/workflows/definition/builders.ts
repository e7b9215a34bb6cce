import { errors } from '../../errors.js';
import type { Executable } from '../../runs/executable.js';
import { compileExpression, type ExpressionPlace } from './cel.js';
import { checkCount, checkReview, checkTimeout } from './check-settings.js';
import type { LoopCondition, RouteFunction, StepFunction, WhenFunction } from './functions.js';
import type {
  ConditionNode,
  ErrorPolicy,
  LoopNode,
  NodeType,
  ParallelNode,
  ReviewSettings,
  RouterNode,
  StepEntry,
  StepNode,
  StepsNode,
  WorkflowNode,
} from './node.js';

interface NamedSettings {
  /** What its output is called; unique among its neighbours. */
  readonly name?: string;
  readonly description?: string;
  readonly review?: ReviewSettings;
}

/** Who does the work of a step. One of them. */
type Work =
  | { readonly agent: Executable; readonly team?: never; readonly workflow?: never; readonly run?: never }
  | { readonly team: Executable; readonly agent?: never; readonly workflow?: never; readonly run?: never }
  | { readonly workflow: Executable; readonly agent?: never; readonly team?: never; readonly run?: never }
  | { readonly run: StepFunction; readonly agent?: never; readonly team?: never; readonly workflow?: never };

export type StepSettings = NamedSettings &
  Work & {
    /** How often it is tried again after it failed. Default 3 for a function, 0 for anything else. */
    readonly maxRetries?: number;
    /** Goes on after a failure, whatever `onError` says. */
    readonly skipOnFailure?: boolean;
    /** Default `skip`: the workflow goes on, and the output of the step says that it failed. */
    readonly onError?: ErrorPolicy;
    /** How long one attempt may take. */
    readonly timeoutMs?: number;
  };

/** One step: an agent, a team, another workflow, or a function. */
export function step(settings: StepSettings): StepNode {
  const { agent, team, workflow, run, onError = 'skip', timeoutMs } = settings;
  const work = { agent, team, workflow, run };
  const given = Object.entries(work).filter(([, value]) => value !== undefined);
  const name = settings.name ?? nameOf(agent ?? team ?? workflow ?? run);
  const owner = `Step '${name ?? '(without a name)'}'`;
  if (given.length !== 1)
    throw errors.invalidConfig(`${owner} needs exactly one of agent, team, workflow and run.`);
  const [[kind, worker]] = given as [[string, unknown]];
  if (kind === 'run' ? typeof worker !== 'function' : !isComponent(worker) || worker.kind !== kind)
    throw errors.invalidConfig(`${owner} has a '${kind}' that is none.`);
  if (!(['skip', 'fail', 'pause'] as string[]).includes(onError))
    throw errors.invalidConfig(`${owner} has onError '${onError}'. It is skip, fail or pause.`);
  checkCount(owner, 'maxRetries', settings.maxRetries, 0);
  checkTimeout(owner, 'timeoutMs', timeoutMs);
  return {
    ...base(owner, 'Step', settings, name),
    type: 'Step',
    run: run === undefined ? { component: worker as Executable } : { function: run },
    maxRetries: settings.maxRetries ?? (run === undefined ? 0 : defaultRetries),
    skipOnFailure: settings.skipOnFailure ?? false,
    onError,
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
}

export interface StepsSettings extends NamedSettings {
  readonly steps: readonly StepEntry[];
}

/** Several steps as one, in order. */
export function steps(settings: StepsSettings | readonly StepEntry[]): StepsNode {
  const given = listed(settings);
  const owner = ownerOf('Steps', given.name);
  return { ...base(owner, 'Steps', given), type: 'Steps', steps: nodesFrom(owner, given.steps) };
}

export interface LoopSettings extends NamedSettings {
  readonly steps: readonly StepEntry[];
  /** Default 3. */
  readonly maxIterations?: number;
  /** Ends the loop when it is true after an iteration: a function, or a CEL text. */
  readonly until?: LoopCondition | string;
  /** Each iteration begins with what the one before it made, instead of what came before the loop. */
  readonly forwardOutput?: boolean;
}

/** Steps that are done again until a condition is met, or often enough. */
export function loop(settings: LoopSettings): LoopNode {
  const owner = ownerOf('Loop', settings.name);
  const { until, maxIterations = 3 } = settings;
  checkCount(owner, 'maxIterations', maxIterations, 1);
  return {
    ...base(owner, 'Loop', settings),
    type: 'Loop',
    steps: nodesFrom(owner, settings.steps),
    maxIterations,
    forwardOutput: settings.forwardOutput ?? false,
    ...(until !== undefined && { until: decision(until, 'loop', owner, 'until') }),
  };
}

export interface ParallelSettings extends NamedSettings {
  readonly steps: readonly StepEntry[];
  /** How many run at once. Left out: as many as the workflow allows. */
  readonly maxParallel?: number;
}

/** Steps that are done side by side. */
export function parallel(settings: ParallelSettings | readonly StepEntry[]): ParallelNode {
  const given: ParallelSettings = listed(settings);
  const owner = ownerOf('Parallel', given.name);
  checkCount(owner, 'maxParallel', given.maxParallel, 1);
  return {
    ...base(owner, 'Parallel', given),
    type: 'Parallel',
    steps: nodesFrom(owner, given.steps),
    ...(given.maxParallel !== undefined && { maxParallel: given.maxParallel }),
  };
}

export interface ConditionSettings extends NamedSettings {
  /** A value, a function, or a CEL text. */
  readonly when: boolean | WhenFunction | string;
  readonly steps: readonly StepEntry[];
  /** What is done when it is not met. */
  readonly otherwise?: readonly StepEntry[];
}

/** Steps that are done only when a condition is met. */
export function condition(settings: ConditionSettings): ConditionNode {
  const owner = ownerOf('Condition', settings.name);
  const { when, otherwise } = settings;
  return {
    ...base(owner, 'Condition', settings),
    type: 'Condition',
    when: typeof when === 'boolean' ? when : decision(when, 'condition', owner, 'when'),
    steps: nodesFrom(owner, settings.steps),
    otherwise: otherwise === undefined ? [] : nodesFrom(owner, otherwise, 'otherwise'),
  };
}

export interface RouterSettings extends NamedSettings {
  readonly choices: readonly StepEntry[];
  /** A function or a CEL text that gives the name of a choice (or a list of them), or `user`: a person chooses. */
  readonly select: RouteFunction | string;
  /** A person may choose several. */
  readonly allowMultiple?: boolean;
}

/** Does the one of several steps that is chosen. */
export function router(settings: RouterSettings): RouterNode {
  const owner = ownerOf('Router', settings.name);
  const { select } = settings;
  return {
    ...base(owner, 'Router', settings),
    type: 'Router',
    steps: nodesFrom(owner, settings.choices, 'choices'),
    select: select === 'user' ? select : decision(select, 'router', owner, 'select'),
    allowMultiple: settings.allowMultiple ?? false,
  };
}

/** Turns what stands in a list into nodes: each name stands once. */
export function nodesFrom(owner: string, entries: readonly StepEntry[], what = 'steps'): WorkflowNode[] {
  if (!Array.isArray(entries) || entries.length === 0)
    throw errors.invalidConfig(`${owner} has no ${what}. Give it a list with at least one.`);
  const nodes = entries.map((entry, position) => nodeFrom(owner, entry, position));
  const taken = new Set<string>();
  for (const { name, isNamed } of nodes) {
    if (isNamed && taken.has(name))
      throw errors.invalidConfig(`${owner} has two ${what} with the name '${name}'. Give each its own.`);
    if (isNamed) taken.add(name);
  }
  return nodes.map((node) => (node.isNamed ? node : { ...node, name: freeName(node.name, taken) }));
}

const defaultRetries = 3;
const nodeTypes: ReadonlySet<unknown> = new Set<NodeType>([
  'Step',
  'Steps',
  'Loop',
  'Parallel',
  'Condition',
  'Router',
]);

function nodeFrom(owner: string, entry: StepEntry, position: number): WorkflowNode {
  if (typeof entry === 'function') {
    const made = step({ name: entry.name || `Step ${position + 1}`, run: entry });
    return { ...made, isNamed: entry.name !== '' };
  }
  if (isComponent(entry)) {
    if (entry.kind === 'agent') return step({ agent: entry });
    return entry.kind === 'team' ? step({ team: entry }) : step({ workflow: entry });
  }
  if (typeof entry === 'object' && entry !== null && nodeTypes.has(entry.type)) return entry;
  throw errors.invalidConfig(
    `${owner} has an entry at position ${position + 1} that is no step. Give an agent, a team, a workflow, a function, or what step(), steps(), loop(), parallel(), condition() or router() made.`,
  );
}

function freeName(wanted: string, taken: Set<string>): string {
  let name = wanted;
  for (let number = 2; taken.has(name); number += 1) name = `${wanted} ${number}`;
  taken.add(name);
  return name;
}

function base(owner: string, type: NodeType, settings: NamedSettings, name = settings.name) {
  if (name !== undefined && (typeof name !== 'string' || name.trim() === ''))
    throw errors.invalidConfig(`${owner} has an empty name.`);
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
  what: string,
) {
  if (typeof given === 'string') return compileExpression(given, place, owner);
  if (typeof given === 'function') return given;
  throw errors.invalidConfig(`${owner} has '${what}' that is neither a function nor a CEL text.`);
}

function listed<S extends { readonly steps: readonly StepEntry[] }>(
  settings: S | readonly StepEntry[],
): S | { readonly steps: readonly StepEntry[]; readonly name?: undefined } {
  return Array.isArray(settings) ? { steps: settings } : (settings as S);
}

function ownerOf(type: NodeType, name: string | undefined): string {
  return name === undefined ? `A ${type.toLowerCase()} group` : `${type} '${name}'`;
}

function nameOf(worker: Executable | StepFunction | undefined): string | undefined {
  if (worker === undefined) return undefined;
  return (typeof worker === 'function' ? worker.name : (worker.name ?? worker.id)) || undefined;
}

function isComponent(value: unknown): value is Executable {
  return (
    typeof value === 'object' &&
    value !== null &&
    'kind' in value &&
    typeof (value as Partial<Executable>).execute === 'function'
  );
}
