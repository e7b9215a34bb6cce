import type { JsonObject } from '../../core/json.js';
import type { ApprovalRecord, ApprovalStatus } from '../../core/runs/approval.js';
import type { RunKind, RunStatus } from '../../core/runs/run.js';
import type { DataScope } from '../../platform/auth/caller.js';
import { type Database, statementNow } from '../../platform/storage/database.js';
import { queryBuilder } from '../../platform/storage/query-builder.js';
import { within } from '../../platform/storage/scope.js';
import { storedJson, storedJsonOrNull } from '../../platform/storage/text.js';
import type { ApprovalsTable } from './tables.js';

/**
 * An approval as others see it: without a decision in time it is `expired`. The clock of the database decides:
 * those of the processes that ask, decide and read differ.
 */
export interface Approval extends ApprovalRecord {
  readonly scheduleId: string | null;
  readonly scheduleRunId: string | null;
  readonly updatedAt: number;
  /** Of the run now; null when the run is gone. */
  readonly runStatus: RunStatus | null;
  /** Those who asked for its run; empty when the run is gone. */
  readonly askers: readonly string[];
}

/** All that is given has to fit. */
export interface ApprovalFilter {
  readonly status?: ApprovalStatus;
  readonly sourceType?: string;
  readonly approvalType?: ApprovalRecord['approvalType'];
  readonly pauseType?: string;
  readonly agentId?: string;
  readonly teamId?: string;
  readonly workflowId?: string;
  /** Without effect for a caller who sees only their own. */
  readonly userId?: string;
  readonly scheduleId?: string;
  readonly runId?: string;
}

/** A place in the list, which has the newest first. */
export interface ApprovalPlace {
  readonly createdAt: number;
  readonly approvalId: string;
}

/** A decision on an approval. */
export interface Decision {
  readonly approvalId: string;
  readonly status: 'approved' | 'rejected';
  readonly resolvedBy: string | null;
  readonly resolutionData: JsonObject | null;
}

/** The runs that can still use a decision: those that wait, or are continuing with other answers. */
const undecidedRuns: readonly RunStatus[] = ['paused', 'running', 'pending'];

/** The approvals of one database. They are made and cancelled together with their runs, by the journal. */
export class ApprovalStore {
  constructor(private readonly database: Database) {}

  list(
    scope: DataScope,
    filter: ApprovalFilter,
    page: { limit: number; offset: number },
  ): Promise<Approval[]> {
    const all = newestFirst(filtered(this.database, scope, filter));
    return this.#records(all.limit(page.limit).offset(page.offset));
  }

  /** The places of the next approvals after a place, for a list that is put together from several databases. */
  async places(
    scope: DataScope,
    filter: ApprovalFilter,
    { limit, after }: { readonly limit: number; readonly after: ApprovalPlace | undefined },
  ): Promise<ApprovalPlace[]> {
    const all = newestFirst(filtered(this.database, scope, filter));
    const rest =
      after === undefined
        ? all
        : all.where((where) =>
            where.or([
              where('approvals.created_at', '<', after.createdAt),
              where.and([
                where('approvals.created_at', '=', after.createdAt),
                where('approvals.approval_id', '<', after.approvalId),
              ]),
            ]),
          );
    const rows = await rest.select(['approvals.created_at', 'approvals.approval_id']).limit(limit).execute();
    return rows.map((row) => ({ createdAt: row.created_at, approvalId: row.approval_id }));
  }

