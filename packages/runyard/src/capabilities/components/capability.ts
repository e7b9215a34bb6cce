import { z } from 'zod';
import type { Capability } from '../capability.js';
import { configPart, configShape, countsPart } from './config-part.js';
import { componentTables } from './migrations/0023-components.js';
import { type ComponentServices, componentRoutes } from './routes.js';

declare module '../capability.js' {
  interface Services extends ComponentServices {}
}

export const components: Capability = {
  name: 'components',
  migrations: [componentTables],
  routes: componentRoutes,
  info: { agent_count: z.int(), team_count: z.int(), workflow_count: z.int() },
  config: configShape,
  open({ components, databases }) {
    // a service has a database of its own
    const defaultDatabase = databases[0]!.id;
    return {
      services: { components, defaultDatabase },
      info: (caller) => countsPart(components, caller),
      config: (caller) => configPart(components, defaultDatabase, caller),
    };
  },
};
