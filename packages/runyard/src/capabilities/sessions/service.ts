import { errors } from '../../core/errors/errors.js';
import { newId } from '../../core/ids.js';
import type { JsonObject } from '../../core/json.js';
import type { SessionSummary } from '../../core/runs/journal/ports.js';
import type { RunKind } from '../../core/runs/run.js';
import { Workflow } from '../../core/workflows/workflow.js';
import { type Caller, type DataScope, scopeNaming } from '../../platform/auth/caller.js';
import { fixedStateKeys, without } from '../../platform/auth/fixed-values.js';
import { userFor } from '../../platform/auth/named-user.js';
import { boundsOf } from '../../platform/http/defences/time-bounds.js';
import type { DatabaseQuery } from '../../platform/http/request/database-query.js';
import { offsetOf } from '../../platform/http/request/pagination.js';
import type { ComponentsService } from '../components/service.js';
import type { SessionRunsService, SessionSpace } from '../runs/session-runs-service.js';
import type { SessionFilter, SessionOrder } from './list-store.js';
import {
  type CreateSessionBody,
  type ListSessionsQuery,
  type SessionQuery,
  timeOf,
  type UpdateSessionBody,
} from './schema.js';
import { listedSessionOf, sessionDetailOf } from './session-body.js';
import type { SessionRecord } from './store.js';

type Body = Record<string, unknown>;

export interface SessionsServiceOptions {
  readonly runs: SessionRunsService;
  readonly components: ComponentsService;
}

/** A page of a list: how long the list is, and the entries, which are read as they are asked for. */
export interface SessionsPage {
  readonly total: number;
  readonly entries: AsyncIterable<Body>;
}

const sessionsAtOnce = 100;

const orders: Readonly<Record<string, SessionOrder['by']>> = {
  created_at: 'created_at',
  updated_at: 'updated_at',
  session_id: 'session_id',
  user_id: 'user_id',
  session_type: 'kind',
  agent_id: 'agent',
  team_id: 'team',
  workflow_id: 'workflow',
};

/** Sessions as people see and change them. What runs do to them comes with the runs' own writes. */
export class SessionsService {
  constructor(private readonly options: SessionsServiceOptions) {}

  async list(caller: Caller, query: ListSessionsQuery): Promise<SessionsPage> {
    const { sessions } = await this.options.runs.in(query);
    const scope = scopeNaming(caller, query.user_id);
    const filter = filterOf(query);
    const order = { by: orderOf(query.sort_by), direction: query.sort_order };
    const total = await sessions.count(scope, filter);
    const range = { offset: offsetOf(query), limit: query.limit };
    const ids = range.offset >= total ? [] : await sessions.ids(scope, filter, order, range);
    const nameOf = (session: SessionRecord) => this.nameOf(session);
    async function* entries() {
      for (let at = 0; at < ids.length; at += sessionsAtOnce) {
        for (const session of await sessions.records(ids.slice(at, at + sessionsAtOnce)))
          yield listedSessionOf(session, await nameOf(session));
      }
    }
    return { total, entries: entries() };
  }

  /** Makes a session that nothing has run in. Of two who ask for one id, one gets it. */
  async create(caller: Caller, kind: RunKind, query: DatabaseQuery, body: CreateSessionBody): Promise<Body> {
    const space = await this.options.runs.in(query);
    const sessionId = body.session_id || newId();
    const componentId = body[`${kind}_id`] ?? '';
    const userId = userFor(caller, body.user_id ?? undefined);
    const made = await space.sessions.create({
      ...{ sessionId, kind, componentId, userId },
      name: body.session_name ?? null,
      shownName: (await this.nameWithout(kind, componentId)) || null,
      state: without(body.session_state ?? {}, fixedStateKeys(caller)) ?? {},
      metadata: body.metadata ?? null,
      now: Date.now(),
    });
    if (made) return this.detail(space, { kind: 'all' }, sessionId);
    // a caller who sees only their own learns nothing about the sessions of others
    const known = await space.sessions.find(caller.scope, sessionId);
    throw known === undefined ? errors.sessionIdRefused(sessionId) : errors.sessionExists(sessionId);
  }

  async get(caller: Caller, sessionId: string, query: SessionQuery): Promise<Body> {
    const space = await this.options.runs.in(query);
    await space.settle(sessionId);
    return this.detail(space, scopeNaming(caller, query.user_id), sessionId, query.type);
  }

