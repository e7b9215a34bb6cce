import { errors } from '../../core/errors/errors.js';
import type { EvalCase } from '../../core/evals/eval-case.js';
import { evalBounds } from '../../core/evals/eval-plan.js';
import { ComponentFactory } from '../../core/factories/component-factory.js';
import { newId } from '../../core/ids.js';
import type { Caller } from '../../platform/auth/caller.js';
import type { DatabaseQuery } from '../../platform/http/request/database-query.js';
import type { RunSpace, Spaces } from '../capability.js';
import type { Component, ComponentsService } from '../components/service.js';
import { type JudgeSettings, judgeOf, modelOfEval, requestedModel } from './eval-models.js';
import { type CaseSource, caseSource, evalInputOf, evaluationOf, namedComponent } from './eval-request.js';
import type { EvalScorers } from './eval-scorers.js';
import type { EvalBody } from './schema.js';
import { storedCaller } from './stored-caller.js';
import type { EvaluatedComponent, StoredEval, StoredPlan, StoredRunReference } from './stored-eval.js';

export interface PlanningOptions {
  readonly components: ComponentsService;
  readonly spaces: Spaces;
  readonly settings: JudgeSettings & { readonly evalsNeedRunScope: boolean };
  readonly scorers: EvalScorers;
}

export interface PlannedEval {
  readonly space: RunSpace;
  readonly stored: StoredEval;
  readonly plan: StoredPlan;
}

/** The case of an eval of a single input. */
const onlyCase = 'input';
const severalAtOnce = 4;
/** The cases are stored with the eval, so that it means the same when their dataset has changed. */
const longestPlan = 16 * 1024 * 1024;

interface FoundCases {
  readonly cases?: readonly EvalCase[];
  readonly runs?: readonly StoredRunReference[];
  readonly datasetId: string | null;
  /** The revision of the dataset that the cases are of. */
  readonly datasetRevision?: number;
}

/** Reads a request for an eval. Whatever is wrong with it, or not allowed, is found before anything is done. */
export async function plannedEval(
  options: PlanningOptions,
  caller: Caller,
  query: DatabaseQuery,
  body: EvalBody,
): Promise<PlannedEval> {
  const source = caseSource(body);
  const named = namedComponent(body);
  if (named === undefined && !('runIds' in source)) throw errors.evalComponentRequired();
  if (named !== undefined && !('runIds' in source)) assertMayRun(options, caller, named);
  const { version = null } = body;
  const component =
    named && (await options.components.resolve(named.kind, named.id, { version: version ?? undefined }));
  if (named !== undefined && component === undefined)
    throw errors.evalComponentNotFound(
      named.kind,
      named.id,
      await options.components.lackOf(named.kind, named.id, version ?? undefined),
    );
  const evaluation = evaluationOf(body, 'dataset' in source);
  const scorers = await options.scorers.of(evaluation);
  const isJudged = scorers.some(({ needsJudge }) => needsJudge);
  const model = requestedModel(body);
  if (model !== undefined && named?.kind === 'workflow') throw errors.evalModelFixed();
  if (isJudged && judgeOf(component, model, options.components, options.settings) === undefined)
    throw errors.judgeRequired();
  if ('runIds' in source) refuseForStoredRuns(body, model);
  const space = await spaceFor(options, query, component);
  const found = await casesOf(caller, space, source, named);
  const about =
    named === undefined ? await commonComponent(options, found.runs ?? []) : shown(named, component);
  const count = found.cases?.length ?? found.runs?.length ?? 0;
  const iterations = body.num_iterations;
  const warmups = body.eval_type === 'performance' ? body.warmup_runs : 0;
  checkSize(count, iterations + warmups);
  const now = Date.now();
  const origin = originOf(component);
  const { datasetId, datasetRevision, ...cases } = found;
  const plan: StoredPlan = {
    caller: storedCaller(caller),
    component: about,
    ...(model !== undefined && { model }),
    ...(origin !== undefined && { configs: origin.configs }),
    evaluation,
    ...cases,
    iterations,
    warmups,
    concurrency: body.concurrency ?? (count === 1 || body.eval_type === 'performance' ? 1 : severalAtOnce),
    ...(body.session_state && { sessionState: body.session_state }),
    ...(body.dependencies && { dependencies: body.dependencies }),
    ...(body.factory_input && { factoryInput: body.factory_input }),
  };
  const { length } = JSON.stringify(plan);
  if (length > longestPlan)
    throw errors.evalTooLarge(`The cases have ${length} characters as JSON. The limit is ${longestPlan}.`);
  const stored: StoredEval = {
    id: newId(),
    userId: caller.userId,
    evalType: body.eval_type,
    name: body.name ?? null,
    component: about,
    model: modelOfEval(body.eval_type, component, model),
    datasetId,
    status: 'pending',
    error: null,
    total: count * iterations,
    done: 0,
    failed: 0,
    evalInput: {
      ...evalInputOf(body, source),
      ...(datasetRevision !== undefined && { dataset_revision: datasetRevision }),
      ...(origin !== undefined && { version: origin.version }),
    },
    evalData: null,
    createdAt: now,
    updatedAt: now,
  };
  return { space, stored, plan };
}

