import type { RunEvent } from '../../events/run-event.js';
import type { StepFields, StepIndex, StepOutput } from '../../events/workflow-event.js';
import type { Json, JsonObject } from '../../json.js';
import type { Media } from '../../media/media.js';
import type { RunContext } from '../../runs/context.js';
import type { Executable } from '../../runs/executable.js';
import type { StateView } from '../../runs/execution/session-state.js';
import type { PastRun, StepInput, TypedStep } from '../definition/functions.js';
import type { WorkflowNode } from '../definition/node.js';
import type { NodeView } from '../fold/node-view.js';
import { readableMedia } from '../functions/step-media.js';
import { nodeKey, stepIdOf } from '../journal-records.js';

/** Everything that the nodes of one execution share. */
export interface Flow {
  readonly context: RunContext;
  readonly workflow: { readonly id: string; readonly name: string };
  readonly maxParallel: number;
  readonly input: Json;
  readonly history: readonly PastRun[];
  /** What the history looks like in front of a step's message; empty when steps are not shown it. */
  readonly historyText: string;
  /** Notes a component that runs inside without standing in the tree. */
  register(component: Executable): void;
  /** Executes a node, or finds its earlier output. */
  visit(node: WorkflowNode, place: Place, scope: Scope): Promise<NodeView>;
}

/** Where in the tree, and in which iteration, a node stands. */
export interface Place {
  readonly path: string;
  readonly stepId: string;
  readonly index: StepIndex;
  /** The id of the group around it. */
  readonly parentStepId?: string;
  readonly isTopLevel: boolean;
  /** Of the innermost loop; 0 outside of one. */
  readonly iteration: number;
}

/** What the steps so far made. Each list of steps has one of its own, so that branches do not see each other. */
export class Scope {
  constructor(
    /** What the last step made, which may be null; undefined when there was none. */
    public previous: Json | undefined,
    readonly outputs: Map<string, StepOutput>,
    public media: readonly Media[],
    readonly additionalData: JsonObject,
  ) {}

  /** What the last step made, or else what the workflow was given. */
  givenIn({ input }: Pick<Flow, 'input'>): Json {
    return this.previous === undefined ? input : this.previous;
  }

  /** The same to begin a list of steps with. */
  fork(additionalData = this.additionalData): Scope {
    return new Scope(this.previous, new Map(this.outputs), this.media, additionalData);
  }

  /** Takes in the output of a node. */
  add({ output, last, media }: NodeView): void {
    remember(this.outputs, output);
    if (last !== undefined) this.previous = last.content;
    if (media.length > 0) this.media = [...this.media, ...media];
  }
}

function remember(outputs: Map<string, StepOutput>, output: StepOutput): void {
  // the steps of a list have one name and are found in its output
  if (output.step_type !== 'Foreach') for (const inner of output.steps ?? []) remember(outputs, inner);
  outputs.set(output.step_name, output);
}

export function stepFields(
  { name }: { readonly name: string },
  { stepId, parentStepId, index }: Place,
): StepFields {
  return parentStepId === undefined
    ? { step_id: stepId, step_name: name, step_index: index }
    : { step_id: stepId, parent_step_id: parentStepId, step_name: name, step_index: index };
}

/** The place of a step at the top. */
export function placeAtTop({ context }: Flow, position: number): Place {
  const path = String(position);
  return {
    path,
    stepId: stepIdOf(context.run, path),
    index: position,
    isTopLevel: true,
    iteration: 0,
  };
}

/** Sends an event about the node at a place, once for each `what`. */
export function tell({ context }: Flow, place: Place, what: string, event: RunEvent): void {
  // never begins with the key of a step: which events were sent before follows from the steps themselves
  context.emit(event, `on:${nodeKey(place.path)}:${what}`);
}

/** Whether the node at this path has begun, in this execution or an earlier one. */
export function hasBegun({ context }: Flow, path: string): boolean {
  return context.recorded(nodeKey(path)) !== undefined;
}

/** The place of a node in the list of a group. */
export function placeInside(
  flow: Flow,
  group: Place,
  path: string,
  position: number,
  iteration = group.iteration,
): Place {
  return {
    path,
    index: [group.index, position].flat(),
    stepId: stepIdOf(flow.context.run, path),
    parentStepId: group.stepId,
    isTopLevel: false,
    iteration,
  };
}

export interface ListResult {
  readonly keys: string[];
  readonly views: readonly NodeView[];
  readonly stopped: boolean;
}

/** Executes nodes one after the other, until one of them ends the workflow. */
export async function runList(
  flow: Flow,
  nodes: readonly WorkflowNode[],
  scope: Scope,
  placeOf: (position: number) => Place,
): Promise<ListResult> {
  const keys: string[] = [];
  const views: NodeView[] = [];
  for (const [position, node] of nodes.entries()) {
    const place = placeOf(position);
    const view = await flow.visit(node, place, scope);
    keys.push(nodeKey(place.path));
    views.push(view);
    scope.add(view);
    if (view.output.stop) return { keys, views, stopped: true };
  }
  return { keys, views, stopped: false };
}

/** What functions learn about where the workflow is. To add to it, assign: a copy reads all of it. */
export function stepInput(flow: Flow, place: Place, scope: Scope, state: StateView): StepInput {
  const { run, options, ports } = flow.context;
  let media: StepInput['media'] | undefined;
  let outputs: StepInput['previousStepOutputs'] | undefined;
  return {
    input: flow.input,
    previousStepContent: scope.previous ?? null,
    // built when it is read: a step of a long workflow has a thousand before it
    get previousStepOutputs() {
      outputs ??= Object.fromEntries(scope.outputs);
      return outputs;
    },
    // the type of the step says what it makes
    outputOf: <Content>({ name }: TypedStep<Content>) =>
      scope.outputs.get(name)?.content as Content | undefined,
    additionalData: scope.additionalData,
    get media() {
      media ??= readableMedia(scope.media, ports.media);
      return media;
    },
    dependencies: options.dependencies ?? {},
    metadata: options.metadata ?? {},
    history: flow.history,
    iteration: place.iteration,
    runId: run.runId,
    sessionId: run.sessionId,
    userId: run.userId,
    state,
  };
}

/** What expressions learn about it. */
export function variablesOf(flow: Flow, scope: Scope): JsonObject {
  const outputs = Array.from(scope.outputs, ([name, { content }]) => [name, content] as const);
  return {
    input: flow.input,
    previous_step_content: scope.previous ?? null,
    previous_step_outputs: Object.fromEntries(outputs),
    additional_data: scope.additionalData,
    session_state: flow.context.state.all(),
  };
}