  /** The record alone, for an interface that shows no more of a session. */
  async record(caller: Caller, sessionId: string, query: DatabaseQuery): Promise<SessionRecord> {
    const { sessions } = await this.options.runs.in(query);
    const found = await sessions.find(caller.scope, sessionId);
    const [session] = found === undefined ? [] : await sessions.records([sessionId]);
    if (session === undefined) throw notFound(sessionId);
    return session;
  }

  /** Makes the metadata of a session from what it is at that moment: concurrent changes are not lost. */
  async changeMetadata(
    caller: Caller,
    sessionId: string,
    query: DatabaseQuery,
    metadata: (current: JsonObject) => JsonObject,
  ): Promise<void> {
    const { sessions } = await this.options.runs.in(query);
    if (!(await sessions.change(caller.scope, sessionId, { metadata, now: Date.now() })))
      throw notFound(sessionId);
  }

  /** Changes what is given, in one transaction: concurrent runs change only what they themselves set. */
  async update(
    caller: Caller,
    sessionId: string,
    query: SessionQuery,
    body: UpdateSessionBody,
  ): Promise<Body> {
    const space = await this.options.runs.in(query);
    const scope = scopeNaming(caller, query.user_id);
    const fixed = fixedStateKeys(caller);
    const now = Date.now();
    await space.settle(sessionId);
    const changed = await space.sessions.change(scope, sessionId, {
      name: body.session_name ?? undefined,
      state: without(body.session_state ?? undefined, fixed),
      keptState: fixed,
      metadata: body.metadata ?? undefined,
      summary: body.summary ? summaryOf(body.summary, now) : undefined,
      now,
    });
    if (!changed) throw notFound(sessionId);
    return this.detail(space, scope, sessionId);
  }

  /** Deletes those of the sessions that the caller may see. Does not reveal whether there were any. */
  async delete(
    caller: Caller,
    sessionIds: readonly string[],
    query: DatabaseQuery & { readonly user_id?: string | undefined },
  ): Promise<void> {
    const space = await this.options.runs.in(query);
    await space.remove(scopeNaming(caller, query.user_id), sessionIds);
  }

  private async detail(
    space: SessionSpace,
    scope: DataScope,
    sessionId: string,
    kind?: RunKind,
  ): Promise<Body> {
    const found = await space.sessions.find(scope, sessionId);
    if (found === undefined) throw notFound(sessionId, kind);
    const [[session], firstRun, chatHistory] = await Promise.all([
      space.sessions.records([sessionId]),
      space.firstRun(found),
      space.chatHistory(sessionId),
    ]);
    if (session === undefined) throw notFound(sessionId, kind);
    const component = await this.options.components.shown(session.kind, session.componentId);
    return sessionDetailOf({
      ...{ session, firstRun, chatHistory },
      name: await this.nameOf(session),
      modelName: (component && 'model' in component && component.model?.name) || undefined,
      steps: component instanceof Workflow ? component.nodes.map(stepOf) : [],
    });
  }

  private async nameOf({ name, kind, componentId }: SessionRecord): Promise<string> {
    return name ?? (await this.nameWithout(kind, componentId));
  }

  /** The name of a session that has neither a given name nor a message. */
  private async nameWithout(kind: RunKind, componentId: string): Promise<string> {
    if (kind !== 'workflow' || componentId === '') return '';
    return `New ${(await this.options.components.shown(kind, componentId))?.name ?? componentId} Session`;
  }
}

function filterOf(query: ListSessionsQuery): SessionFilter {
  const { created_after: after, created_before: before } = query;
  return {
    kind: query.type,
    componentId: query.component_id,
    name: query.session_name,
    ...(after === undefined && before === undefined ? {} : { created: boundsOf(after, before) }),
  };
}

function orderOf(column: string): SessionOrder['by'] {
  return (Object.hasOwn(orders, column) && orders[column]) || 'created_at';
}

/** It covers the runs so far: a run in progress does not replace it. */
function summaryOf(
  { summary, topics, updated_at: time }: NonNullable<UpdateSessionBody['summary']>,
  now: number,
): SessionSummary {
  const updatedAt = (time && timeOf(time)) || now;
  return { summary, topics: topics ?? [], updatedAt, coversUntil: now };
}

function stepOf({ name, description, type }: Workflow['nodes'][number]): Body {
  return { name, description: description ?? null, type };
}

const kindNames = { agent: 'Agent ', team: 'Team ', workflow: 'Workflow ' } as const;

function notFound(sessionId: string, kind?: RunKind) {
  const what = kind === undefined ? '' : kindNames[kind];
  return errors.sessionNotFound(`${what}Session with id '${sessionId}' not found`);
}
