import type { Component, ComponentConfig, RunyardClient } from '@runyard/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useConnection } from '../../connection/use-connection.js';

/** A component with its versions, newest first. */
export interface StoredComponent {
  readonly component: Component;
  readonly versions: readonly ComponentConfig[];
}

/** More than a person looks through; the service keeps up to 10,000. */
const mostVersions = 200;

export function useStoredComponent(id: string) {
  const { client, address } = useConnection();
  return useQuery({
    queryKey: ['stored-component', address, id],
    queryFn: async ({ signal }): Promise<StoredComponent> => {
      const component = await client.components.get(id, { include_deleted: true }, { signal });
      // the service shows the versions of a deleted one when it is restored
      if (component.deleted_at !== undefined) return { component, versions: [] };
      const query = { include_config: false, limit: mostVersions };
      return { component, versions: await client.components.listConfigs(id, query, { signal }) };
    },
  });
}

/** Everything about a component is loaded again. */
export function useReloadComponent(): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    await Promise.all(
      ['stored-component', 'stored-components', 'component-version', 'component-part', 'components'].map(
        (key) => queries.invalidateQueries({ queryKey: [key] }),
      ),
    );
  };
}

export function useVersion(id: string, version: number | undefined) {
  const { client, address } = useConnection();
  return useQuery({
    queryKey: ['component-version', address, id, version],
    enabled: version !== undefined,
    // an editor keeps what a person has begun with; a save or a conflict loads it again
    refetchOnWindowFocus: false,
    queryFn: ({ signal }) => client.components.getConfig(id, version ?? 0, { signal }),
  });
}

/** Why a component cannot run as it is, if so. */
export function useDegraded({ component_id, component_type, deleted_at }: Component) {
  const { client, address } = useConnection();
  return useQuery({
    queryKey: ['component-part', address, component_id, 'degraded'],
    enabled: deleted_at === undefined,
    queryFn: async ({ signal }): Promise<string | null> =>
      (await listOf(client, component_type, signal)).find(({ id }) => id === component_id)?.degraded ?? null,
  });
}

function listOf(
  client: RunyardClient,
  type: Component['component_type'],
  signal: AbortSignal,
): Promise<readonly { id: string; degraded?: string }[]> {
  return client[`${type}s`].list({ signal });
}

/** The version that an editor opens: the newest draft, else the one that runs. */
export function versionToEdit({ component, versions }: StoredComponent): number | undefined {
  const draft = versions.find(({ stage }) => stage === 'draft');
  return draft?.version ?? component.current_version ?? versions[0]?.version;
}
