import { auxiliaryRecord } from '../agents/journal-records.js';
import { standIn } from '../components/stand-in.js';
import type { JsonObject } from '../json.js';
import type { Usage } from '../models/message.js';
import type { Requirement, RunContext } from '../runs/context.js';
import type { Executable } from '../runs/executable.js';
import { runChild } from '../runs/execution/child-run.js';
import type { RunKind, RunResult } from '../runs/run.js';
import { settledValues } from '../runs/settled.js';
import { type StepAnswer, type StepWaitKind, stepAnswer } from '../workflows/review/step-requirement.js';
import { workflowStarted } from '../workflows/workflow-events.js';
import { inWords, performLeg } from './execute-remote.js';
import type { RemoteRest } from './journal-records.js';
import { objectsIn, textIn, usedSince } from './remote-body.js';
import type { RemoteComponent } from './remote-component.js';
import { failureOfRest } from './remote-failures.js';
import { askHere } from './remote-questions.js';
import { isOpenStep, openIds } from './remote-requirements.js';
import type { RemoteAnswers } from './remote-service.js';

/** Runs a workflow of another service, in the same legs as an agent. What it asks about its steps is asked here. */
export async function executeRemoteWorkflow(
  component: RemoteComponent,
  context: RunContext,
): Promise<RunResult> {
  if (context.entry !== 'continued')
    context.emit(workflowStarted(context.entry === 'recovered'), `started:${context.run.attempt}`);
  let before: RemoteRest | undefined;
  let answers: RemoteAnswers | undefined;
  for (let leg = 0; ; leg += 1) {
    const rest: RemoteRest = await performLeg(component, context, { leg, before, answers });
    await spend(component, context, usedSince(rest.usage, before?.usage), leg);
    const { metrics: _metrics, ...extra } = rest.steps ?? {};
    context.draft.extra = extra;
    if (rest.status === 'completed') return resultOf(component, context, rest, extra);
    if (rest.status !== 'paused') throw failureOfRest(inWords(component), rest);
    if (typeof rest.content === 'string') context.draft.content = rest.content;
    answers = await ask(component, context, rest, leg);
    before = rest;
  }
}

function resultOf(
  component: RemoteComponent,
  context: RunContext,
  { content, contentType, media, metadata }: RemoteRest,
  extra: JsonObject,
): RunResult {
  return {
    content,
    contentType,
    ...(media !== undefined && { media }),
    ...(metadata !== undefined && { metadata }),
    metrics: component.metrics?.(context) ?? {},
    sessionState: context.state.all(),
    extra,
  };
}

/** What its steps used counts for limits and costs here. */
async function spend(
  component: RemoteComponent,
  context: RunContext,
  usage: Usage,
  leg: number,
): Promise<void> {
  if (usage.totalTokens === 0) return;
  const spec = { kind: 'auxiliary', name: 'remote', record: auxiliaryRecord } as const;
  await context.step(`remote:${leg}:usage`, spec, async () => ({
    content: '',
    usage,
    finishReason: 'other',
    timeToFirstToken: 0,
    role: 'model',
    model: { id: component.remote.id, provider: 'remote' },
  }));
}

/** Asks here what the workflow waits for there; returns with the answers when all are given. */
async function ask(
  component: RemoteComponent,
  context: RunContext,
  rest: RemoteRest,
  leg: number,
): Promise<RemoteAnswers> {
  const asked = await Promise.allSettled(
    rest.requirements.map(async (requirement, place) => {
      if (requirement.requires_executor_input === true)
        return askExecutor(component, context, requirement, { leg, place });
      return isOpenStep(requirement) ? askStep(context, requirement, { leg, place }) : requirement;
    }),
  );
  const requirements = settledValues(asked);
  const given = requirements.some((one, place) => one !== rest.requirements[place]);
  return { requirements, tools: [], given };
}

interface Place {
  readonly leg: number;
  readonly place: number;
}

/** The step at the top that a requirement is about. */
function topOf({ step_index: index }: JsonObject): number {
  const [first] = Array.isArray(index) ? index : [index];
  return typeof first === 'number' ? first : 0;
}

/** A little later than the other service, which then decides by itself. */
const clockMarginMs = 2_000;

async function askStep(
  context: RunContext,
  requirement: JsonObject,
  { leg, place }: Place,
): Promise<JsonObject> {
  const due = textIn(requirement.timeout_at);
  const dueAt = due === undefined ? Number.NaN : Date.parse(due) + clockMarginMs;
  const wait: Requirement = {
    key: `node:${topOf(requirement)}:remote:${leg}:${place}`,
    kind: kindOf(requirement),
    data: { step_index: 0, ...requirement },
    ...(Number.isFinite(dueAt) && { dueAt }),
  };
  return { ...requirement, ...answerFields(await context.wait(wait, stepAnswer)) };
}

function kindOf(requirement: JsonObject): StepWaitKind {
  if ('error_message' in requirement) return 'step_error';
  if (requirement.requires_route_selection === true) return 'route_selection';
  return requirement.is_post_execution === true ? 'output_review' : 'step_review';
}

/** A question whose time is up is answered by the other service. */
function answerFields(answer: StepAnswer): JsonObject {
  return 'timed_out' in answer ? {} : { ...answer };
}

/** The calls of an agent or a team that executes a step there: here they are those of a run within the workflow. */
async function askExecutor(
  component: RemoteComponent,
  context: RunContext,
  requirement: JsonObject,
  { leg, place }: Place,
): Promise<JsonObject> {
  const requirements = objectsIn(requirement.executor_requirements);
  const id = textIn(requirement.executor_id) ?? 'executor';
  const name = textIn(requirement.executor_name) ?? id;
  const kind: RunKind = requirement.executor_type === 'team' ? 'team' : 'agent';
  const executable: Executable = {
    kind,
    id,
    name,
    model: null,
    initialState: {},
    eventFields: { [`${kind}_id`]: id, [`${kind}_name`]: name },
    inside: standIn,
    // the events of the run there are passed on as they are
    endEvents: () => [],
    async execute(child) {
      const placed = requirements.map((one, index) => ({ requirement: one, toolKey: `tool:0:${index}` }));
      const filled = await askHere(child, component.remote.service.address, placed, leg, new Set());
      const answers = requirements.map((one) => filled.get(one) ?? one);
      return { content: '', contentType: 'str', extra: { executor_requirements: answers } };
    },
  };
  if (openIds(requirements).length === 0) return requirement;
  const { result } = await runChild(context, {
    key: `node:${topOf(requirement)}:run:${leg}-${place}`,
    kind: 'step',
    executable,
    input: { content: '', media: [], options: { stream: false } },
    fields: { workflow_id: context.run.componentId, workflow_run_id: context.run.runId },
    depth: context.depth + 1,
  });
  return { ...requirement, executor_requirements: result.extra?.executor_requirements ?? requirements };
}
