import { useCallback, useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import type { RunyardClient } from './client.js';
import type { Approval, ApprovalResolve, Resources } from './generated/api.js';
import type { Kind } from './kinds.js';
import { type RunState, RunStore } from './run-store.js';
import type { Runs } from './runs.js';

export type { RunState } from './run-store.js';

export interface UsedRun<K extends Kind>
  extends RunState<K>,
    Pick<RunStore<K>, 'send' | 'follow' | 'answer' | 'cancel'> {}

/**
 * Runs of one component, one at a time: `useRun(client.agents, 'assistant')`. With `runId` it shows a run that was
 * started before, such as after a reload. When the page leaves, the run continues.
 */
export function useRun<K extends Kind>(
  runs: Runs<K>,
  id: string,
  { runId }: { readonly runId?: string | undefined } = {},
): UsedRun<K> {
  const store = useMemo(() => new RunStore(runs, id), [runs, id]);
  useEffect(() => {
    store.open();
    return store.close;
  }, [store]);
  useEffect(() => {
    if (runId !== undefined) void store.follow(runId);
  }, [store, runId]);
  const state = useSyncExternalStore(store.subscribe, store.state, store.state);
  const { send, follow, answer, cancel } = store;
  return { ...state, send, follow, answer, cancel };
}

export interface Loaded<T> {
  /** Undefined until it has come; the last one while a newer one is loaded. */
  readonly data: T | undefined;
  readonly isLoading: boolean;
  readonly error: unknown;
  reload(): void;
}

type SessionRuns = Awaited<ReturnType<Resources['sessions']['getRuns']>>;

/** The runs of a session. Nothing is loaded without an id. */
export function useSession(client: RunyardClient, sessionId: string | undefined): Loaded<SessionRuns> {
  const load = useCallback(
    async (signal: AbortSignal) =>
      sessionId === undefined ? undefined : client.sessions.getRuns(sessionId, {}, { signal }),
    [client, sessionId],
  );
  return useLoaded(load);
}

export interface UsedApprovals extends Loaded<readonly Approval[]> {
  /** Decides an approval, and loads the list again. */
  resolve(id: string, decision: ApprovalResolve): Promise<Approval>;
}

/** Pending approvals, loaded again after each interval. */
export function useApprovals(
  client: RunyardClient,
  { intervalMs = 10_000 }: { readonly intervalMs?: number } = {},
): UsedApprovals {
  const load = useCallback(
    async (signal: AbortSignal) => (await client.approvals.list({ status: 'pending' }, { signal })).data,
    [client],
  );
  const loaded = useLoaded<readonly Approval[]>(load);
  const { reload, isLoading } = loaded;
  useEffect(() => {
    if (isLoading) return;
    const timer = setTimeout(reload, intervalMs);
    return () => clearTimeout(timer);
  }, [reload, isLoading, intervalMs]);
  const resolve = useCallback(
    async (id: string, decision: ApprovalResolve) => {
      const approval = await client.approvals.resolve(id, decision);
      reload();
      return approval;
    },
    [client, reload],
  );
  return { ...loaded, resolve };
}

type Load<T> = (signal: AbortSignal) => Promise<T | undefined>;

function useLoaded<T>(load: Load<T>): Loaded<T> {
  const [count, setCount] = useState(0);
  const [state, setState] = useState<{
    of?: Load<T>;
    isLoading: boolean;
    data?: T | undefined;
    error?: unknown;
  }>({
    isLoading: true,
  });
  const reload = useCallback(() => setCount((before) => before + 1), []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new count loads again
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    setState((before) =>
      before.of === load ? { ...before, isLoading: true } : { of: load, isLoading: true },
    );
    load(signal).then(
      (data) => signal.aborted || setState({ of: load, isLoading: false, data }),
      (error) => signal.aborted || setState((before) => ({ ...before, isLoading: false, error })),
    );
    return () => controller.abort();
  }, [load, count]);
  // what was loaded for another session is not shown for this one
  const shown: typeof state = state.of === load ? state : { isLoading: true };
  return { isLoading: shown.isLoading, data: shown.data, error: shown.error, reload };
}
