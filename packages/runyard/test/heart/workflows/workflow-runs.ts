import { expect } from 'vitest';
import type { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { errors } from '../../../src/core/errors/errors.js';
import type { JsonObject } from '../../../src/core/json.js';
import type { RunEngine } from '../../../src/core/runs/engine.js';
import { executorRunsOf, nodeStates, stepResultsOf } from '../../../src/core/workflows/fold/workflow-fold.js';
import { stepAnswers } from '../../../src/core/workflows/review/step-answers.js';
import { workflowRequirementsOf } from '../../../src/core/workflows/review/workflow-requirements.js';
import { type ReviewSettings, type StepContext, step, type Workflow, workflow } from '../../../src/index.js';
import { allEvents, begin, engineOver, freshStore, goOn } from '../harness.js';

export type WireEvent = JsonObject & { event: string };

/** A workflow in an engine of its own, run until it ends or waits, and how to look at it and to answer it. */
export async function ran(component: Workflow, more: Parameters<typeof begin>[2] = {}) {
  const store = await freshStore();
  const engine = engineOver(store, [component]);
  const handle = await begin(engine, component, more);
  const { run } = await handle.ended;
  return workflowRun(store, engine, run.runId);
}

export function workflowRun(store: RunStore, engine: RunEngine, runId: string) {
  const look = async () => {
    const { run, steps } = (await store.load(runId))!;
    return {
      run,
      steps,
      results: stepResultsOf(run, steps),
      runs: executorRunsOf(run, steps),
      states: nodeStates(run, steps),
      requirements: workflowRequirementsOf(run, steps),
    };
  };
  const events = async (): Promise<WireEvent[]> => {
    const all = await allEvents({ events: () => engine.events(runId, 0) });
    return all.map(({ data }) => JSON.parse(data) as WireEvent);
  };
  /** Sends the requirements back, with the given values in the last of them. */
  const answer = async (given: JsonObject, kind: 'step' | 'error' = 'step') => {
    const { run, steps, requirements } = await look();
    const fill = (list: readonly JsonObject[]) =>
      list.map((body, position) => (position === list.length - 1 ? { ...body, ...given } : body));
    const { stepRequirements, errorRequirements } = requirements;
    const source = stepAnswers({
      stepRequirements: kind === 'step' ? fill(stepRequirements) : stepRequirements,
      errorRequirements: kind === 'error' ? fill(errorRequirements) : errorRequirements,
    });
    const { answers } = source.match(run, steps, new Map());
    if (answers.size === 0) throw errors.unresolvedRequirements();
    await (await engine.answer(runId, { answers, continuation: goOn })).ended;
    return look();
  };
  const names = async () => (await events()).map(({ event }) => event);
  return { runId, store, engine, look, events, names, answer };
}

/** Names of the events with their subjects. */
export function eventNames(events: readonly WireEvent[]): string[] {
  return events.map(({ event, step_name }) =>
    step_name === undefined ? event : `${event} ${String(step_name)}`,
  );
}

/**
 * Runs the workflow in an engine that dies when `reached` is open and what it needs is stored, and then in another
 * one over the same store.
 */
export async function diesAndRecovers(
  make: () => Workflow,
  reached: Promise<unknown>,
  isStored: (keys: readonly string[]) => boolean,
  dying: Parameters<typeof engineOver>[2] = {},
) {
  const store = await freshStore();
  const first = make();
  const dead = engineOver(store, [first], { owner: 'dead', leaseMs: 1, ...dying });
  const { runId } = await begin(dead, first, { background: true });
  await reached;
  const completed = async () =>
    ((await store.load(runId))?.steps ?? [])
      .filter(({ status }) => status === 'completed')
      .map(({ key }) => key);
  await expect.poll(async () => isStored(await completed())).toBe(true);
  await expect.poll(async () => (await store.leases.expired(10, 0)).length).toBe(1);
  const next = engineOver(store, [make()]);
  await next.recover();
  await allEvents({ events: () => next.events(runId, 0) });
  return workflowRun(store, next, runId);
}

export const before = () => 'before';
export const after = ({ previousStepContent }: StepContext) => `after ${String(previousStepContent)}`;

/** A workflow with a step in the middle that a person has a say in. */
export function reviewed(review: ReviewSettings, run: (context: StepContext) => string = () => 'done') {
  let runs = 0;
  const flow = workflow({
    id: 'w',
    steps: [
      before,
      step({
        name: 'danger',
        review,
        run: (context) => {
          runs += 1;
          return run(context);
        },
      }),
      after,
    ],
  });
  return { flow, runs: () => runs };
}
