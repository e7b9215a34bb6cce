import { setImmediate as endOfTurn } from 'node:timers/promises';
import type { Media } from '../../core/media.js';
import { childrenOf } from '../../core/runs/child-run.js';
import type { Run } from '../../core/runs/run.js';
import { type DataScope, isWithin } from '../../platform/auth/caller.js';
import type { DatabaseQuery } from '../../platform/http/database-query.js';
import { offsetOf } from '../../platform/http/pagination.js';
import type { TimeBounds } from '../../platform/http/time-bounds.js';
import type { DatabaseSessions } from '../sessions/database-service.js';
import { saidIn } from './chat-history.js';
import type { RunView } from './run-body.js';
import type { RunSpace, RunSpaces } from './run-spaces.js';

/** Which runs of a session are wanted: all, unless something is said. */
export interface SessionRunsQuery {
  readonly created: TimeBounds;
  readonly limit?: number | undefined;
  readonly page?: number | undefined;
}

/** How many runs are held with their journals at once. */
const runsAtOnce = 20;
/** How many runs of a session its chat history goes back. */
const chatHistoryRuns = 200;
/** How many sessions are removed in one transaction. */
const removedAtOnce = 100;
/** Clocks of several processes differ. */
const clockSlackMs = 60_000;

const removed = 'The session was deleted';

/** The sessions of all databases, with what the runs know of them. */
export class SessionRunsService {
  constructor(private readonly spaces: RunSpaces) {}

  /** Those of the database that a request chooses. */
  async in(query: DatabaseQuery): Promise<SessionSpace> {
    return new SessionSpace(await this.spaces.choose(query));
  }
}

/** The sessions of one database and their runs. Who may see a session is asked before its runs are. */
export class SessionSpace {
  constructor(private readonly space: RunSpace) {}

  get sessions(): DatabaseSessions {
    return this.space.sessions;
  }

  /** What has just begun here is stored now, so that whoever asks for it finds it. */
  async settle(sessionId: string): Promise<void> {
    await Promise.allSettled(this.space.engine.inSession(sessionId).map((handle) => handle.stored()));
  }

  /** The first run of the component that the session is with. */
  firstRun(session: Pick<Run, 'sessionId' | 'kind' | 'componentId'>): Promise<Run | undefined> {
    return this.space.sessionRuns.first(session.sessionId, session.kind, session.componentId);
  }

  hasRuns(sessionId: string): Promise<boolean> {
    return this.space.sessionRuns.hasAny(sessionId);
  }

  /** The runs in the order in which they began, a few at a time; those of members right before their team's. */
  async *runs(sessionId: string, query: SessionRunsQuery): AsyncGenerator<RunView> {
    const { created, limit = Number.MAX_SAFE_INTEGER, page = 1 } = query;
    const offset = query.limit === undefined ? 0 : offsetOf({ limit, page });
    const runIds = await this.space.sessionRuns.ids(sessionId, { created, limit, offset });
    for await (const view of this.views(runIds)) yield* withMembers(view);
  }

  /** One run, or that of a member inside of one. */
  async run(sessionId: string, runId: string): Promise<RunView | undefined> {
    const { runs, sessionRuns } = this.space;
    const stored = await runs.load(runId);
    if (stored !== undefined) return stored.run.sessionId === sessionId ? stored : undefined;
    // the id of a member's run tells when it was made: only what was executed then can hold it
    const time = timeIn(runId);
    if (time === undefined) return undefined;
    const during = { from: time - clockSlackMs, until: time + clockSlackMs };
    const holder = await sessionRuns.holderOf(sessionId, runId, during);
    const around = holder === undefined ? undefined : await runs.load(holder);
    if (around === undefined) return undefined;
    for (const view of withMembers(around)) if (view.run.runId === runId) return view;
    return undefined;
  }

  /** Media of a run as the wire carries them. */
  showMedia(media: Media): Promise<string | undefined> {
    return this.space.media.show(media);
  }

  /** What was said in the last runs, without what the model was told beside it. */
  async chatHistory(sessionId: string): Promise<Record<string, unknown>[]> {
    const runIds = await this.space.sessionRuns.lastIds(sessionId, chatHistoryRuns);
    const messages: Record<string, unknown>[] = [];
    for await (const view of this.views(runIds)) messages.push(...saidIn(view));
    return messages;
  }

  /** Ends what runs in the sessions, here and elsewhere, and removes them with all that belongs to them. */
  async remove(scope: DataScope, sessionIds: readonly string[]): Promise<void> {
    for (let at = 0; at < sessionIds.length; at += removedAtOnce) {
      await this.removeSome(scope, sessionIds.slice(at, at + removedAtOnce));
    }
  }

  private async removeSome(scope: DataScope, sessionIds: readonly string[]): Promise<void> {
    const { engine, sessionRuns } = this.space;
    await Promise.all(sessionIds.map((sessionId) => this.settle(sessionId)));
    const open = (await sessionRuns.open(sessionIds)).filter(({ userId }) => isWithin(scope, userId));
    await Promise.all(open.map((run) => engine.cancel(run.runId, cancellationOf(run))));
    await sessionRuns.remove(scope, sessionIds, Date.now());
  }

  private async *views(runIds: readonly string[]): AsyncGenerator<RunView> {
    for (let at = 0; at < runIds.length; at += runsAtOnce) {
      yield* await this.space.runs.loadAll(runIds.slice(at, at + runsAtOnce));
      // SQLite reads on this thread: others have their turn between two reads
      await endOfTurn();
    }
  }
}

/** A run, and before it those of its members, the innermost first. Steps of a workflow stand inside of its body. */
function* withMembers(view: RunView): Generator<RunView> {
  if (view.run.kind === 'team') {
    for (const { run, steps } of childrenOf(view.run, view.steps)) yield* withMembers({ run, steps });
  }
  yield view;
}

function cancellationOf({ runId, kind, componentId, sessionId }: Run) {
  return {
    ...{ runId, kind, componentId, sessionId },
    userId: null,
    reason: removed,
    requestedAt: Date.now(),
  };
}

/** When an id was made, if it is one that sorts by time. */
function timeIn(id: string): number | undefined {
  const parts = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/.exec(id);
  return parts === null ? undefined : Number.parseInt(`${parts[1]}${parts[2]}`, 16);
}
