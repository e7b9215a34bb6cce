import { Registry } from '../../core/registry/registry.js';
import type { Capability } from '../capability.js';
import { type RegistryServices, registryRoutes } from './routes.js';
import { RegistryService } from './service.js';

declare module '../capability.js' {
  interface Services extends RegistryServices {}
}

export const registry: Capability = {
  name: 'registry',
  routes: registryRoutes,
  open: ({ registry: collected = () => new Registry(), databases }) => ({
    services: {
      registry: new RegistryService(
        collected,
        databases.map(({ id }) => id),
      ),
    },
  }),
};
