import { errors } from '../../core/errors/errors.js';
import type { DataScope } from '../../platform/auth/caller.js';
import type { Database } from '../../platform/storage/database.js';
import { type NewSession, type SessionChange, SessionChangeStore } from './change-store.js';
import { type Range, type SessionFilter, SessionListStore, type SessionOrder } from './list-store.js';
import { type LatestSessions, type Session, type SessionRecord, SessionStore } from './store.js';

/** The sessions of one database. Runs create and name them. */
export class DatabaseSessions {
  private readonly store: SessionStore;
  private readonly lists: SessionListStore;
  private readonly changes: SessionChangeStore;

  constructor(database: Database) {
    this.store = new SessionStore(database);
    this.lists = new SessionListStore(database);
    this.changes = new SessionChangeStore(database);
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

  count(scope: DataScope, filter: SessionFilter): Promise<number> {
    return this.lists.count(scope, filter);
  }

  ids(scope: DataScope, filter: SessionFilter, order: SessionOrder, range: Range): Promise<string[]> {
    return this.lists.ids(scope, filter, order, range);
  }

  /** What is shown of sessions whose ids were found within a scope. */
  records(sessionIds: readonly string[]): Promise<SessionRecord[]> {
    return this.store.records(sessionIds);
  }

  create(session: NewSession): Promise<boolean> {
    return this.changes.create(session);
  }

  change(scope: DataScope, sessionId: string, change: SessionChange): Promise<boolean> {
    return this.changes.change(scope, sessionId, change);
  }
}
