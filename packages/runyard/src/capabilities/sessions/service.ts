import { errors } from '../../core/errors.js';
import type { DataScope } from '../../platform/auth/caller.js';
import type { Database } from '../../platform/storage/database.js';
import { type LatestSessions, type Session, SessionStore } from './store.js';

/** Sessions of one database. Runs create and name them. */
export class SessionsService {
  private readonly store: SessionStore;

  constructor(database: Database) {
    this.store = new SessionStore(database);
  }

  async get(scope: DataScope, sessionId: string): Promise<Session> {
    const session = await this.store.find(scope, sessionId);
    if (session === undefined) throw errors.sessionNotFound();
    return session;
  }

  find(scope: DataScope, sessionId: string): Promise<Session | undefined> {
    return this.store.find(scope, sessionId);
  }

  /** The sessions with a component that were used last, the newest first. */
  latest(scope: DataScope, query: LatestSessions): Promise<Session[]> {
    return this.store.latest(scope, query);
  }
}
