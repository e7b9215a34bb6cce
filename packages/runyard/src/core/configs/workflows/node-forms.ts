import { defaultBackoff, type RetryBackoff } from '../../async/back-off.js';
import { errors } from '../../errors/errors.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { nearestName } from '../../nearest-name.js';
import { keysOf } from '../../objects.js';
import { shown } from '../../options/faults.js';
import { amount, count, flag, milliseconds, name, text } from '../../options/kinds.js';
import type { RunKind } from '../../runs/run.js';
import {
  condition,
  foreach,
  loop,
  parallel,
  router,
  stepFrom,
  steps,
} from '../../workflows/definition/builders.js';
import type { StepNode, WorkflowNode } from '../../workflows/definition/node.js';
import type {
  ConditionSettings,
  ForeachOptions,
  LoopSettings,
  ParallelSettings,
  RouterSettings,
  StepSettings,
  StepsSettings,
} from '../../workflows/definition/node-options.js';
import {
  type ConfigForm,
  type ConfigKey,
  given,
  isAbsent,
  key,
  needed,
  object,
  plain,
  readForm,
  writeForm,
} from '../config-keys.js';
import type { Branch, Reading } from '../reading.js';
import { functionName } from '../values/named-values.js';
import { schema } from '../values/schema-value.js';
import type { Writing } from '../writing.js';
import { decision, evaluator, selector } from './decision-keys.js';
import { groupReview, routerReview, stepErrors, stepReview } from './review-form.js';

/** As deep as workflows may be. */
const deepest = 10;
/** How many steps a stored workflow has, those of all groups together. */
const mostSteps = 1_000;

/** How a step of a configuration becomes a node of a workflow, and the other way round. */
interface NodeForm {
  readonly form: ConfigForm<never>;
  build(settings: Record<string, unknown>): WorkflowNode;
}

const backoff: ConfigForm<RetryBackoff> = {
  what: 'a backoff',
  keys: {
    delayMs: needed(plain('delay_ms', milliseconds(0)), milliseconds(0).allowed),
    factor: plain(
      'factor',
      amount('a number, 1 or more', (value) => value >= 1),
    ),
    maximumMs: plain('maximum_ms', milliseconds(0)),
  },
};

/** The component that executes a step. */
function executor(kind: RunKind): ConfigKey {
  const idKey = `${kind}_id`;
  return {
    keys: [idKey],
    read: (config, at) =>
      given(config[idKey], (value) => {
        const there = at.within(idKey);
        if (there.checked(name, value) === undefined) return undefined;
        const id = String(value);
        return there.component({
          kind,
          id,
          linkKind: `step_${kind}`,
          linkKey: linkKeyOf(config, id, at.branch),
        });
      }),
    write: (setting) => ({ [idKey]: componentId(setting) }),
  };
}

/** The id or the name of a step, by which its link is found. */
function linkKeyOf({ step_id: stepId, name: stepName }: JsonObject, id: string, { elses }: Branch): string {
  const own = [stepId, stepName].find((one) => typeof one === 'string' && one !== '');
  return `${own ?? id}${elses}`;
}

function componentId(component: unknown): string {
  // the settings of steps hold nothing else under these names
  return (component as { readonly id: string }).id;
}

/** Steps within a group, in the branch that `into` says. */
function listOfSteps(listKey: string, into: (branch: Branch) => Branch = (branch) => branch): ConfigKey {
  return {
    keys: [listKey],
    read: (config, at) =>
      given(config[listKey], (value) => readSteps(value, at.within(listKey).in(into(at.branch)))),
    write: (setting, at) => ({
      // only lists of nodes have this key
      [listKey]: writeSteps(setting as readonly WorkflowNode[], at.within(listKey)),
    }),
  };
}

const named = {
  name: plain('name', name),
  description: plain('description', text),
};
const children = needed(listOfSteps('steps'), 'a list of steps');

const stepForm: ConfigForm<StepSettings> = {
  what: 'a step',
  keys: {
    ...named,
    agent: executor('agent'),
    team: executor('team'),
    workflow: executor('workflow'),
    run: key('executor_ref', functionName),
    maxRetries: plain('max_retries', count(0)),
    backoff: object('backoff', backoff),
    skipOnFailure: plain('skip_on_failure', flag),
    onError: stepErrors,
    timeoutMs: plain('timeout_ms', milliseconds(1)),
    inputSchema: key('input_schema', schema),
    outputSchema: key('output_schema', schema),
    review: stepReview,
  },
  without: {
    strict_input_validation: [false],
    add_workflow_history: [false],
    num_history_runs: [3],
  },
  others: ['type', 'step_id'],
};

const group = { others: ['type'] };

export const nodeForms = {
  Step: form(stepForm, stepFrom),
  Workflow: form({ ...stepForm, what: 'a nested workflow' }, stepFrom),
  Steps: form<StepsSettings>(
    { ...group, what: 'a group of steps', keys: { ...named, steps: children, review: groupReview } },
    steps,
  ),
  Parallel: form<ParallelSettings>(
    {
      ...group,
      what: 'a parallel group',
      keys: { ...named, steps: children, maxParallel: plain('max_parallel', count(1)), review: groupReview },
    },
    parallel,
  ),
  Foreach: form<ForeachSettings>(
    {
      ...group,
      what: 'a step for each item',
      keys: { ...named, steps: children, concurrency: plain('concurrency', count(1)), review: groupReview },
    },
    forEachItem,
  ),
  Loop: form<LoopSettings>(
    {
      ...group,
      what: 'a loop',
      keys: {
        ...named,
        steps: children,
        maxIterations: plain('max_iterations', count(1)),
        until: decision({ key: 'end_condition', typeKey: 'end_condition_type', place: 'loop' }),
        forwardOutput: plain('forward_iteration_output', flag),
        review: groupReview,
      },
    },
    loop,
  ),
  Condition: form<ConditionSettings>(
    {
      ...group,
      what: 'a condition',
      keys: {
        ...named,
        when: evaluator({ key: 'evaluator', typeKey: 'evaluator_type', place: 'condition' }),
        steps: children,
        otherwise: listOfSteps('else_steps', ({ depth, elses }) => ({ depth, elses: `${elses}#else` })),
        review: groupReview,
      },
    },
    condition,
  ),
  Router: form<RouterSettings>(
    {
      ...group,
      what: 'a router',
      keys: {
        ...named,
        choices: needed(listOfSteps('choices'), 'a list of steps'),
        select: selector,
        allowMultiple: plain('allow_multiple_selections', flag),
        review: routerReview,
      },
      without: { user_input_schema: [[]] },
    },
    router,
  ),
};

