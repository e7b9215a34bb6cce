import type { Kind, Run, TeamRun, WorkflowRun } from '@runyard/client';
import { useQuery } from '@tanstack/react-query';
import { useConnection, useMay } from '../../../connection/use-connection.js';

export type AnyRun = Run | TeamRun | WorkflowRun;

const liveMs = 2_000;

export function useRunQuery(kind: Kind, componentId: string, runId: string) {
  const { client, address } = useConnection();
  return useQuery({
    queryKey: ['run', address, kind, componentId, runId],
    queryFn: ({ signal }): Promise<AnyRun> => client[`${kind}s`].getRun(componentId, runId, {}, { signal }),
    refetchInterval: ({ state: { data } }) =>
      ['pending', 'running'].includes(data?.status.toLowerCase() ?? '') ? liveMs : false,
  });
}

/** The trace of a run; undefined while there is none that the caller may see. */
export function useTraceId(runId: string, status: string | undefined): string | undefined {
  const { client, address } = useConnection();
  const may = useMay();
  const { data } = useQuery({
    queryKey: ['trace-of-run', address, runId, status],
    enabled: may('traces:read') && status !== undefined,
    queryFn: async ({ signal }) =>
      (await client.traces.list({ run_id: runId, limit: 1 }, { signal })).data[0]?.trace_id ?? null,
  });
  return data ?? undefined;
}
