import type { SelectQueryBuilder } from 'kysely';
import type { EvalType } from '../../core/evals/eval-types.js';
import type { JsonObject } from '../../core/json.js';
import type { RunKind } from '../../core/runs/run.js';
import type { DataScope } from '../../platform/auth/caller.js';
import type { Database, ListReads } from '../../platform/storage/database.js';
import { queryBuilder } from '../../platform/storage/query-builder.js';
import type { Schema } from '../../platform/storage/schema.js';
import { within } from '../../platform/storage/scope.js';
import { storedJson, storedJsonOrNull } from '../../platform/storage/text.js';
import type { EvalStatus, StoredEval, StoredPlan } from './stored-eval.js';
import type { EvalRunsTable } from './tables.js';

/** All that is given has to fit. */
export interface EvalFilter {
  readonly agentId?: string | undefined;
  readonly teamId?: string | undefined;
  readonly workflowId?: string | undefined;
  readonly modelId?: string | undefined;
  readonly datasetId?: string | undefined;
  readonly kind?: RunKind | undefined;
  readonly evalTypes?: readonly EvalType[] | undefined;
  readonly status?: EvalStatus | undefined;
}

/** What a list can be sorted by: the names of the wire and their columns. */
const sorts = {
  id: 'eval_run_id',
  name: 'name',
  eval_type: 'eval_type',
  agent_id: 'agent_id',
  team_id: 'team_id',
  workflow_id: 'workflow_id',
  model_id: 'model_id',
  model_provider: 'model_provider',
  evaluated_component_name: 'component_name',
  status: 'status',
  created_at: 'created_at',
  updated_at: 'updated_at',
} as const;

export type EvalSort = keyof typeof sorts;

export function isEvalSort(name: string): name is EvalSort {
  return Object.hasOwn(sorts, name);
}

export interface EvalOrder {
  readonly by: EvalSort;
  readonly direction: 'asc' | 'desc';
}

interface Range {
  readonly limit: number;
  readonly offset: number;
}

/** All but the plan, which may be large. */
const columns = [
  'eval_run_id',
  'user_id',
  'eval_type',
  'name',
  'agent_id',
  'team_id',
  'workflow_id',
  'component_name',
  'model_id',
  'model_provider',
  'dataset_id',
  'status',
  'error',
  'total',
  'done',
  'failed',
  'eval_input',
  'eval_data',
  'created_at',
  'updated_at',
] as const;

type EvalRow = Pick<EvalRunsTable, (typeof columns)[number]>;
type Evals = SelectQueryBuilder<Schema, 'eval_runs', object>;

const unfinished = ['pending', 'running'] as const;

/** How an eval ended. */
export interface EvalEnd {
  readonly status: 'completed' | 'error' | 'cancelled';
  readonly error?: string | null;
  readonly evalData: JsonObject;
}

/** What is stored of the evals of a database. */
export class EvalStore {
  constructor(private readonly database: Database) {}

  async add(stored: StoredEval, plan: StoredPlan): Promise<void> {
    const { component, model } = stored;
    await this.database.query
      .insertInto('eval_runs')
      .values({
        eval_run_id: stored.id,
        user_id: stored.userId,
        eval_type: stored.evalType,
        name: stored.name,
        agent_id: idIf('agent', component),
        team_id: idIf('team', component),
        workflow_id: idIf('workflow', component),
        component_name: component?.name ?? null,
        model_id: model?.id ?? null,
        model_provider: model?.provider ?? null,
        dataset_id: stored.datasetId,
        status: stored.status,
        error: stored.error,
        total: stored.total,
        done: stored.done,
        failed: stored.failed,
        eval_input: JSON.stringify(stored.evalInput),
        eval_data: stored.evalData && JSON.stringify(stored.evalData),
        plan: JSON.stringify(plan),
        created_at: stored.createdAt,
        updated_at: stored.updatedAt,
      })
      .execute();
  }

  async find(scope: DataScope, id: string): Promise<StoredEval | undefined> {
    const row = await this.visible(scope).where('eval_run_id', '=', id).select(columns).executeTakeFirst();
    return row && evalFromRow(row);
  }

  /** For the job of the eval, which serves no caller. */
  async withPlan(
    id: string,
  ): Promise<{ readonly stored: StoredEval; readonly plan: StoredPlan } | undefined> {
    const row = await this.database.query
      .selectFrom('eval_runs')
      .where('eval_run_id', '=', id)
      .select([...columns, 'plan'])
      .executeTakeFirst();
    return row && { stored: evalFromRow(row), plan: storedJson(row.plan) };
  }

