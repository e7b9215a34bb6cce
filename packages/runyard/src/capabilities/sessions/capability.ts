import type { Capability } from '../capability.js';
import { DatabaseSessions } from './database-service.js';
import { sessionSummaries } from './migrations/0003-session-summaries.js';
import { type SessionServices, sessionRoutes } from './routes.js';
import { SessionsService } from './service.js';

declare module '../capability.js' {
  interface Services extends SessionServices {}
  interface RunSpace {
    readonly sessions: DatabaseSessions;
  }
}

export const sessions: Capability = {
  name: 'sessions',
  migrations: [sessionSummaries],
  routes: sessionRoutes,
  section: { name: 'session', table: 'sessions' },
  open: ({ components, services }) => ({
    services: { sessions: new SessionsService({ runs: services.sessionRuns, components }) },
    inDatabase: (database) => ({ parts: { sessions: new DatabaseSessions(database) } }),
  }),
};
