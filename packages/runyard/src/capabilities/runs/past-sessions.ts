import type {
  PastSession,
  PastSessions,
  PastSessionsQuery,
  SessionOwner,
} from '../../core/runs/past-sessions.js';
import type { DataScope } from '../../platform/auth/caller.js';
import type { DatabaseSessions } from '../sessions/database-service.js';
import type { RunStore } from './storage/store.js';

/** Past sessions out of the database, each read within the scope of the person whose they have to be. */
export class StoredPastSessions implements PastSessions {
  constructor(private readonly space: { readonly sessions: DatabaseSessions; readonly runs: RunStore }) {}

  async latest(
    owner: SessionOwner,
    { exceptSessionId, sessions, runs }: PastSessionsQuery,
  ): Promise<PastSession[]> {
    const { kind, componentId } = owner;
    const query = { kind, componentId, exceptSessionId, limit: sessions };
    return this.withRuns(owner, await this.space.sessions.latest(scopeOf(owner), query), runs);
  }

  async read(owner: SessionOwner, sessionId: string, runs: number): Promise<PastSession | undefined> {
    const session = await this.space.sessions.find(scopeOf(owner), sessionId);
    if (session?.kind !== owner.kind || session.componentId !== owner.componentId) return undefined;
    return (await this.withRuns(owner, [session], runs))[0];
  }

  private async withRuns(
    owner: SessionOwner,
    sessions: readonly Omit<PastSession, 'runs'>[],
    count: number,
  ): Promise<PastSession[]> {
    const sessionIds = sessions.map(({ sessionId }) => sessionId);
    const query = { sessionIds, componentId: owner.componentId, count };
    const runs = await this.space.runs.latestOfSessions(scopeOf(owner), query);
    return sessions.map(({ sessionId, name, updatedAt }) => ({
      sessionId,
      name,
      updatedAt,
      runs: runs.get(sessionId) ?? [],
    }));
  }
}

function scopeOf({ userId }: SessionOwner): DataScope {
  return { kind: 'user', userId };
}
