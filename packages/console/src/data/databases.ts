import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useConnection, useMay } from '../connection/use-connection.js';

export interface Databases {
  /** Empty unless the service has several. */
  readonly ids: readonly string[];
  /** The one whose data the pages show. */
  readonly chosen: string | undefined;
  choose(id: string): void;
}

/** The databases of the service. The address names the chosen one, so that a link shows the same. */
export function useDatabases(): Databases {
  const { client, address } = useConnection();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { db }: { db?: string | undefined } = useSearch({ strict: false });
  const { data } = useQuery({
    queryKey: ['config', address],
    queryFn: ({ signal }) => client.service.getConfig({ signal }),
    enabled: useMay()('config:read'),
    staleTime: 60_000,
  });
  const ids = data?.databases ?? [];
  return {
    ids: ids.length > 1 ? ids : [],
    chosen: db ?? data?.os_database ?? undefined,
    choose: (id) => {
      void navigate({ to: '.', search: (before) => ({ ...before, db: id }) }).then(() =>
        // what was loaded is of another database
        queries.resetQueries(),
      );
    },
  };
}
