import { errors } from '../../core/errors/errors.js';
import { type EvalType, evalTypes } from '../../core/evals/eval-types.js';
import type { EventReader } from '../../core/runs/events/event-reader.js';
import { RunReleased } from '../../core/runs/executable.js';
import type { Caller } from '../../platform/auth/caller.js';
import type { DatabaseQuery } from '../../platform/http/request/database-query.js';
import { offsetOf, type PageRequest } from '../../platform/http/request/pagination.js';
import type { RunSpace } from '../capability.js';
import type { SessionRunsService } from '../runs/session-runs-service.js';
import { type ComparedEvals, compareStored } from './comparison/compare-stored.js';
import { type PlanningOptions, plannedEval } from './planning.js';
import type { EvalBody, ListEvalsQuery } from './schema.js';
import { type EvalFilter, isEvalSort } from './store.js';
import type { StoredEval, StoredResult } from './stored-eval.js';

/** A page of a list: how long the list is, and the entries, which are read as they are asked for. */
export interface EvalsPage {
  readonly total: number;
  readonly entries: AsyncIterable<StoredEval>;
}

/** The same of the results of one eval. */
export interface ResultsPage {
  readonly total: number;
  readonly entries: AsyncIterable<StoredResult>;
}

export interface EvalsServiceOptions extends PlanningOptions {
  readonly sessions: SessionRunsService;
}

const rowsAtOnce = 20;

const clientLeft = 'The client disconnected';
const onRequest = 'The eval was cancelled on request';
const deleted = 'The eval was deleted';

/** Executes evals, and shows them to those who may see them. */
export class EvalsService {
  constructor(private readonly options: EvalsServiceOptions) {}

  /** Resolves with the eval when it has ended, or, in the background, when it is stored. */
  async start(
    caller: Caller,
    query: DatabaseQuery,
    body: EvalBody,
    signal: AbortSignal,
  ): Promise<StoredEval> {
    const { space, stored, plan } = await plannedEval(this.options, caller, query, body);
    const { evals } = space;
    await evals.start(stored, plan);
    if (body.background) return this.shown(caller, space, stored.id);
    try {
      await evals.ended(stored.id, signal);
    } catch (error) {
      if (signal.aborted) await evals.cancel(stored, clientLeft);
      // the service stops: the eval continues, and is answered as if it had been started in the background
      else if (!(error instanceof RunReleased)) throw error;
    }
    const ended = await this.shown(caller, space, stored.id);
    if (ended.status === 'error')
      throw errors.evalFailed(ended.evalType, ended.error ?? 'The log has the details.');
    return ended;
  }

  async list(caller: Caller, query: ListEvalsQuery): Promise<EvalsPage> {
    const { evals } = await this.options.spaces.choose(query);
    const { sort_by: by, sort_order: direction } = query;
    const order = { by: isEvalSort(by) ? by : 'created_at', direction } as const;
    const range = { limit: query.limit, offset: offsetOf(query) };
    const { ids, total } = await evals.store.ids(caller.scope, filterOf(query), order, range);
    async function* entries() {
      for (let at = 0; at < ids.length; at += rowsAtOnce) {
        const found = await evals.store.named(caller.scope, ids.slice(at, at + rowsAtOnce));
        for (const stored of found) yield (await evals.current(caller.scope, stored)) ?? stored;
      }
    }
    return { total, entries: entries() };
  }

  async get(caller: Caller, query: DatabaseQuery, evalId: string): Promise<StoredEval> {
    return this.shown(caller, await this.options.spaces.choose(query), evalId);
  }

  async rename(caller: Caller, query: DatabaseQuery, evalId: string, name: string): Promise<StoredEval> {
    const space = await this.options.spaces.choose(query);
    const isFound = await space.evals.store.rename(caller.scope, evalId, name, Date.now());
    if (!isFound) throw errors.evalNotFound(evalId);
    return this.shown(caller, space, evalId);
  }

