import type { StepOutput } from '../../events/workflow-event.js';
import type { LoopNode } from '../definition/node.js';
import type { NodeView } from '../fold/node-view.js';
import { childPath, type GroupRecord } from '../journal-records.js';
import { reviewIteration } from '../review/review-iteration.js';
import { decide, readBoolean } from './decide.js';
import {
  type Flow,
  hasBegun,
  type ListResult,
  type Place,
  placeInside,
  runList,
  Scope,
  stepFields,
  stepInput,
  tell,
  variablesOf,
} from './flow.js';

interface Iteration {
  readonly number: number;
  /** Where its steps stand. */
  readonly path: string;
  readonly done: ListResult;
  readonly scope: Scope;
}

/** Iterations until the end condition is met, a person ends the loop, or the maximum is reached. */
export async function runLoop(flow: Flow, node: LoopNode, place: Place, outer: Scope): Promise<GroupRecord> {
  const fields = stepFields(node, place);
  const { maxIterations } = node;
  const kept: Iteration[] = [];
  if (!hasBegun(flow, firstOf(place, 1, 0)))
    tell(flow, place, 'started', {
      event: 'LoopExecutionStarted',
      ...fields,
      max_iterations: maxIterations,
    });
  for (let number = 1, goesOn = true; goesOn && number <= maxIterations; number += 1) {
    const iteration = await runIteration(flow, node, place, beginningOf(outer, node, kept.at(-1)), number);
    if (iteration === 'skipped')
      return {
        children: [],
        note: `Loop '${node.name}' was skipped: an iteration was rejected.`,
        stop: false,
        skipped: true,
      };
    kept.push(iteration);
    const isDone = iteration.done.stopped || (await isMet(flow, node, place, iteration));
    goesOn = !isDone && number < maxIterations;
    if (!hasBegun(flow, firstOf(place, number + 1, 0))) tellOfIteration(flow, node, place, iteration, goesOn);
  }
  tell(flow, place, 'completed', {
    event: 'LoopExecutionCompleted',
    ...fields,
    total_iterations: kept.length,
    max_iterations: maxIterations,
    all_results: kept.map(({ done }) => resultsOf(done.views)),
  });
  return {
    children: kept.flatMap(({ done }) => done.keys),
    iterations: kept.map(({ done }) => done.keys.length),
    stop: kept.at(-1)?.done.stopped ?? false,
  };
}

/** One iteration, repeated for as long as a person rejects it. */
async function runIteration(
  flow: Flow,
  node: LoopNode,
  place: Place,
  beginning: Scope,
  number: number,
): Promise<Iteration | 'skipped'> {
  const fields = stepFields(node, place);
  for (let retry = 0, feedback: string | null = null; ; retry += 1) {
    const path = childPath.iteration(place.path, number, retry);
    const scope: Scope = beginning.fork(
      feedback === null
        ? beginning.additionalData
        : { ...beginning.additionalData, rejection_feedback: feedback },
    );
    if (!hasBegun(flow, firstOf(place, number, retry)))
      tell(flow, place, `iteration:${number}:${retry}:started`, {
        event: 'LoopIterationStarted',
        ...fields,
        iteration: number,
        max_iterations: node.maxIterations,
      });
    const done = await runList(flow, node.steps, scope, (position) =>
      placeInside(flow, place, childPath.of(path, position), position, number),
    );
    const iteration = { number, path, done, scope };
    if (!node.review?.requiresIterationReview) return iteration;
    const verdict = await reviewIteration(flow, node, node.review, place, { number, retry });
    if (verdict.verdict === 'kept') return iteration;
    if (verdict.verdict === 'skipped') return 'skipped';
    feedback = verdict.feedback;
  }
}

function firstOf(place: Place, iteration: number, retry: number): string {
  return childPath.of(childPath.iteration(place.path, iteration, retry), 0);
}

/** Each iteration begins where the loop began, with what all steps before it made at hand. */
function beginningOf(outer: Scope, { forwardOutput }: LoopNode, last: Iteration | undefined): Scope {
  if (last === undefined) return outer.fork();
  const { scope } = last;
  const previous = forwardOutput ? scope.previous : outer.previous;
  return new Scope(
    previous,
    new Map(scope.outputs),
    forwardOutput ? scope.media : outer.media,
    outer.additionalData,
  );
}

function tellOfIteration(
  flow: Flow,
  node: LoopNode,
  place: Place,
  { number, done }: Iteration,
  goesOn: boolean,
): void {
  tell(flow, place, `iteration:${number}:completed`, {
    event: 'LoopIterationCompleted',
    ...stepFields(node, place),
    iteration: number,
    max_iterations: node.maxIterations,
    iteration_results: resultsOf(done.views),
    should_continue: goesOn,
  });
}

function resultsOf(views: readonly NodeView[]): StepOutput[] {
  return views.map(({ output }) => output);
}

async function isMet(flow: Flow, node: LoopNode, place: Place, iteration: Iteration): Promise<boolean> {
  const { name, until, maxIterations } = node;
  if (until === undefined) return false;
  const { number, path, done, scope } = iteration;
  const outputs = done.views.map(({ output }) => output);
  const allSuccess = outputs.every(({ success }) => success);
  const last = done.views.findLast((view) => view.last !== undefined)?.last?.content ?? null;
  return decide(
    flow,
    { path },
    {
      key: 'until',
      what: `Whether loop '${name}' ends`,
      by: until,
      node,
      variables: () => ({
        ...variablesOf(flow, scope),
        current_iteration: number,
        max_iterations: maxIterations,
        all_success: allSuccess,
        last_step_content: last,
        step_outputs: Object.fromEntries(outputs.map(({ step_name, content }) => [step_name, content])),
      }),
      ask: (ask, state) =>
        ask(
          Object.assign(stepInput(flow, { ...place, iteration: number }, scope, state), {
            outputs,
            allSuccess,
            lastStepContent: last,
          }),
        ),
    },
    readBoolean,
  );
}
