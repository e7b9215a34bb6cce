import type { TraceSpan, WorkflowRun } from '@runyard/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useConnection, useMay } from '../../connection/use-connection.js';

interface RunTrace {
  readonly traceId: string;
  /** The span of the run. */
  readonly root: TraceSpan | undefined;
}

const pauseMs = 250;
const pollMs = 5_000;
const traceMs = 500;
const mostTraceReads = 20;

/** A run of a workflow as it is now, and its trace. The events of the run say when there is something new. */
export function useWorkflowRun(workflowId: string, runId: string | undefined) {
  const { client, address } = useConnection();
  const may = useMay();
  const queries = useQueryClient();
  const run = useQuery({
    queryKey: ['workflow-run', address, workflowId, runId],
    enabled: runId !== undefined,
    queryFn: ({ signal }) => client.workflows.getRun(workflowId, runId ?? '', {}, { signal }),
    refetchInterval: ({ state: { data } }) => (data && isMoving(data) ? pollMs : false),
  });
  const moving = run.data !== undefined && isMoving(run.data);
  useEffect(() => {
    if (runId === undefined || !moving) return;
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = () => {
      timer = undefined;
      void queries.invalidateQueries({ queryKey: ['workflow-run', address, workflowId, runId] });
    };
    const read = async () => {
      const events = client.workflows.follow(workflowId, runId, { signal: controller.signal });
      for await (const { event } of events)
        if (!/Content$|Delta$/.test(event)) timer ??= setTimeout(load, pauseMs);
      load();
    };
    // a failure of the stream leaves the slower way, which shows it if the service is gone
    read().catch(() => {});
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [client, queries, address, workflowId, runId, moving]);
  const trace = useQuery({
    // each change of a step is a change of the trace
    queryKey: ['workflow-trace', address, runId, run.data && progressOf(run.data)],
    placeholderData: (before: RunTrace | null | undefined, query) =>
      query?.queryKey[2] === runId ? before : undefined,
    enabled: run.data !== undefined && may('traces:read'),
    // the service stores the trace of a run shortly after its end; one that is not recorded never comes
    refetchInterval: ({ state: { data, dataUpdateCount } }) =>
      !moving && isUnfinished(data) && dataUpdateCount < mostTraceReads ? traceMs : false,
    queryFn: async ({ signal }): Promise<RunTrace | null> => {
      const { data } = await client.traces.list({ run_id: runId ?? '', limit: 1 }, { signal });
      const [summary] = data;
      if (summary === undefined) return null;
      const found = await client.traces.get(summary.trace_id, {}, { signal });
      if (!('tree' in found)) return null;
      const at = found.tree.findIndex(({ metadata }) => metadata?.run_id === runId);
      return { traceId: summary.trace_id, root: found.tree[Math.max(0, at)] };
    },
  });
  return { run, trace: trace.data ?? undefined };
}

function isUnfinished(trace: RunTrace | null | undefined): boolean {
  return (
    trace?.root === undefined ||
    trace.root.status === 'UNSET' ||
    (trace.root.spans ?? []).some(({ status }) => status === 'UNSET')
  );
}

function progressOf({ status, step_states = [] }: WorkflowRun): string {
  return [status, ...step_states.map((state) => state.status)].join(' ');
}

export function isMoving({ status }: Pick<WorkflowRun, 'status'>): boolean {
  return ['pending', 'running'].includes(status.toLowerCase());
}
