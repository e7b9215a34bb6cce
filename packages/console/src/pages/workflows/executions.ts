import type { TraceSpan, WorkflowRun, WorkflowStep } from '@runyard/client';

/** One execution of a node: a step in a loop has several. */
export interface Execution {
  readonly key: string;
  readonly status: string;
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  /** Texts, as the trace shows them; undefined without one. */
  readonly input: string | undefined;
  readonly output: string | undefined;
  readonly error: string | undefined;
  /** The branch that a condition took, or the choices of a router. */
  readonly taken: readonly string[];
}

export type Executions = ReadonlyMap<string, readonly Execution[]>;

/** The end of the name of a step's span: the second of runs that were streamed. */
const stepSpan = /\.aexecute(?:_stream)?$/;

type StepState = NonNullable<WorkflowRun['step_states']>[number];

/** What happened to each node of the graph, by its path. The trace adds inputs and outputs, and nested workflows. */
export function executionsOf(
  steps: readonly WorkflowStep[],
  run: WorkflowRun,
  root: TraceSpan | undefined,
): Executions {
  const found = new Map<string, Execution[]>();
  const states = run.step_states ?? [];
  const spans = matched(states, root);
  const foreach = pathsOf(steps, ({ type }) => type === 'Foreach');
  for (const state of states) {
    const key = state.key.replace(/^node:/, '');
    const span = spans.get(state.key);
    const path = pathOfKey(key, foreach);
    add(found, path, {
      key,
      status: state.status,
      startedAt: numberIn(state, 'started_at'),
      endedAt: numberIn(state, 'ended_at'),
      input: span?.input,
      output: span?.output ?? outputOf(run, state.step_id),
      error: span?.error,
      taken: takenIn(state),
    });
    const nested = span?.spans?.find(({ name, type }) => type === 'WORKFLOW' && name.endsWith('.arun'));
    const step = stepAt(steps, path);
    if (nested && step?.type === 'Workflow') addNested(found, path, step.steps ?? [], nested.spans ?? []);
  }
  return found;
}

/** A nested workflow has a run of its own. Its spans, in the order of its steps, say how far it is. */
function addNested(
  found: Map<string, Execution[]>,
  path: string,
  steps: readonly WorkflowStep[],
  spans: readonly TraceSpan[],
): void {
  const left = spans.filter(isStepSpan);
  steps.forEach((step, at) => {
    const own = `${path}.${at}`;
    for (const span of left.filter((span) => isSpanOf(span, step.name))) {
      add(found, own, {
        key: span.id,
        status: span.status === 'OK' ? 'completed' : span.status === 'ERROR' ? 'failed' : 'running',
        startedAt: Date.parse(span.start_time),
        endedAt: span.status === 'UNSET' ? undefined : Date.parse(span.end_time),
        input: span.input,
        output: span.output,
        error: span.error,
        taken: [],
      });
      const deeper = step.type === 'Workflow' ? (span.spans?.[0]?.spans ?? []) : (span.spans ?? []);
      addNested(found, own, step.steps ?? [], deeper);
    }
  });
}

/** Spans do not name the keys of the journal: both lists are in order, and steps have names. */
function matched(states: readonly StepState[], root: TraceSpan | undefined): ReadonlyMap<string, TraceSpan> {
  const found = new Map<string, TraceSpan>();
  const waiting = new Map<string, TraceSpan[]>();
  for (const state of states) {
    const key = state.key.replace(/^node:/, '');
    const parent = parentOf(key);
    const place = parent ?? '';
    const above = parent === undefined ? root : found.get(`node:${parent}`);
    const spans = waiting.get(place) ?? (above?.spans ?? []).filter(isStepSpan);
    waiting.set(place, spans);
    const at = spans.findIndex((one) => isSpanOf(one, String(Reflect.get(state, 'step_name'))));
    const [span] = at < 0 ? [] : spans.splice(at, 1);
    if (span) found.set(state.key, span);
  }
  return found;
}

function isStepSpan({ name, type }: TraceSpan): boolean {
  return type === 'WORKFLOW' && stepSpan.test(name);
}

function isSpanOf({ name }: TraceSpan, step: string): boolean {
  return name.replace(stepSpan, '') === step.replaceAll(' ', '_');
}

/** `7@2.0` lies in `7`, whatever the iteration. */
function parentOf(key: string): string | undefined {
  const at = key.lastIndexOf('.');
  return at < 0 ? undefined : key.slice(0, at).replace(/@\d+$/, '');
}

/** The graph draws one node for all iterations, and one for all items. */
function pathOfKey(key: string, foreach: ReadonlySet<string>): string {
  return key
    .replaceAll(/@\d+/g, '')
    .split('.')
    .reduce((path, part) => (foreach.has(path) ? `${path}.0` : path === '' ? part : `${path}.${part}`), '');
}

function pathsOf(
  steps: readonly WorkflowStep[],
  wanted: (step: WorkflowStep) => boolean,
  before = '',
): Set<string> {
  const found = new Set<string>();
  steps.forEach((step, at) => {
    const path = `${before}${at}`;
    if (wanted(step)) found.add(path);
    for (const one of pathsOf(step.steps ?? [], wanted, `${path}.`)) found.add(one);
    for (const one of pathsOf(step.else_steps ?? [], wanted, `${path}.e`)) found.add(one);
  });
  return found;
}

export function stepAt(steps: readonly WorkflowStep[], path: string): WorkflowStep | undefined {
  const [first, ...rest] = path.split('.');
  let step = steps[Number(first)];
  for (const part of rest)
    step = part.startsWith('e') ? step?.else_steps?.[Number(part.slice(1))] : step?.steps?.[Number(part)];
  return step;
}

function add(found: Map<string, Execution[]>, path: string, execution: Execution): void {
  const list = found.get(path);
  if (list) list.push(execution);
  else found.set(path, [execution]);
}

/** Without a trace: what the run says about its top-level steps and the steps of groups. */
function outputOf(run: WorkflowRun, stepId: string): string | undefined {
  type Result = NonNullable<WorkflowRun['step_results']>[number];
  const search = (list: readonly Result[]): Result | undefined => {
    for (const result of list) {
      if (result.step_id === stepId) return result;
      const inner: unknown = Reflect.get(result, 'steps');
      const found = Array.isArray(inner) ? search(inner) : undefined;
      if (found) return found;
    }
    return undefined;
  };
  const content = search(run.step_results ?? [])?.content;
  return content === undefined || typeof content === 'string' ? content : JSON.stringify(content);
}

function takenIn(state: StepState): readonly string[] {
  const branch: unknown = Reflect.get(state, 'branch');
  const selected: unknown = Reflect.get(state, 'selected_steps');
  if (typeof branch === 'string') return [branch];
  return Array.isArray(selected) ? selected.map(String) : [];
}

function numberIn(state: object, key: string): number | undefined {
  const value: unknown = Reflect.get(state, key);
  return typeof value === 'number' ? value : undefined;
}

/** What the node shows: that of the last execution, unless another one still runs or waits. */
export function stateOf(executions: readonly Execution[] | undefined): string | undefined {
  if (!executions) return undefined;
  const active = ['running', 'paused'].find((status) => executions.some((one) => one.status === status));
  return active ?? executions.at(-1)?.status;
}
