import type { z } from 'zod';
import type { sessionRuns, sessionRunsQuery } from '../capabilities/runs/routes/session-run-routes.js';
import type {
  createSessionBody,
  createSessionQuery,
  deleteQuery,
  listSessionsQuery,
  sessionDetail,
  sessionQuery,
  sessionsPage,
  updateSessionBody,
} from '../capabilities/sessions/schema.js';
import type { Calls } from './calls.js';
import type { Body, Query } from './given.js';
import { type Listing, pagesOf } from './listing.js';

type Page = z.output<typeof sessionsPage>;
export type ListedSession = Page['data'][number];
export type SessionDetail = z.output<typeof sessionDetail>;
export type SessionRun = z.output<typeof sessionRuns>[number];

/** Sessions, as the operations at `/sessions` show and change them. */
export class Sessions {
  constructor(private readonly calls: Calls) {}

  list(query: Query<typeof listSessionsQuery> = {}): Listing<Page, ListedSession> {
    return pagesOf(query, (paged) => this.calls.body<typeof sessionsPage>('get_sessions', { query: paged }));
  }

  create(
    body: Body<typeof createSessionBody> = {},
    query: Query<typeof createSessionQuery> = {},
  ): Promise<SessionDetail> {
    return this.calls.body<typeof sessionDetail>('create_session', { query, body });
  }

  get(sessionId: string, query: Query<typeof sessionQuery> = {}): Promise<SessionDetail> {
    return this.calls.body<typeof sessionDetail>('get_session_by_id', { params: of(sessionId), query });
  }

  update(
    sessionId: string,
    body: Body<typeof updateSessionBody>,
    query: Query<typeof sessionQuery> = {},
  ): Promise<SessionDetail> {
    return this.calls.body<typeof sessionDetail>('update_session', { params: of(sessionId), query, body });
  }

  /** The runs of a session in the order of their start. */
  runs(sessionId: string, query: Query<typeof sessionRunsQuery> = {}): Promise<readonly SessionRun[]> {
    return this.calls.body<typeof sessionRuns>('get_session_runs', { params: of(sessionId), query });
  }

  /** Deletes one or several, with their runs. Ids that the caller cannot see are ignored. */
  delete(sessionIds: string | readonly string[], query: Query<typeof deleteQuery> = {}): Promise<void> {
    if (typeof sessionIds === 'string')
      return this.calls.body('delete_session', { params: of(sessionIds), query });
    // the wire wants a type for each, and finds sessions by their ids alone
    const body = { session_ids: sessionIds, session_types: sessionIds.map(() => 'agent') };
    return this.calls.body('delete_sessions', { query, body });
  }
}

function of(sessionId: string) {
  return { session_id: sessionId };
}
