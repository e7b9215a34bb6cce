import { z } from 'zod';
import type { Capability } from '../capability.js';
import { configPart, configShape, countsPart } from './config-part.js';
import { componentTables } from './migrations/0023-components.js';
import { type ComponentServices, componentRoutes } from './routes.js';
import { openBuilt } from './running/open-built.js';
import { openStored } from './stored/open-stored.js';
import { type StoredComponentServices, storedComponentRoutes } from './stored/routes.js';

declare module '../capability.js' {
  interface Services extends ComponentServices, StoredComponentServices {}
}

export const components: Capability = {
  name: 'components',
  migrations: [componentTables],
  routes: [...componentRoutes, ...storedComponentRoutes],
  info: () => ({ agent_count: z.int(), team_count: z.int(), workflow_count: z.int() }),
  config: configShape,
  open({ components, databases, registry, spaces }) {
    // a service has a database of its own
    const own = databases[0]!;
    const defaultDatabase = own.id;
    const built = registry && openBuilt({ components, databases, registry, spaces });
    const disconnect = built && components.connect(built);
    return {
      services: { components, defaultDatabase, ...openStored(own, components, registry) },
      info: (caller) => countsPart(components, caller),
      config: (caller) => configPart(components, defaultDatabase, caller),
      async close() {
        disconnect?.();
        await built?.close();
      },
    };
  },
};