  async ids(
    scope: DataScope,
    filter: EvalFilter,
    { by, direction }: EvalOrder,
    { limit, offset }: Range,
  ): Promise<{ readonly ids: readonly string[]; readonly total: number }> {
    const selection = this.filtered(scope, filter);
    const { count } = await selection
      .select((select) => select.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    const total = Number(count);
    if (offset >= total) return { ids: [], total };
    const { sql } = queryBuilder();
    const column = sorts[by];
    // both databases in the same order: what has no value last, texts by their characters
    const isTime = column === 'created_at' || column === 'updated_at';
    const sorted = isTime
      ? selection.orderBy(column, direction)
      : selection.orderBy(sql`${sql.ref(column)} is null`).orderBy(this.plain(column), direction);
    const rows = await sorted
      .orderBy(this.plain('eval_run_id'), direction)
      .select('eval_run_id')
      .limit(limit)
      .offset(offset)
      .execute();
    return { ids: rows.map((row) => row.eval_run_id), total };
  }

  /** Those of these ids, in their order. */
  async named(scope: DataScope, ids: readonly string[]): Promise<StoredEval[]> {
    if (ids.length === 0) return [];
    const rows = await this.visible(scope).where('eval_run_id', 'in', ids).select(columns).execute();
    const found = new Map(rows.map((row) => [row.eval_run_id, row]));
    return ids.flatMap((id) => found.get(id) ?? []).map(evalFromRow);
  }

  /** False when there is no such eval that the scope shows. */
  async rename(scope: DataScope, id: string, name: string, now: number): Promise<boolean> {
    const update = this.database.query
      .updateTable('eval_runs')
      .set({ name, updated_at: now })
      .where('eval_run_id', '=', id);
    return (await within(update, scope, 'user_id').executeTakeFirst()).numUpdatedRows > 0n;
  }

  async begin(id: string, now: number): Promise<void> {
    await this.database.query
      .updateTable('eval_runs')
      .set({ status: 'running', updated_at: now })
      .where('eval_run_id', '=', id)
      .where('status', '=', 'pending')
      .execute();
  }

  /** Says how it ended, once. */
  async settle(id: string, { status, error = null, evalData }: EvalEnd, now: number): Promise<void> {
    await this.database.query
      .updateTable('eval_runs')
      .set({ status, error, eval_data: JSON.stringify(evalData), updated_at: now })
      .where('eval_run_id', '=', id)
      .where('status', 'in', unfinished)
      .execute();
  }

  /** With their results. */
  async remove(scope: DataScope, ids: readonly string[]): Promise<void> {
    const removal = this.database.query.deleteFrom('eval_runs').where('eval_run_id', 'in', ids);
    await within(removal, scope, 'user_id').execute();
  }

  private filtered(scope: DataScope, filter: EvalFilter): Evals {
    let selection = this.visible(scope, this.database.lists);
    const equal = {
      agent_id: filter.agentId,
      team_id: filter.teamId,
      workflow_id: filter.workflowId,
      dataset_id: filter.datasetId,
      status: filter.status,
    };
    for (const [column, value] of Object.entries(equal)) {
      // the keys of the object above
      if (value !== undefined) selection = selection.where(column as keyof typeof equal, '=', value);
    }
    const { modelId, kind, evalTypes } = filter;
    // the ids of requested models are stored in lower case
    if (modelId !== undefined)
      selection = selection.where('model_id', 'in', [modelId, modelId.toLowerCase()]);
    if (kind !== undefined) selection = selection.where(`${kind}_id`, 'is not', null);
    return evalTypes === undefined ? selection : selection.where('eval_type', 'in', evalTypes);
  }

  private visible(scope: DataScope, reads: ListReads = this.database): Evals {
    return within(reads.query.selectFrom('eval_runs'), scope, 'user_id');
  }

  private plain(column: string) {
    const { sql } = queryBuilder();
    return this.database.dialect === 'sqlite'
      ? sql<string>`${sql.ref(column)}`
      : sql<string>`${sql.ref(column)} collate "C"`;
  }
}

function idIf(kind: RunKind, component: StoredEval['component']): string | null {
  return component?.kind === kind ? component.id : null;
}

function evalFromRow(row: EvalRow): StoredEval {
  return {
    id: row.eval_run_id,
    userId: row.user_id,
    // written by `add` and `settle` alone
    evalType: row.eval_type as EvalType,
    name: row.name,
    component: componentOf(row),
    model: row.model_id === null ? null : { id: row.model_id, provider: row.model_provider ?? row.model_id },
    datasetId: row.dataset_id,
    // written by `add`, `begin` and `settle` alone
    status: row.status as EvalStatus,
    error: row.error,
    total: row.total,
    done: row.done,
    failed: row.failed,
    evalInput: storedJson(row.eval_input),
    evalData: storedJsonOrNull(row.eval_data),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function componentOf(row: EvalRow): StoredEval['component'] {
  const name = row.component_name;
  if (row.agent_id !== null) return { kind: 'agent', id: row.agent_id, name };
  if (row.team_id !== null) return { kind: 'team', id: row.team_id, name };
  return row.workflow_id === null ? null : { kind: 'workflow', id: row.workflow_id, name };
}
