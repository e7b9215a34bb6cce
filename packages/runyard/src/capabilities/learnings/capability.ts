import type { Capability } from '../capability.js';
import { type LearningServices, learningRoutes } from './routes.js';
import { DatabaseLearnings, LearningsService } from './service.js';

declare module '../capability.js' {
  interface Services extends LearningServices {}
  interface RunSpace {
    readonly learnings: DatabaseLearnings;
  }
}

export const learnings: Capability = {
  name: 'learnings',
  routes: learningRoutes,
  section: { name: 'learning', table: 'learnings' },
  open: ({ spaces }) => ({
    services: { learnings: new LearningsService(spaces) },
    inDatabase(database) {
      const learnings = new DatabaseLearnings(database);
      return { parts: { learnings }, ports: { learnings: learnings.ofRuns } };
    },
  }),
};
