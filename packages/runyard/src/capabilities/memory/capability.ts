import type { Capability } from '../capability.js';
import { modelOfService } from './merging-model.js';
import { type MemoryServices, memoryRoutes } from './routes.js';
import { DatabaseMemories, MemoriesService } from './service.js';

declare module '../capability.js' {
  interface Services extends MemoryServices {}
  interface RunSpace {
    readonly memories: DatabaseMemories;
  }
}

export const memory: Capability = {
  name: 'memory',
  routes: memoryRoutes,
  section: { name: 'memory', table: 'memories' },
  open({ settings, components, spaces }) {
    const defaultModel = () => modelOfService(components, settings.defaultModel);
    return {
      services: { memories: new MemoriesService({ spaces, defaultModel }) },
      inDatabase(database) {
        const memories = new DatabaseMemories(database);
        return { parts: { memories }, ports: { memories } };
      },
    };
  },
};
