import { randomUUID } from 'node:crypto';
import { errors } from '../../core/errors/errors.js';
import type { JsonObject } from '../../core/json.js';
import { keyedLearningId, missingIdentity } from '../../core/learnings/learning-ids.js';
import { type Learning, privateNamespacePrefix } from '../../core/learnings/learnings.js';
import { type Caller, type DataScope, isWithin } from '../../platform/auth/caller.js';
import { refuseReserved } from '../../platform/auth/named-user.js';
import type { DatabaseQuery } from '../../platform/http/request/database-query.js';
import { type ListPage, offsetOf, type PageRequest } from '../../platform/http/request/pagination.js';
import type { Database } from '../../platform/storage/database.js';
import { RunLearningStore } from './run-learnings-store.js';
import {
  type LearningFilter,
  LearningStore,
  type LearningUser,
  type Order,
  type UsersFilter,
} from './store.js';

/** The learnings of one database. */
export class DatabaseLearnings {
  readonly store: LearningStore;
  /** As runs see them. */
  readonly ofRuns: RunLearningStore;

  constructor(database: Database) {
    this.store = new LearningStore(database);
    this.ofRuns = new RunLearningStore(database);
  }
}

/** Where the learnings are: one part for each database, of which a request chooses one. */
export interface LearningSpaces {
  choose(query: DatabaseQuery): Promise<{
    readonly learnings: DatabaseLearnings;
    readonly sessions: { find(scope: DataScope, sessionId: string): Promise<object | undefined> };
  }>;
}

/** A learning in a request. Omitted fields are null. */
export type GivenLearning = Omit<Learning, 'learningId' | 'createdAt' | 'updatedAt'>;

/** What of a learning changes. */
export interface LearningUpdate {
  readonly content?: JsonObject | null;
  /** Null clears it. */
  readonly metadata?: JsonObject | null;
}

/** The learnings of agents, for people and programs to read and correct. */
export class LearningsService {
  constructor(private readonly spaces: LearningSpaces) {}

  /** One page of what the caller may see: their own records, and those without an owner. */
  async list(
    { scope }: Caller,
    database: DatabaseQuery,
    filter: LearningFilter,
    order: Order,
    page: PageRequest,
  ): Promise<ListPage<Learning>> {
    if (isAnother(scope, filter.user_id)) throw errors.learningsOfAnother('list learnings');
    const store = await this.store(database);
    const total = await store.count(scope, filter);
    const range = { limit: page.limit, offset: offsetOf(page) };
    const items = range.offset < total ? await store.list(scope, filter, order, range) : [];
    return { items, total };
  }

  /** Stores a new learning. Of several for one identity the first one succeeds. */
  async create(caller: Caller, database: DatabaseQuery, given: GivenLearning): Promise<Learning> {
    const { scope } = caller;
    refuseReserved(caller, given.userId ?? undefined);
    if (isAnother(scope, given.userId) || isPrivateToAnother(scope, given.namespace))
      throw errors.learningsOfAnother('create learnings');
    const { learningType } = given;
    const missing = missingIdentity(learningType, given);
    if (missing.length > 0) throw identityRequired(given, missing);
    const { learnings, sessions } = await this.spaces.choose(database);
    const { store } = learnings;
    if (scope.kind !== 'all') {
      refuseSharedKey(given);
      // that of a session without a user is for its runs alone
      if (learningType === 'working_memory' && given.userId === null)
        throw identityRequired(given, ['userId']);
      // the one record of a session is that of its user: for other users the session does not exist
      const isOwn = learningType !== 'session_context' || (await sessions.find(scope, given.sessionId!));
      if (!isOwn) throw errors.sessionNotFound();
    }
    const learningId = keyedLearningId(learningType, given) ?? randomUUID();
    const now = Date.now();
    const learning = { ...given, learningId, createdAt: now, updatedAt: now };
    if (!(await store.insert(learning))) throw errors.learningExists(learningType, learningId);
    return learning;
  }

