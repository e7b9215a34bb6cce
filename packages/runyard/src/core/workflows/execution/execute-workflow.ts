import { endingOf } from '../../agents/answer/ending.js';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../json.js';
import type { AnswerEnding } from '../../models/model.js';
import { type RunContext, RunPaused } from '../../runs/context.js';
import { type Executable, RunCancelled, RunFailed } from '../../runs/executable.js';
import { runChild } from '../../runs/execution/child-run.js';
import type { RunResult } from '../../runs/run.js';
import { type ChatAgent, chatKey } from '../chat-agent.js';
import type { WorkflowFunction } from '../definition/functions.js';
import type { WorkflowNode } from '../definition/node.js';
import { textOf } from '../fold/group-content.js';
import { metricsOf } from '../fold/metrics.js';
import { contentTypeOf } from '../fold/node-view.js';
import { type LimitedWorkflow, limitRun } from '../limits-of-run.js';
import { workflowStarted } from '../workflow-events.js';
import { type Flow, hasBegun, placeAtTop, runList, Scope } from './flow.js';
import { historyText, pastRuns } from './history.js';
import { runWhole, wholeKey } from './run-whole.js';
import { visitNode } from './visit-node.js';

/** What the execution of a workflow needs to know of it. */
export interface WorkflowDefinition extends LimitedWorkflow {
  readonly id: string;
  readonly name: string;
  readonly nodes: readonly WorkflowNode[];
  /** Set for a workflow that is one function. */
  readonly whole: WorkflowFunction | undefined;
  readonly chat: ChatAgent | undefined;
  readonly hasInputSchema: boolean;
  readonly addHistoryToSteps: boolean;
  readonly numHistoryRuns: number;
  readonly maxParallel: number;
  /** Notes what runs inside without standing in the tree. */
  register(component: Executable): void;
}

/** Executions that a person, and not a request to cancel, has ended. */
const rejected = new WeakSet<object>();

export function wasRejected(context: object): boolean {
  return rejected.has(context);
}

export async function executeWorkflow(workflow: WorkflowDefinition, context: RunContext): Promise<RunResult> {
  const scope = new Scope(undefined, new Map(), context.run.input.media, additionalDataOf(context));
  try {
    if (workflow.chat !== undefined) return await chat(workflow, workflow.chat, context, scope);
    if (context.entry !== 'continued')
      context.emit(workflowStarted(context.entry === 'recovered'), `started:${context.run.attempt}`);
    await limitRun(workflow, context);
    const flow = await flowOf(workflow, context, context.run.input.content);
    return await runNodes(workflow, flow, scope);
  } catch (error) {
    const { previous = null } = scope;
    if (error instanceof RunPaused && previous !== null) context.draft.content = textOf(previous);
    if (error instanceof RunCancelled && !context.signal.aborted) rejected.add(context);
    throw error;
  }
}

async function runNodes(workflow: WorkflowDefinition, flow: Flow, scope: Scope): Promise<RunResult> {
  const { context } = flow;
  if (workflow.whole !== undefined) {
    const content = await runWhole(flow, workflow.whole, scope);
    return resultOf(context, content, contentTypeOf(content));
  }
  const { views } = await runList(flow, workflow.nodes, scope, (position) => placeAtTop(flow, position));
  const last = views.findLast((view) => view.last !== undefined)?.last;
  const content = last?.content ?? views.at(-1)?.output.content ?? '';
  const media = views.flatMap((view) => view.media);
  const result = resultOf(context, content, last?.contentType ?? contentTypeOf(content), last?.ending);
  return media.length > 0 ? { ...result, media } : result;
}

function resultOf(
  context: RunContext,
  content: Json,
  contentType: string,
  ending: Partial<AnswerEnding> = {},
): RunResult {
  const metrics = metricsOf(context.run, context.steps(), context.timers.now());
  return { content, contentType, ...ending, metrics, sessionState: context.state.all() };
}

/** The agent in front decides between answering and letting the workflow run. */
async function chat(
  workflow: WorkflowDefinition,
  agent: ChatAgent,
  context: RunContext,
  scope: Scope,
): Promise<RunResult> {
  const { input, runId } = context.run;
  if (context.recorded(chatKey) === undefined)
    context.emit({ event: 'WorkflowAgentStarted' }, 'on:chat:started');
  await limitRun(workflow, context);
  const history = historyText(await pastRuns(context, workflow.numHistoryRuns));
  const { sessionState: _state, ...options } = context.options;
  const { status, result } = await runChild(context, {
    key: chatKey,
    kind: 'step',
    executable: agent,
    input: {
      ...input,
      content: [history, input.content].filter((part) => part !== '').join('\n\n'),
      options,
    },
    fields: { workflow_id: workflow.id, workflow_run_id: runId },
    depth: context.depth,
  });
  if (status === 'error') {
    const { type = 'Error', message = textOf(result.content), additionalData } = result.error ?? {};
    throw new RunFailed({ type, message, ...(additionalData !== undefined && { additionalData }) });
  }
  const asked = result.metadata?.workflow_input;
  if (typeof asked !== 'string') {
    const direct = resultOf(context, result.content, result.contentType, endingOf(result));
    return { ...direct, metadata: { agent_direct_response: true } };
  }
  // what a schema asks for was checked when the run was made; the agent passes it on as it is
  const isAsItWas = asked === '' || workflow.hasInputSchema;
  const flow = await flowOf(workflow, context, isAsItWas ? input.content : asked);
  const hasStarted = hasBegun(flow, '0') || context.recorded(wholeKey) !== undefined;
  if (!hasStarted) context.emit(workflowStarted(false), 'on:workflow:started');
  return runNodes(workflow, flow, scope);
}

async function flowOf(workflow: WorkflowDefinition, context: RunContext, text: string): Promise<Flow> {
  const { addHistoryToSteps, numHistoryRuns, maxParallel } = workflow;
  const history = addHistoryToSteps ? await pastRuns(context, numHistoryRuns) : [];
  const flow: Flow = {
    context,
    workflow,
    maxParallel,
    input: workflow.hasInputSchema ? parseJson(text) : text,
    history,
    historyText: historyText(history),
    register: (component) => workflow.register(component),
    visit: (node, place, scope) => visitNode(flow, node, place, scope),
  };
  return flow;
}

/** What the request says beside the input: an object as it is, anything else under `additional_data`. */
function additionalDataOf({ options }: RunContext): JsonObject {
  const given = options.extra?.additional_data;
  if (given === undefined || given === null) return {};
  if (isJsonObject(given)) return given;
  return { additional_data: given };
}
