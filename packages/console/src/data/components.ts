import { ForbiddenError, type Kind, NotFoundError } from '@runyard/client';
import { type UseQueryResult, useQueries } from '@tanstack/react-query';
import { useConnection } from '../connection/use-connection.js';

/** An agent, a team or a workflow, as lists and menus show it. */
export interface ComponentEntry {
  readonly kind: Kind;
  readonly id: string;
  readonly name: string;
  readonly description: string | undefined;
  /** Why it cannot run. */
  readonly degraded: string | undefined;
}

export interface UsedComponents {
  readonly components: readonly ComponentEntry[];
  readonly isPending: boolean;
  readonly error: unknown;
  reload(): void;
}

/** The agents, teams and workflows that the caller may see. */
export function useComponents(): UsedComponents {
  const { client, address } = useConnection();
  const list = (kind: Kind) => ({
    queryKey: ['components', address, kind],
    staleTime: 30_000,
    queryFn: async ({ signal }: { signal: AbortSignal }): Promise<ComponentEntry[]> => {
      try {
        const found = await client[`${kind}s`].list({ signal });
        return found.map(({ id, name, description, degraded }) => ({
          kind,
          id,
          name,
          description,
          degraded,
        }));
      } catch (error) {
        // a caller who may see none of a kind is refused
        if (error instanceof ForbiddenError || error instanceof NotFoundError) return [];
        throw error;
      }
    },
  });
  const results: UseQueryResult<ComponentEntry[]>[] = useQueries({
    queries: [list('agent'), list('team'), list('workflow')],
  });
  return {
    components: results.flatMap(({ data }) => data ?? []),
    isPending: results.some(({ isPending }) => isPending),
    error: results.find(({ error }) => error)?.error,
    reload: () => {
      for (const { refetch } of results) void refetch();
    },
  };
}
