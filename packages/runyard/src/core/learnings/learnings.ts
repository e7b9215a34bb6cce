import type { JsonObject } from '../json.js';

/** A structured record that agents keep. Times are milliseconds since the epoch. */
export interface Learning {
  readonly learningId: string;
  /** `user_profile`, `user_memory`, `session_context`, `entity_memory`, or a name of the application's own. */
  readonly learningType: string;
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

/** Which learnings a run asks for. All that is given has to fit. */
export interface LearningsQuery {
  readonly learningType: string;
  readonly namespace?: string;
  readonly sessionId?: string;
  readonly entityId?: string;
  readonly entityType?: string;
  /** Words that the record has to hold, all of them. */
  readonly search?: string;
  readonly limit: number;
}

/** What agents have learned, as runs see it: what belongs to their user, and what belongs to nobody. */
export interface Learnings {
  /** The newest first. */
  find(userId: string | null, query: LearningsQuery): Promise<readonly Learning[]>;
  get(userId: string | null, learningId: string): Promise<Learning | undefined>;
  /** Stores a record, in the place of an earlier one with the same id; one that is another person's is left alone. */
  put(userId: string | null, learning: Omit<Learning, 'createdAt' | 'updatedAt'>, now: number): Promise<void>;
}
