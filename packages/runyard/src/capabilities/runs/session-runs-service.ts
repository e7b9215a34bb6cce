import { chatMessagesOf } from '../../core/agents/chat-history.js';
import type { Media } from '../../core/media/media.js';
import type { Run } from '../../core/runs/run.js';
import { type DataScope, isWithin } from '../../platform/auth/caller.js';
import type { TimeBounds } from '../../platform/http/defences/time-bounds.js';
import type { DatabaseQuery } from '../../platform/http/request/database-query.js';
import { offsetOf } from '../../platform/http/request/pagination.js';
import type { WireFormat } from '../../platform/http/response/wire-format.js';
import type { RunSpace, Spaces } from '../capability.js';
import type { DatabaseSessions } from '../sessions/database-service.js';
import {
  isUnfinishedSession,
  journalsOf,
  type ListedRun,
  listedRun,
  listedRuns,
} from './bodies/listed-runs.js';
import { listedRunOf, type RunView, runMediaOf } from './bodies/run-body.js';
import type { SessionOrder } from './storage/session-run-store.js';

/** Which runs of a session are requested: all by default. */
export interface SessionRunsQuery {
  readonly created: TimeBounds;
  readonly withEvents: boolean;
  /** Default: the oldest first. */
  readonly order?: SessionOrder | undefined;
  readonly limit?: number | undefined;
  readonly page?: number | undefined;
}

/** How many runs of a session its chat history goes back. */
const chatHistoryRuns = 200;
/** How many of them are read together: what was said in all of them is held anyway. */
const readTogether = 25;
/** How many sessions are removed in one transaction. */
const removedAtOnce = 100;
/** Clocks of several processes differ. */
const clockSlackMs = 60_000;

type Listed = Pick<ListedRun, 'view' | 'events'>;

const removed = 'The session was deleted';

/** The sessions of all databases, with what the runs know of them. */
export class SessionRunsService {
  constructor(private readonly spaces: Spaces) {}

  /** Those of the database that a request chooses. */
  async in(query: DatabaseQuery): Promise<SessionSpace> {
    return new SessionSpace(await this.spaces.choose(query));
  }
}

/** The sessions of one database and their runs. Access to a session is checked before its runs are read. */
export class SessionSpace {
  constructor(private readonly space: RunSpace) {}

  get sessions(): DatabaseSessions {
    return this.space.sessions;
  }

  /** Stores runs that have just started here, so that requests find them. */
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

  /** Whether the older interface would not know the session yet. */
  isUnfinished(sessionId: string): Promise<boolean> {
    return isUnfinishedSession(this.space, sessionId);
  }

  /** The runs by the time when they began, a few at a time. */
  async *runs(sessionId: string, query: SessionRunsQuery): AsyncGenerator<ListedRun> {
    const { created, order = 'asc', limit = Number.MAX_SAFE_INTEGER, page = 1 } = query;
    const offset = query.limit === undefined ? 0 : offsetOf({ limit, page });
    const runIds = await this.space.sessionRuns.ids(sessionId, { created, order, limit, offset });
    yield* listedRuns(this.space, runIds, query.withEvents);
  }

  /** One run, or the nested run of a member. */
  async run(sessionId: string, runId: string, withEvents: boolean): Promise<Listed | undefined> {
    const { runs, sessionRuns } = this.space;
    const stored = await runs.load(runId);
    if (stored !== undefined) {
      return stored.run.sessionId === sessionId ? listedRun(this.space, stored, withEvents) : undefined;
    }
    // the id of a member's run contains its creation time: only runs that were executed then can hold it
    const time = timeIn(runId);
    if (time === undefined) return undefined;
    const during = { from: time - clockSlackMs, until: time + clockSlackMs };
    const holder = await sessionRuns.holderOf(sessionId, runId, during);
    const around = holder === undefined ? undefined : await runs.load(holder);
    if (around === undefined) return undefined;
    const { members } = await listedRun(this.space, around, withEvents);
    return members.find(({ view }) => view.run.runId === runId);
  }

  /** A run of the session as the wire lists it. Media are described; `withMedia`: carried. */
  async body(view: RunView, format: WireFormat, withMedia = false): Promise<Record<string, unknown>> {
    const content = async (item: Media) => (withMedia ? this.space.media.show(item) : undefined);
    const createdAt = new Date(view.run.createdAt).toISOString().replace(/\.\d+Z$/, 'Z');
    const body = listedRunOf(view, await runMediaOf(view.run, content), format);
    return { ...body, created_at: createdAt };
  }

  /** What was said in the last runs, without the other input of the model. */
  async chatHistory(sessionId: string): Promise<Record<string, unknown>[]> {
    const runIds = await this.space.sessionRuns.lastIds(sessionId, chatHistoryRuns);
    const messages: Record<string, unknown>[] = [];
    for await (const { run, steps } of journalsOf(this.space, runIds, readTogether))
      messages.push(...chatMessagesOf(run, steps));
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
