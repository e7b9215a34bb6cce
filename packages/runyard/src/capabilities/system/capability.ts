import type { Capability } from '../capability.js';
import { type SystemServices, systemRoutes } from './routes.js';
import { SystemService } from './service.js';

declare module '../capability.js' {
  interface Services extends SystemServices {}
}

export const system: Capability = {
  name: 'system',
  routes: systemRoutes,
  open: (site) => ({ services: { system: new SystemService(site) } }),
};
