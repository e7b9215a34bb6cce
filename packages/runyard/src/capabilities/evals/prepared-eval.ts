import { errors } from '../../core/errors/errors.js';
import type { EvalCase } from '../../core/evals/eval-case.js';
import type { EvalPlan } from '../../core/evals/eval-plan.js';
import type { EvalSubject } from '../../core/evals/evaluated-run.js';
import type { ModelPrices } from '../../core/models/prices.js';
import type { RunSpace } from '../capability.js';
import type { Component, ComponentsService } from '../components/service.js';
import type { RunsService } from '../runs/service.js';
import { type JudgeSettings, judgeOf, modelOf } from './eval-models.js';
import type { EvalScorers } from './eval-scorers.js';
import { callerFrom } from './stored-caller.js';
import type { StoredPlan } from './stored-eval.js';
import { ComponentSubject, StoredRunsSubject } from './subject.js';

export interface PreparingOptions {
  readonly components: ComponentsService;
  readonly runs: RunsService;
  readonly settings: JudgeSettings;
  readonly scorers: EvalScorers;
  readonly prices: ModelPrices;
}

/** What a stored plan means in this process, for the job of its eval. */
export async function preparedEval(
  options: PreparingOptions,
  space: RunSpace,
  evalId: string,
  stored: StoredPlan,
): Promise<{ subject: EvalSubject; plan: EvalPlan }> {
  const { components, settings, scorers } = options;
  const { component: about, model, evaluation, iterations, warmups, concurrency } = stored;
  const component =
    about === null ? undefined : await components.shown(about.kind, about.id, { configs: stored.configs });
  const judge = judgeOf(component, model, components, settings);
  const plan: EvalPlan = {
    evalId,
    cases: await casesOf(space, stored),
    iterations,
    warmups,
    concurrency,
    scorers: await scorers.of(evaluation),
    ...(judge !== undefined && { judge }),
    ...(evaluation.evalType === 'performance' && { heapUsed: () => process.memoryUsage().heapUsed }),
  };
  return { subject: subjectOf(options, space, stored, component), plan };
}

function subjectOf(
  { runs, prices }: PreparingOptions,
  space: RunSpace,
  { caller: storedBy, component, model, configs, factoryInput, runs: references }: StoredPlan,
  evaluated: Component | undefined,
): EvalSubject {
  const caller = callerFrom(storedBy);
  const { kind, id, name } = component ?? { kind: 'agent', id: '', name: null };
  const facts = { kind, id, name, model: modelOf(evaluated) ?? null };
  if (references !== undefined) {
    const subject = new StoredRunsSubject(space, caller, references, prices);
    return { ...facts, run: (request) => subject.run(request) };
  }
  if (component === null) throw errors.componentNotFound(kind);
  const subject = new ComponentSubject({ runs, caller, component, model, configs, factoryInput, prices });
  return { ...facts, run: (request) => subject.run(request) };
}

/** What is expected of all cases, and given to all of them, is stored once. */
async function casesOf(space: RunSpace, stored: StoredPlan): Promise<EvalCase[]> {
  const { cases, runs = [], evaluation, sessionState, dependencies } = stored;
  const { expectedOutput } = evaluation;
  const given = cases ?? (await Promise.all(runs.map(({ runId }) => caseOfRun(space, runId))));
  return given.map((one) => ({
    ...(expectedOutput !== undefined && { expectedOutput }),
    ...one,
    ...((sessionState ?? one.sessionState) && { sessionState: { ...sessionState, ...one.sessionState } }),
    ...((dependencies ?? one.dependencies) && { dependencies: { ...dependencies, ...one.dependencies } }),
  }));
}

async function caseOfRun(space: RunSpace, runId: string): Promise<EvalCase> {
  const run = await space.runs.find({ kind: 'all' }, runId);
  return { id: runId, input: run?.input.content ?? '' };
}
