import type { Run, RunKind } from './run.js';

/** Whose sessions are meant: those of one person with one component. */
export interface SessionOwner {
  readonly userId: string;
  readonly kind: RunKind;
  readonly componentId: string;
}

export interface PastSession {
  readonly sessionId: string;
  readonly name: string | null;
  readonly updatedAt: number;
  /** The last completed runs, oldest first. */
  readonly runs: readonly Run[];
}

export interface PastSessionsQuery {
  readonly exceptSessionId: string;
  readonly sessions: number;
  /** How many runs of each. */
  readonly runs: number;
}

/** What a run may read beside its own session. A session of another owner answers as if it did not exist. */
export interface PastSessions {
  /** The sessions that were used last, the newest first. */
  latest(owner: SessionOwner, query: PastSessionsQuery): Promise<readonly PastSession[]>;
  read(owner: SessionOwner, sessionId: string, runs: number): Promise<PastSession | undefined>;
}