/** As in any group, the steps are a list: of one. */
interface ForeachSettings extends ForeachOptions {
  readonly steps: readonly WorkflowNode[];
}

function forEachItem({ steps: [each, ...more], ...options }: ForeachSettings): WorkflowNode {
  if (each === undefined || more.length > 0)
    throw errors.invalidConfig('A foreach has exactly one step. Put several into a group of steps.');
  return foreach(each, options);
}

function form<Settings>(of: ConfigForm<Settings>, make: (settings: Settings) => WorkflowNode): NodeForm {
  return {
    // settings are read and written by their names
    form: of as ConfigForm<never>,
    // each was read by the key of its name, and the builder checks all of them once more
    build: (settings) => make(settings as Settings),
  };
}

/** The nodes of a list of steps; undefined when nothing is built, or one of them is faulty. */
export function readSteps(value: Json, at: Reading): readonly WorkflowNode[] | undefined {
  const list = at.list(value, mostSteps);
  if (list === undefined) return undefined;
  if (list.length === 0) return at.fault('is an empty list. Give a list with at least one entry.');
  const { depth, elses } = at.branch;
  if (depth >= deepest) return at.fault(`is deeper than ${deepest} levels. Make the workflow flatter.`);
  const { found } = at;
  const isFull = found.steps > mostSteps;
  found.steps += list.length;
  if (found.steps > mostSteps)
    return isFull ? undefined : at.fault(`is beyond ${mostSteps} steps of the workflow. Divide it.`);
  const nodes = list.map((one, index) => readNode(one, at.entry(index).in({ depth: depth + 1, elses })));
  return nodes.every((node) => node !== undefined) ? nodes : undefined;
}

function readNode(value: Json, at: Reading): WorkflowNode | undefined {
  if (!isJsonObject(value)) return at.fault(`is ${shown(value)}. Give an object.`);
  const type = isAbsent(value.type) ? 'Step' : value.type;
  const known = keysOf(nodeForms).find((one) => one === type);
  if (known === undefined) return unknownType(type, at.within('type'));
  const before = at.found.faults.length;
  const settings = readForm(nodeForms[known].form, value, at);
  checkExecutors(known, value, at);
  if (settings === undefined || at.site === undefined || at.found.faults.length > before) return undefined;
  return at.made(() => nodeForms[known].build(settings));
}

function unknownType(type: Json, at: Reading): undefined {
  const near = typeof type === 'string' ? nearestName(type, keysOf(nodeForms)) : undefined;
  return at.fault(
    `is ${shown(type)}, which is not a type of step. ${near === undefined ? `The types are ${keysOf(nodeForms).join(', ')}.` : `Did you mean ${near}?`}`,
  );
}

const executors = ['agent_id', 'team_id', 'workflow_id', 'executor_ref'];

function checkExecutors(type: keyof typeof nodeForms, config: JsonObject, at: Reading): void {
  if (type !== 'Step' && type !== 'Workflow') return;
  const allowed = type === 'Step' ? executors : ['workflow_id'];
  const named = executors.filter((key) => !isAbsent(config[key]));
  if (named.length === 1 && named.every((key) => allowed.includes(key))) return;
  at.fault(
    `has ${named.length === 0 ? 'nothing that executes it' : named.join(' and ')}. Give ${type === 'Step' ? `exactly one of ${executors.join(', ')}` : 'workflow_id'}.`,
  );
}

/** Nodes as a configuration writes them. */
export function writeSteps(nodes: readonly WorkflowNode[], at: Writing): JsonObject[] {
  return nodes.map((node, index) => {
    const there = at.entry(index);
    return { type: node.type, ...writeForm(nodeForms[node.type].form, settingsOf(node), there) };
  });
}

/** What the builder of a node was given, without what it fills in. */
function settingsOf(node: WorkflowNode): Record<string, unknown> {
  const { type, isNamed, name: given, ...rest } = node;
  const own = { ...rest, ...(isNamed && { name: given }) };
  switch (node.type) {
    case 'Step':
      return { ...own, ...stepSettings(node) };
    case 'Loop':
      return { ...own, maxIterations: node.maxIterations, forwardOutput: node.forwardOutput || undefined };
    case 'Condition':
      return { ...own, otherwise: node.otherwise.length === 0 ? undefined : node.otherwise };
    case 'Router':
      return { ...own, choices: node.steps, allowMultiple: node.allowMultiple || undefined };
    default:
      return own;
  }
}

function stepSettings({ run, maxRetries, backoff: waits, skipOnFailure, onError }: StepNode) {
  const isFunction = 'function' in run;
  return {
    ...(isFunction ? { run: run.function } : { run: undefined, [run.component.kind]: run.component }),
    maxRetries,
    backoff: waits === defaultBackoff ? undefined : waits,
    skipOnFailure: skipOnFailure || undefined,
    onError: onError === 'fail' ? undefined : onError,
  };
}
