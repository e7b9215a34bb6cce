import {
  ForbiddenError,
  type Kind,
  type ListedRun,
  type ListedTeamRun,
  type ListedWorkflowRun,
  NotFoundError,
} from '@runyard/client';
import { keepPreviousData, type UseQueryResult, useQueries } from '@tanstack/react-query';
import { useConnection } from '../../connection/use-connection.js';
import type { ComponentEntry } from '../../data/components.js';

/** A run as the list shows it. */
export interface RunRow {
  readonly kind: Kind;
  readonly componentId: string;
  readonly componentName: string;
  readonly runId: string;
  readonly status: string;
  readonly input: string;
  readonly user: string;
  readonly createdAt: string;
  readonly durationMs: number | undefined;
  readonly tokens: number | undefined;
  readonly cost: number | undefined;
}

export interface RunQuestion {
  /** Whose runs. */
  readonly components: readonly ComponentEntry[];
  readonly status: string | undefined;
  readonly session: string | undefined;
  /** How many runs of each component are looked at. */
  readonly depth: number;
  readonly refetchMs: number | undefined;
}

export interface FoundRuns {
  /** Newest first, complete down to the oldest of them. */
  readonly rows: readonly RunRow[] | undefined;
  readonly hasMore: boolean;
  readonly isStale: boolean;
  readonly error: unknown;
  reload(): void;
}

/** The most runs that the service lists at once. */
export const deepest = 1_000;

/** The API lists the runs of one component. Here they are merged. */
export function useRunRows({ components, status, session, depth, refetchMs }: RunQuestion): FoundRuns {
  const { client, address } = useConnection();
  // the runs of a session are listed oldest first: only all of them have the newest
  const limit = session ? deepest : depth;
  const results: UseQueryResult<RunRow[]>[] = useQueries({
    queries: components.map((component) => ({
      queryKey: ['runs', address, component.kind, component.id, { status, session, limit }],
      placeholderData: keepPreviousData,
      ...(refetchMs !== undefined && { refetchInterval: refetchMs }),
      queryFn: async ({ signal }: { signal: AbortSignal }): Promise<RunRow[]> => {
        const query = {
          include_events: false,
          limit,
          ...(status && { status }),
          ...(session && { session_id: session }),
        };
        try {
          const runs = await client[`${component.kind}s`].listRuns(component.id, query, { signal });
          return runs.map((run) => rowOf(component, run));
        } catch (error) {
          // a component that the caller may see but not read, or whose definition is broken
          if (error instanceof ForbiddenError || error instanceof NotFoundError) return [];
          throw error;
        }
      },
    })),
  });
  const error = results.find((result) => result.error)?.error;
  const merged = results.every(({ data }) => data === undefined)
    ? undefined
    : mergedRows(
        results.flatMap(({ data }) => (data ? [data] : [])),
        limit,
      );
  return {
    rows: components.length === 0 ? [] : merged?.rows,
    hasMore: merged?.hasMore ?? false,
    isStale: results.some(({ isPlaceholderData }) => isPlaceholderData),
    error: error ?? undefined,
    reload: () => {
      for (const { refetch } of results) void refetch();
    },
  };
}

/**
 * A list that is full may go on below its last run. Other lists must not show what is older than that, or runs would
 * be missing in between.
 */
function mergedRows(lists: readonly RunRow[][], limit: number) {
  const sorted = lists.map((list) => list.toSorted(newestFirst));
  const horizons = sorted.flatMap((list) => (list.length >= limit ? [list.at(-1)?.createdAt ?? ''] : []));
  const horizon = horizons.toSorted().at(-1) ?? '';
  return {
    hasMore: horizons.length > 0 && limit < deepest,
    rows: sorted
      .flat()
      .filter(({ createdAt }) => createdAt >= horizon)
      .toSorted(newestFirst),
  };
}

function newestFirst(a: RunRow, b: RunRow): number {
  return a.createdAt < b.createdAt ? 1 : a.createdAt > b.createdAt ? -1 : 0;
}

function rowOf(
  { kind, id, name }: ComponentEntry,
  run: ListedRun | ListedTeamRun | ListedWorkflowRun,
): RunRow {
  const seconds = numberIn(run.metrics, 'duration');
  return {
    kind,
    componentId: id,
    componentName: name,
    runId: run.run_id,
    status: run.status.toLowerCase(),
    input: run.run_input,
    user: run.user_id,
    createdAt: run.created_at,
    durationMs: seconds === undefined ? undefined : seconds * 1_000,
    tokens: numberIn(run.metrics, 'total_tokens'),
    cost: numberIn(run.metrics, 'cost'),
  };
}

export function numberIn(record: object | null | undefined, key: string): number | undefined {
  const value: unknown = record ? Reflect.get(record, key) : undefined;
  return typeof value === 'number' ? value : undefined;
}

/** Runs that can be cancelled. */
export function isActive(status: string): boolean {
  return ['pending', 'running', 'paused'].includes(status.toLowerCase());
}
