/** One fact about a person. Times are milliseconds since the epoch. */
export interface UserMemory {
  readonly memoryId: string;
  readonly userId: string;
  readonly memory: string;
  readonly topics: readonly string[];
  /** Which component wrote it; both null for one that was written by a person. */
  readonly agentId: string | null;
  readonly teamId: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What a run changes about the memories of its user. Ids are chosen by the run, so that doing it twice does it once. */
export type MemoryChange =
  | {
      readonly kind: 'add';
      readonly memoryId: string;
      readonly memory: string;
      readonly topics: readonly string[];
      readonly agentId: string | null;
      readonly teamId: string | null;
      /** What the person said that it comes from. */
      readonly input: string | null;
    }
  /** Topics that are left out stay. */
  | {
      readonly kind: 'update';
      readonly memoryId: string;
      readonly memory: string;
      readonly topics?: readonly string[];
    }
  | { readonly kind: 'delete'; readonly memoryId: string }
  | { readonly kind: 'clear' };

/** The memories of people, as runs see them: always those of one person. */
export interface UserMemories {
  /** The newest first. */
  list(userId: string, limit: number): Promise<readonly UserMemory[]>;
  /** Those whose text or topics hold all the words, the newest first. */
  search(userId: string, query: string, limit: number): Promise<readonly UserMemory[]>;
  /** One memory of this person. */
  find(userId: string, memoryId: string): Promise<UserMemory | undefined>;
  /**
   * All changes or none, in their order. A memory that is not this person's is left alone. `now` is when the changes
   * were decided, and the time that changed memories get. A run that is executed again makes the same changes with the
   * same time, without further effect: an added memory that is there already stays as it is, and one that was
   * changed later than `now` is neither changed nor removed.
   */
  change(userId: string, changes: readonly MemoryChange[], now: number): Promise<void>;
}
