import type { TraceDetail } from '@runyard/client';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useConnection } from '../../../connection/use-connection.js';
import { StatusBadge } from '../../../ui/badge.js';
import { formatCost, formatCount, formatTokens } from '../../../ui/format/numbers.js';
import { Time } from '../../../ui/format/time.js';
import { componentOf, spaced } from '../trace-component.js';

/** The numbers of a trace in one line. */
export function TraceFacts({
  trace,
  tokens,
}: {
  readonly trace: TraceDetail;
  readonly tokens: { readonly input: number; readonly output: number };
}) {
  const cost = useCost(trace);
  const facts: readonly (readonly [string, ReactNode])[] = [
    ['Status', <StatusBadge key="status" status={trace.status} />],
    ['Duration', spaced(trace.duration)],
    ['Spans', formatCount(trace.total_spans)],
    ['Errors', trace.error_count > 0 ? formatCount(trace.error_count) : undefined],
    ['Tokens', `${formatTokens(tokens.input)} in · ${formatTokens(tokens.output)} out`],
    ['Cost', cost === undefined ? undefined : formatCost(cost)],
    ['User', trace.user_id],
    ['Started', <Time key="start" at={trace.start_time} style="absolute" />],
  ];
  return (
    <dl className="flex flex-wrap gap-x-6 gap-y-2 pb-4">
      {facts
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => (
          <div key={name}>
            <dt className="text-xs text-muted">{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** The run knows its cost, if its models have a price. The trace does not. */
function useCost(trace: TraceDetail): number | undefined {
  const { client, address } = useConnection();
  const component = componentOf(trace);
  const runId = trace.run_id ?? '';
  const { data } = useQuery({
    queryKey: ['cost', address, component?.kind, component?.id, runId],
    enabled: component !== undefined && runId !== '' && trace.status !== 'UNSET',
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }): Promise<number | null> => {
      if (component === undefined) return null;
      const { metrics } = await client[`${component.kind}s`].getRun(component.id, runId, {}, { signal });
      return typeof metrics?.cost === 'number' ? metrics.cost : null;
    },
  });
  return data ?? undefined;
}
