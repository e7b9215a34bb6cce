import type { Span } from '../../core/traces/span.js';
import type { StoredScore } from '../live-evals/service.js';
import type { SessionStatistics } from './sessions/session-statistics-store.js';
import { errorOf, type NodeContext, type SpanNode, textAt } from './span-node.js';
import type { SpanCounts, TraceRow } from './store.js';
import { durationText, wireTime } from './times.js';
import { outputOfTree, treeOf } from './trace-tree.js';

/** A trace in a list. Members that have no value are left out. */
export interface TraceSummary {
  readonly trace_id: string;
  readonly name: string;
  readonly status: string;
  readonly duration: string;
  readonly start_time: string;
  readonly end_time: string;
  readonly total_spans: number;
  readonly error_count: number;
  readonly input?: string;
  readonly run_id: string;
  readonly session_id: string;
  readonly user_id?: string;
  readonly agent_id?: string;
  readonly team_id?: string;
  readonly workflow_id?: string;
  readonly created_at: string;
  readonly scores?: readonly TraceScore[];
}

/** What a live eval said about the run. */
export interface TraceScore {
  readonly run_id: string;
  readonly eval: string;
  readonly scorer: string;
  readonly score: number | null;
  readonly passed: boolean | null;
  readonly reason?: string;
  readonly judge_model?: { readonly id: string; readonly provider: string };
  readonly created_at: string;
}

export interface TraceDetail extends TraceSummary {
  readonly output?: string;
  readonly error?: string;
  readonly tree: readonly SpanNode[];
}

/** A recorded run with its spans, the run's own first. */
export interface TracedRow {
  readonly row: TraceRow;
  readonly spans: readonly Span[];
}

export function summaryOf(
  row: TraceRow,
  facts: {
    readonly counts: SpanCounts | undefined;
    readonly input: string | undefined;
    readonly now: number;
  },
): TraceSummary {
  const { spans = 0, failed = 0 } = facts.counts ?? {};
  return {
    ...headOf([row], facts.now),
    total_spans: spans + 1,
    error_count: failed + (row.status === 'ERROR' ? 1 : 0),
    ...(facts.input !== undefined && { input: facts.input }),
    ...identityOf(row),
  };
}

/**
 * The runs of one trace, the earliest first: usually one. The first run gives the owner, the input and the output
 * of the trace; the trace has failed when one of its runs has.
 */
export function detailOf(runs: readonly [TracedRow, ...TracedRow[]], context: NodeContext): TraceDetail {
  const rows = runs.map(({ row }) => row);
  const spans = runs.flatMap((run) => run.spans);
  const [{ row, spans: own }] = runs;
  const failed = runs.find((run) => run.row.status === 'ERROR');
  const input = textAt(own[0]?.attributes['input.value']);
  const output = failed === undefined ? outputOfTree(own) : undefined;
  const error = failed?.spans[0] && errorOf(failed.spans[0]);
  return {
    ...headOf(rows, context.now),
    total_spans: spans.length,
    error_count: spans.filter(({ status }) => status === 'ERROR').length,
    ...(input !== undefined && { input }),
    ...(output !== undefined && { output }),
    ...(error !== undefined && { error }),
    ...identityOf(row),
    tree: runs.flatMap((run) => treeOf(run.spans, { ...context, now: nowIn(run.row, context.now) })),
  };
}

/** `shown`: what is shown of the reason; left out: nothing. */
export function scoreBody(stored: StoredScore, shown?: (reason: string) => string | undefined): TraceScore {
  const { runId, scorer, score, passed, judge, createdAt } = stored;
  const reason = stored.reason === null ? undefined : shown?.(stored.reason);
  return {
    run_id: runId,
    eval: stored.eval,
    scorer,
    score,
    passed,
    ...(reason !== undefined && { reason }),
    ...(judge !== null && { judge_model: judge }),
    created_at: wireTime(createdAt),
  };
}

/** When it is for a run: one that waits for an answer stands still since its pause, and so does what it asked. */
export function nowIn(row: TraceRow, now: number): number {
  return row.status === 'UNSET' ? now : row.end_time;
}

export function statisticsBody(statistics: SessionStatistics) {
  const { sessionId, userId, agentId, teamId, workflowId, traces, first, last } = statistics;
  return {
    session_id: sessionId,
    ...(userId !== null && { user_id: userId }),
    ...(agentId !== null && { agent_id: agentId }),
    ...(teamId !== null && { team_id: teamId }),
    ...(workflowId !== null && { workflow_id: workflowId }),
    total_traces: traces,
    first_trace_at: wireTime(first),
    last_trace_at: wireTime(last),
  };
}

function headOf(rows: readonly TraceRow[], now: number) {
  const start = Math.min(...rows.map(({ start_time }) => start_time));
  const end = Math.max(start, ...rows.map((row) => nowIn(row, now)));
  return {
    trace_id: rows[0]?.trace_id ?? '',
    name: rows[0]?.name ?? '',
    status: statusOf(rows),
    duration: durationText(end - start),
    start_time: wireTime(start),
    end_time: wireTime(end),
  };
}

function statusOf(rows: readonly TraceRow[]): string {
  const has = (status: string) => rows.some((row) => row.status === status);
  if (has('ERROR')) return 'ERROR';
  return has('UNSET') ? 'UNSET' : 'OK';
}

function identityOf(row: TraceRow) {
  return {
    run_id: row.run_id,
    session_id: row.session_id,
    ...(row.user_id !== null && { user_id: row.user_id }),
    [`${row.kind}_id`]: row.component_id,
    created_at: wireTime(row.start_time),
  };
}