/** To evaluate is to run: the scope of evals alone opens no component. */
function assertMayRun(
  { settings }: PlanningOptions,
  { rights }: Caller,
  { kind, id }: Pick<EvaluatedComponent, 'kind' | 'id'>,
): void {
  const scope = `${kind}s:run`;
  if (settings.evalsNeedRunScope && !rights.may(scope, id)) throw errors.insufficientScope([scope]);
}

function refuseForStoredRuns(body: EvalBody, model: string | undefined): void {
  if (body.eval_type === 'performance') throw errors.evalOfStoredRuns('performance');
  if (model !== undefined) throw errors.evalOfStoredRuns('model_id');
}

/** The database that the request names, or that of the component. */
function spaceFor(
  { spaces }: PlanningOptions,
  query: DatabaseQuery,
  component: Component | undefined,
): RunSpace | Promise<RunSpace> {
  const isNamed = query.db_id !== undefined || query.table !== undefined;
  return isNamed || component === undefined ? spaces.choose(query) : spaces.get(component.settings.database);
}

async function casesOf(
  caller: Caller,
  space: RunSpace,
  source: CaseSource,
  named: Pick<EvaluatedComponent, 'kind' | 'id'> | undefined,
): Promise<FoundCases> {
  if ('input' in source) return { cases: [{ id: onlyCase, input: source.input }], datasetId: null };
  if ('dataset' in source) {
    const { id, cases, revision } = await space.datasets.casesOf(caller, source.dataset);
    return { cases, datasetId: id, datasetRevision: revision };
  }
  const runs: StoredRunReference[] = [];
  for (const runId of source.runIds) runs.push(await readableRun(caller, space, runId, named));
  return { runs, datasetId: null };
}

/** A stored run that the caller may read; any other one does not exist for them. */
async function readableRun(
  { scope, rights }: Caller,
  space: RunSpace,
  runId: string,
  named: Pick<EvaluatedComponent, 'kind' | 'id'> | undefined,
): Promise<StoredRunReference> {
  const run = await space.runs.find(scope, runId);
  if (run === undefined) throw errors.runNotFound();
  const { kind, componentId, status } = run;
  if (!rights.may(`${kind}s:read`, componentId) && !rights.may(`${kind}s:run`, componentId))
    throw errors.runNotFound();
  if (named !== undefined && (named.kind !== kind || named.id !== componentId))
    throw errors.evalRunElsewhere(runId, named.kind, named.id);
  if (status === 'pending' || status === 'running') throw errors.evalRunNotEnded(runId);
  return { runId, kind, componentId };
}

/** What all of the runs are runs of; null for runs of several components. */
async function commonComponent(
  { components }: PlanningOptions,
  runs: readonly StoredRunReference[],
): Promise<EvaluatedComponent | null> {
  const [first] = runs;
  if (first === undefined) return null;
  const { kind, componentId: id } = first;
  const isCommon = runs.every((run) => run.kind === kind && run.componentId === id);
  return isCommon ? shown({ kind, id }, await components.shown(kind, id)) : null;
}

/** All runs of an eval are runs of one state of a stored component, whatever is published in the meantime. */
function originOf(component: Component | undefined) {
  return component === undefined || component instanceof ComponentFactory ? undefined : component.origin;
}

function shown(
  { kind, id }: Pick<EvaluatedComponent, 'kind' | 'id'>,
  component: Component | undefined,
): EvaluatedComponent {
  return { kind, id, name: component?.name ?? null };
}

function checkSize(count: number, executions: number): void {
  const { cases, runs } = evalBounds;
  if (count === 0) throw errors.evalWithoutCases();
  if (count > cases) throw errors.evalTooLarge(`${count} cases are too many. The limit is ${cases}.`);
  if (count * executions > runs)
    throw errors.evalTooLarge(
      `${count * executions} runs are too many. The limit is ${runs}: lower num_iterations.`,
    );
}