  async cancel(caller: Caller, query: DatabaseQuery, evalId: string): Promise<StoredEval> {
    const space = await this.options.spaces.choose(query);
    await space.evals.cancel(await this.shown(caller, space, evalId), onRequest);
    return this.shown(caller, space, evalId);
  }

  /** Deletes those of the evals that the caller may see. Does not reveal whether there were any. */
  async remove(
    caller: Caller,
    query: DatabaseQuery,
    evalIds: readonly string[],
    withSessions: boolean,
  ): Promise<void> {
    const space = await this.options.spaces.choose(query);
    const { store } = space.evals;
    for (let at = 0; at < evalIds.length; at += rowsAtOnce) {
      const found = await store.named(caller.scope, evalIds.slice(at, at + rowsAtOnce));
      for (const stored of found) {
        await space.evals.cancel(stored, deleted);
        if (withSessions) await this.removeSessions(caller, space, stored);
      }
      if (found.length > 0)
        await store.remove(
          caller.scope,
          found.map(({ id }) => id),
        );
    }
  }

  /** The events of its execution after the last one that a reader has (-1: none). */
  async events(
    caller: Caller,
    query: DatabaseQuery,
    evalId: string,
    after: number,
  ): Promise<EventReader | undefined> {
    const space = await this.options.spaces.choose(query);
    await this.shown(caller, space, evalId);
    return space.evals.events(evalId, after);
  }

  async results(caller: Caller, query: DatabaseQuery & PageRequest, evalId: string): Promise<ResultsPage> {
    const space = await this.options.spaces.choose(query);
    await this.shown(caller, space, evalId);
    const { results } = space.evals;
    const range = { limit: query.limit, offset: offsetOf(query) };
    return { total: await results.count(evalId), entries: results.read(evalId, range) };
  }

  /** An eval in comparison with another one. The caller may see both. */
  async compare(
    caller: Caller,
    query: DatabaseQuery,
    evalId: string,
    withId: string,
    level: number,
  ): Promise<ComparedEvals> {
    const space = await this.options.spaces.choose(query);
    const after = await this.shown(caller, space, evalId);
    return compareStored(space.evals.results, await this.shown(caller, space, withId), after, level);
  }

  private async shown(caller: Caller, { evals }: RunSpace, evalId: string): Promise<StoredEval> {
    const stored = await evals.find(caller.scope, evalId);
    if (stored === undefined) throw errors.evalNotFound(evalId);
    return stored;
  }

  /** Those that the eval created: their ids follow from its own. */
  private async removeSessions(
    caller: Caller,
    space: RunSpace,
    { id, component }: StoredEval,
  ): Promise<void> {
    const found = await space.evals.store.withPlan(id);
    if (found?.plan.cases === undefined || component === null) return;
    const { cases, iterations, warmups } = found.plan;
    const { kind, id: componentId } = component;
    const evaluated = await this.options.components.shown(kind, componentId, { configs: found.plan.configs });
    const home = evaluated === undefined ? space : await this.options.spaces.get(evaluated.settings.database);
    const sessionIds = [
      ...numbered(`eval_${id}_`, cases.length * iterations),
      ...numbered(`eval_${id}_warmup_`, cases.length * warmups),
    ];
    const sessions = await this.options.sessions.in({ db_id: home.databaseId });
    await sessions.remove(caller.scope, sessionIds);
  }
}

function numbered(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_each, at) => `${prefix}${at + 1}`);
}

function filterOf(query: ListEvalsQuery): EvalFilter {
  return {
    agentId: query.agent_id,
    teamId: query.team_id,
    workflowId: query.workflow_id,
    modelId: query.model_id,
    datasetId: query.dataset_id,
    kind: query.type,
    evalTypes: evalTypesOf(query.eval_types),
    status: query.status,
  };
}

function evalTypesOf(text: string | undefined): EvalType[] | undefined {
  if (text === undefined || text === '') return undefined;
  return text.split(',').map((part) => {
    const name = part.trim();
    const known = evalTypes.find((type) => type === name);
    if (known === undefined) throw errors.evalTypeUnknown(name, evalTypes);
    return known;
  });
}
