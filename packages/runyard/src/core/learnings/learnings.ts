import type { JsonObject } from '../json.js';

/** A structured record that agents keep. Times are milliseconds since the epoch. */
export interface Learning {
  readonly learningId: string;
  /** `user_profile`, `user_memory`, `session_context`, `entity_memory`, or a name of the application's own. */
  readonly learningType: string;
  /** Null is the namespace `global`. */
  readonly namespace: string | null;
  readonly userId: string | null;
  readonly agentId: string | null;
  readonly teamId: string | null;
  readonly sessionId: string | null;
  readonly entityId: string | null;
  readonly entityType: string | null;
  readonly content: JsonObject;
  readonly metadata: JsonObject | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What a learning is about and whose it is: all that stays the same when its content changes. */
export type LearningIdentity = Omit<Learning, 'content' | 'metadata' | 'createdAt' | 'updatedAt'>;

/** Which learnings a run looks for. All that is given has to fit. */
export interface LearningsQuery {
  readonly learningType?: string;
  readonly exceptTypes?: readonly string[];
  readonly namespaces?: readonly string[];
  /** Words to look for. Records that hold none of them are left out; those that hold most of them come first. */
  readonly search?: string;
  readonly limit: number;
}

/** How a run changes a record, or makes it. */
export interface LearningChange {
  readonly identity: LearningIdentity;
  /** A change with the same key is made once, however often it is asked for. */
  readonly key: string;
  readonly now: number;
  /**
   * The new content from the one before; undefined leaves it as it is. The record is locked while this runs. It may be
   * called again, so it must have no effects.
   */
  merge(content: JsonObject | undefined): JsonObject | undefined;
}

/** What agents have learned, as runs see it. */
export interface Learnings {
  /** Of records that belong to this user or have no owner; the newest first, unless words are searched for. */
  find(userId: string | null, query: LearningsQuery): Promise<readonly Learning[]>;
  /** The record with this id, if it belongs to this user; with null, if it has no owner. */
  get(userId: string | null, learningId: string): Promise<Learning | undefined>;
  /** A record under this id that is about something else, or of another user, is left alone. */
  change(change: LearningChange): Promise<void>;
}

/** How many keys of changes a record remembers: more than a run that was interrupted can be behind. */
export const rememberedChanges = 50;

/** Whether a stored record is the one that a change means. */
export function isSameLearning(
  stored: Omit<LearningIdentity, 'agentId' | 'teamId' | 'learningId'>,
  wanted: LearningIdentity,
): boolean {
  return (
    stored.learningType === wanted.learningType &&
    stored.userId === wanted.userId &&
    stored.sessionId === wanted.sessionId &&
    stored.entityId === wanted.entityId &&
    stored.entityType === wanted.entityType &&
    namespaceOf(stored) === namespaceOf(wanted)
  );
}

export const globalNamespace = 'global';

/** What the namespaces begin with that hold what is one person's alone. The person's id follows. */
export const privateNamespacePrefix = 'user:';

/** What has no namespace of its own is in the global one. */
export function namespaceOf({ namespace }: Pick<Learning, 'namespace'>): string {
  return namespace ?? globalNamespace;
}
