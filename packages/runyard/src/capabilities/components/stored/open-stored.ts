import type { Registry } from '../../../core/registry/registry.js';
import type { RunKind } from '../../../core/runs/run.js';
import { type Database, timeOf } from '../../../platform/storage/database.js';
import type { ComponentsService } from '../service.js';
import { ComponentChangeStore } from './change-store.js';
import type { ConfigLanguage } from './config-check.js';
import type { StoredComponentServices } from './routes.js';
import { StoredComponentsService } from './service.js';
import { ComponentStore } from './store.js';
import { ComponentVersionsService } from './versions-service.js';

/** What callers do with stored components. */
export function openStored(
  database: Database,
  components: ComponentsService,
  registry?: () => Registry,
): StoredComponentServices {
  const options = {
    store: new ComponentStore(database),
    changes: new ComponentChangeStore(database),
    code: {
      agent: components.listAgents().map(({ id }) => id),
      team: components.listTeams().map(({ id }) => id),
      workflow: components.listWorkflows().map(({ id }) => id),
    },
    isMember: (kind: RunKind, id: string) => registry?.().member(kind, id) !== undefined,
    degraded: (kind: RunKind, id: string, version?: number) => components.degraded(kind, id, version),
    language,
    now: () => timeOf(database),
  };
  const storedComponents = new StoredComponentsService(options);
  return { storedComponents, componentVersions: new ComponentVersionsService(options, storedComponents) };
}

/** Loaded by the first change: most services start without one. */
async function language(): Promise<ConfigLanguage> {
  const { checkConfig, storedConfig } = await import('../../../core/configs/check-config.js');
  const { componentReferences } = await import('../../../core/configs/references.js');
  const { secretFaults } = await import('../../../core/configs/config-secrets.js');
  return { check: checkConfig, stored: storedConfig, references: componentReferences, secrets: secretFaults };
}
