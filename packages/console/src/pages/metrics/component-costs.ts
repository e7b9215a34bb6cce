import { ForbiddenError, type Kind, NotFoundError } from '@runyard/client';
import { useQuery } from '@tanstack/react-query';
import { useConnection } from '../../connection/use-connection.js';
import type { ComponentEntry } from '../../data/components.js';
import type { Range } from './days.js';

export interface ComponentUse {
  readonly kind: Kind;
  readonly id: string;
  readonly name: string;
  readonly runs: number;
  readonly failed: number;
  readonly tokens: number;
  /** Undefined if no run has a known price. */
  readonly cost: number | undefined;
  readonly meanMs: number | undefined;
  /** There are more runs in the range than were counted. */
  readonly isPartial: boolean;
}

/** How many runs of each component are counted. */
export const counted = 200;

/** The daily metrics know neither components nor costs: these are sums over the newest runs of each component. */
export function useComponentUse(components: readonly ComponentEntry[], range: Range, enabled: boolean) {
  const { client, address } = useConnection();
  const names = components.map(({ kind, id }) => `${kind}/${id}`);
  return useQuery({
    queryKey: ['component-use', address, names, range],
    enabled: enabled && components.length > 0,
    staleTime: 60_000,
    queryFn: ({ signal }) =>
      Promise.all(
        components.map(async ({ kind, id, name }): Promise<ComponentUse> => {
          const runs = await listed(() =>
            client[`${kind}s`].listRuns(id, { include_events: false, limit: counted }, { signal }),
          );
          const within = runs.filter(({ created_at }) => {
            const date = created_at.slice(0, 10);
            return date >= range.from && date <= range.to;
          });
          const durations = within.flatMap(({ metrics }) => numbersIn(metrics, 'duration'));
          const costs = within.flatMap(({ metrics }) => numbersIn(metrics, 'cost'));
          return {
            kind,
            id,
            name,
            runs: within.length,
            failed: within.filter(({ status }) => status.toLowerCase() === 'error').length,
            tokens: total(within.flatMap(({ metrics }) => numbersIn(metrics, 'total_tokens'))),
            cost: costs.length === 0 ? undefined : total(costs),
            meanMs: durations.length === 0 ? undefined : (1_000 * total(durations)) / durations.length,
            isPartial: runs.length === counted && within.length === counted,
          };
        }),
      ),
  });
}

type Listed = {
  readonly status: string;
  readonly created_at: string;
  readonly metrics?: Readonly<Record<string, unknown>> | null;
};

async function listed(load: () => Promise<readonly Listed[]>): Promise<readonly Listed[]> {
  try {
    return await load();
  } catch (error) {
    if (error instanceof ForbiddenError || error instanceof NotFoundError) return [];
    throw error;
  }
}

function numbersIn(metrics: Listed['metrics'], key: string): number[] {
  const value = metrics?.[key];
  return typeof value === 'number' ? [value] : [];
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0);
}