  async count(scope: DataScope, filter: ApprovalFilter): Promise<number> {
    const row = await filtered(this.database, scope, filter)
      .select((select) => select.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return row.count;
  }

  /** Those of the approvals that are there, in no order. */
  async findAll(scope: DataScope, approvalIds: readonly string[]): Promise<Approval[]> {
    if (approvalIds.length === 0) return [];
    return this.#records(visible(this.database, scope).where('approvals.approval_id', 'in', approvalIds));
  }

  async find(scope: DataScope, approvalId: string): Promise<Approval | undefined> {
    return (await this.findAll(scope, [approvalId]))[0];
  }

  /** The approvals of a run, the newest first. */
  ofRun(scope: DataScope, runId: string): Promise<Approval[]> {
    const ofRun = visible(this.database, scope).where('approvals.run_id', '=', runId);
    return this.#records(newestFirst(ofRun));
  }

  /** Decides on an approval that is still open, once: of several who try at the same time one succeeds. */
  async resolve(decision: Decision): Promise<boolean> {
    const { approvalId, status, resolvedBy, resolutionData } = decision;
    const now = nowOf(this.database);
    const { numUpdatedRows } = await this.database.query
      .updateTable('approvals')
      .set({
        status,
        resolved_by: resolvedBy,
        resolved_at: now,
        resolution_data: resolutionData === null ? null : JSON.stringify(resolutionData),
        updated_at: now,
      })
      .where('approval_id', '=', approvalId)
      .where('status', '=', 'pending')
      .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', now)]))
      .where(({ exists, selectFrom }) =>
        exists(
          selectFrom('runs')
            .select('runs.run_id')
            .whereRef('runs.run_id', '=', 'approvals.run_id')
            .where('runs.status', 'in', undecidedRuns),
        ),
      )
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  async delete(approvalId: string): Promise<boolean> {
    const { numDeletedRows } = await this.database.query
      .deleteFrom('approvals')
      .where('approval_id', '=', approvalId)
      .executeTakeFirst();
    return numDeletedRows > 0n;
  }

  async #records(selection: Selection): Promise<Approval[]> {
    const rows = await selection
      .selectAll('approvals')
      .select(['runs.status as run_status', 'runs.askers', nowOf(this.database).as('read_at')])
      .execute();
    return rows.map(approvalFromRow);
  }
}

function nowOf({ dialect }: Database) {
  const { sql } = queryBuilder();
  return sql<number>`${sql.raw(statementNow[dialect])}`;
}

/** What the scope shows, each with its run. Where nothing of the run is asked for, databases leave the join out. */
function visible({ query }: Database, scope: DataScope) {
  const approvals = query.selectFrom('approvals').leftJoin('runs', 'runs.run_id', 'approvals.run_id');
  return within(approvals, scope, 'approvals.user_id');
}

type Selection = ReturnType<typeof visible>;

function newestFirst(selection: Selection): Selection {
  return selection.orderBy('approvals.created_at', 'desc').orderBy('approvals.approval_id', 'desc');
}

function filtered(database: Database, scope: DataScope, filter: ApprovalFilter): Selection {
  let selection = visible(database, scope);
  for (const [column, value] of wantedValues(scope, filter)) {
    selection = selection.where(`approvals.${column}`, '=', value);
  }
  return filter.status === undefined ? selection : withStatus(selection, filter.status, nowOf(database));
}

type FilterColumn =
  | 'source_type'
  | 'component_id'
  | 'approval_type'
  | 'pause_type'
  | 'user_id'
  | 'schedule_id'
  | 'run_id';

function wantedValues(scope: DataScope, filter: ApprovalFilter): (readonly [FilterColumn, string])[] {
  const ofComponent = (kind: RunKind, id: string | undefined) =>
    id === undefined
      ? []
      : ([
          ['source_type', kind],
          ['component_id', id],
        ] as const);
  const exact = [
    ['source_type', filter.sourceType],
    ['approval_type', filter.approvalType],
    ['pause_type', filter.pauseType],
    ['user_id', scope.kind === 'all' ? filter.userId : undefined],
    ['schedule_id', filter.scheduleId],
    ['run_id', filter.runId],
  ] as const;
  return [
    ...exact.flatMap(([column, value]) => (value === undefined ? [] : [[column, value] as const])),
    ...ofComponent('agent', filter.agentId),
    ...ofComponent('team', filter.teamId),
    ...ofComponent('workflow', filter.workflowId),
  ];
}

/** Expiry is not written: an approval is expired from that time on, wherever it is read. */
function withStatus(selection: Selection, status: ApprovalStatus, now: ReturnType<typeof nowOf>): Selection {
  if (status === 'pending') {
    return selection
      .where('approvals.status', '=', 'pending')
      .where((where) =>
        where.or([where('approvals.expires_at', 'is', null), where('approvals.expires_at', '>', now)]),
      );
  }
  if (status !== 'expired') return selection.where('approvals.status', '=', status);
  return selection.where((where) =>
    where.or([
      where('approvals.status', '=', 'expired'),
      where.and([where('approvals.status', '=', 'pending'), where('approvals.expires_at', '<=', now)]),
    ]),
  );
}

function approvalFromRow(
  row: ApprovalsTable & {
    readonly run_status: RunStatus | null;
    readonly askers: string | null;
    readonly read_at: number;
  },
): Approval {
  const expired = row.status === 'pending' && row.expires_at !== null && row.expires_at <= row.read_at;
  return {
    approvalId: row.approval_id,
    runId: row.run_id,
    sessionId: row.session_id,
    sourceType: row.source_type,
    componentId: row.component_id,
    sourceName: row.source_name,
    userId: row.user_id,
    approvalType: row.approval_type,
    pauseType: row.pause_type,
    status: expired ? 'expired' : row.status,
    toolName: row.tool_name,
    toolArgs: storedJson(row.tool_args),
    requirement: storedJsonOrNull(row.requirement),
    resolutionData: storedJsonOrNull(row.resolution_data),
    resolvedBy: row.resolved_by,
    resolvedAt: row.resolved_at,
    expiresAt: row.expires_at,
    scheduleId: row.schedule_id,
    scheduleRunId: row.schedule_run_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    runStatus: row.run_status,
    askers: storedJsonOrNull(row.askers) ?? [],
  };
}