  async get({ scope }: Caller, database: DatabaseQuery, learningId: string): Promise<Learning> {
    const found = await (await this.store(database)).find(scope, learningId);
    if (found === undefined) throw errors.learningNotFound();
    return found;
  }

  async update(
    caller: Caller,
    database: DatabaseQuery,
    learningId: string,
    { content, metadata }: LearningUpdate,
  ): Promise<Learning> {
    const found = await this.findToChange(caller, database, learningId);
    if (content === null) throw contentRequired();
    if (content === undefined && metadata === undefined) return found;
    const store = await this.store(database);
    const given = { ...(content !== undefined && { content }), ...(metadata !== undefined && { metadata }) };
    if (!(await store.update(caller.scope, found, given, Date.now()))) throw errors.learningNotFound();
    return this.get(caller, database, learningId);
  }

  async delete(caller: Caller, database: DatabaseQuery, learningId: string): Promise<void> {
    await this.findToChange(caller, database, learningId);
    const store = await this.store(database);
    if (!(await store.delete(caller.scope, learningId))) throw errors.learningNotFound();
  }

  /** One page of those who have learnings. */
  async users(
    { scope }: Caller,
    database: DatabaseQuery,
    filter: UsersFilter,
    order: Order,
    page: PageRequest,
  ): Promise<ListPage<LearningUser>> {
    if (isAnother(scope, filter.userId)) throw errors.learningsOfAnother('list learning users');
    const store = await this.store(database);
    const total = await store.countUsers(scope, filter);
    const range = { limit: page.limit, offset: offsetOf(page) };
    const items = range.offset < total ? await store.users(scope, filter, order, range) : [];
    return { items, total };
  }

  /** Forgets what is known about a user, all of it or one type. */
  async deleteOfUser(
    { scope }: Caller,
    database: DatabaseQuery,
    userId: string,
    learningType: string | undefined,
  ): Promise<void> {
    if (isAnother(scope, userId)) throw errors.learningsOfAnother('delete learnings');
    await (await this.store(database)).deleteOfUser(userId, learningType);
  }

  private async findToChange(caller: Caller, database: DatabaseQuery, learningId: string): Promise<Learning> {
    const found = await this.get(caller, database, learningId);
    if (caller.scope.kind !== 'all' && found.userId === null) throw errors.ownerlessLearning();
    return found;
  }

  private async store(database: DatabaseQuery): Promise<LearningStore> {
    return (await this.spaces.choose(database)).learnings.store;
  }
}

/** Whether a caller who does not see everything names another user. */
function isAnother(scope: DataScope, userId: string | null | undefined): boolean {
  return userId !== null && userId !== undefined && !isWithin(scope, userId);
}

/** Agents keep there what one person alone is to see. */
function isPrivateToAnother(scope: DataScope, namespace: string | null): boolean {
  return (
    namespace?.startsWith(privateNamespacePrefix) === true &&
    isAnother(scope, namespace.slice(privateNamespacePrefix.length))
  );
}

/** An entity has one record in a shared namespace, for all users: a user's own would take its place. */
function refuseSharedKey({ learningType, userId, namespace }: GivenLearning): void {
  if (learningType !== 'entity_memory' || userId === null) return;
  if (!namespace?.startsWith(privateNamespacePrefix))
    throw errors.sharedEntity(privateNamespacePrefix + userId);
}

const wireNames = {
  userId: 'user_id',
  sessionId: 'session_id',
  entityId: 'entity_id',
  entityType: 'entity_type',
  namespace: 'namespace',
} as const;

function identityRequired(given: GivenLearning, missing: ReturnType<typeof missingIdentity>) {
  return errors.invalidRequest(
    missing.map((name) => ({
      type: 'missing',
      loc: ['body', wireNames[name]],
      msg: `A '${given.learningType}' learning is keyed by its identity; provide ${wireNames[name]}`,
      input: given[name],
    })),
  );
}

function contentRequired() {
  return errors.invalidRequest([
    {
      type: 'dict_type',
      loc: ['body', 'content'],
      msg: 'content cannot be null; omit the field to leave it unchanged',
      input: null,
    },
  ]);
}
