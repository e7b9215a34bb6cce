import type { MemoryChange } from '../../core/memory/user-memories.js';
import { type DataScope, scopeNaming } from '../../platform/auth/caller.js';
import {
  type Database,
  type RunStatement,
  type SqlValue,
  statement,
} from '../../platform/storage/database.js';
import { andWithin, ownerParameters } from '../../platform/storage/scope.js';
import { searchText } from '../../platform/storage/search-text.js';
import { foldedTopic, inList, type MemoryRow, memoryColumns, memoryFromRow } from './rows-store.js';
import { type StoredMemory, tidyTopics } from './stored-memory.js';

/** Runs a statement that is written with `?` placeholders. */
type Run = <Row>(sql: string, parameters: readonly SqlValue[]) => Promise<Row[]>;

type Update = Extract<MemoryChange, { kind: 'update' }>;

/** A memory that takes the place of others. */
export interface Replacement {
  readonly memory: StoredMemory;
  /** What it was made of, as it was read. */
  readonly of: readonly StoredMemory[];
}

/**
 * Writes memories. Each method is one transaction that begins with the owners' rows: another writer of memories
 * of the same person waits, so that the counts of the owners are right and a replacement sees what it replaces.
 */
export class MemoryWriteStore {
  constructor(private readonly database: Database) {}

  /**
   * All changes or none, in their order, and only to memories of this person that were not changed later than `now`:
   * a run that is executed again makes its changes again, and later changes by others are kept.
   */
  async change(userId: string, changes: readonly MemoryChange[], now: number): Promise<void> {
    if (changes.length === 0) return;
    await this.transaction(async (run) => {
      await lockOwner(run, userId);
      for (const change of changes) await this.applyChange(run, userId, change, now);
      await this.recount(run, [userId]);
    });
  }

  /** Changes the text and the topics of a memory of this person; undefined if the id is unknown. */
  update(userId: string, change: Update, now: number): Promise<StoredMemory | undefined> {
    return this.transaction(async (run) => {
      await lockOwner(run, userId);
      const row = await updateMemory(run, userId, change, { now, evenLater: true });
      await this.recount(run, [userId]);
      return row && memoryFromRow(row);
    });
  }

  /** Deletes those of the memories that the scope shows and that belong to the user, if one is named. */
  async delete(scope: DataScope, memoryIds: readonly string[], userId?: string): Promise<void> {
    const owner = scopeNaming({ scope }, userId);
    const parameters = [memoryIds, ...ownerParameters(owner)];
    const named = inList(this.database, 'memory_id') + andWithin(owner, 'user_id');
    await this.transaction(async (run) => {
      const rows = await run<{ user_id: string }>(
        `SELECT DISTINCT user_id FROM memories WHERE ${named}`,
        parameters,
      );
      if (rows.length === 0) return;
      const owners = rows.map((row) => row.user_id);
      await this.lockOwners(run, owners);
      await run(`DELETE FROM memories WHERE ${named}`, parameters);
      await this.recount(run, owners);
    });
  }

  /**
   * Puts one memory in the place of others, or answers false and writes nothing when one of them was changed or
   * deleted since it was read. Memories added in between stay.
   */
  replace(userId: string, { memory, of }: Replacement): Promise<boolean> {
    const ids = of.map(({ memoryId }) => memoryId);
    const replaced = `user_id = ? AND ${inList(this.database, 'memory_id')}`;
    return this.transaction(async (run) => {
      await lockOwner(run, userId);
      const rows = await run<MemoryRow>(
        `SELECT ${memoryColumns.join(', ')} FROM memories WHERE ${replaced}`,
        [userId, ids],
      );
      const unchanged = isAsRead(of, rows.map(memoryFromRow));
      if (unchanged) {
        await run(`DELETE FROM memories WHERE ${replaced}`, [userId, ids]);
        await insertMemory(run, { ...memory, input: null });
      }
      await this.recount(run, [userId]);
      return unchanged;
    });
  }

  private async applyChange(run: Run, userId: string, change: MemoryChange, now: number): Promise<void> {
    if (change.kind === 'add') {
      // an id that is there already is left as it is
      await insertMemory(run, { ...change, userId, createdAt: now, updatedAt: now });
    } else if (change.kind === 'update') {
      await updateMemory(run, userId, change, { now, evenLater: false });
    } else {
      const one = change.kind === 'delete' ? [change.memoryId] : [];
      await run(
        `DELETE FROM memories WHERE user_id = ? AND updated_at <= ?${one.length > 0 ? ' AND memory_id = ?' : ''}`,
        [userId, now, ...one],
      );
    }
  }

  /** In one order, so that two who delete memories of the same people do not wait for each other. */
  private async lockOwners(run: Run, owners: readonly string[]): Promise<void> {
    if (this.database.dialect === 'sqlite') return;
    const named = inList(this.database, 'user_id');
    await run(`SELECT user_id FROM memory_owners WHERE ${named} ORDER BY user_id FOR UPDATE`, [owners]);
  }

  private async recount(run: Run, owners: readonly string[]): Promise<void> {
    const named = inList(this.database, 'user_id');
    const theirs = 'FROM memories AS mine WHERE mine.user_id = memory_owners.user_id';
    await run(`DELETE FROM memory_owners WHERE ${named} AND NOT EXISTS (SELECT 1 ${theirs})`, [owners]);
    await run(
      `UPDATE memory_owners SET total = (SELECT count(*) ${theirs}),
        updated_at = (SELECT max(mine.updated_at) ${theirs}) WHERE ${named}`,
      [owners],
    );
  }

  private transaction<T>(work: (run: Run) => Promise<T>): Promise<T> {
    const { dialect } = this.database;
    const translated = (run: RunStatement): Run => {
      return (sql, parameters) => run(statement('memories', sql)[dialect], parameters);
    };
    return this.database.transaction((run) => work(translated(run)));
  }
}

async function lockOwner(run: Run, userId: string): Promise<void> {
  await run(
    `INSERT INTO memory_owners (user_id, total, updated_at) VALUES (?, 0, 0)
      ON CONFLICT (user_id) DO UPDATE SET total = memory_owners.total`,
    [userId],
  );
}

async function insertMemory(
  run: Run,
  memory: StoredMemory & { readonly input: string | null },
): Promise<void> {
  const topics = memory.topics && tidyTopics(memory.topics);
  const inserted = await run(
    `INSERT INTO memories (memory_id, user_id, agent_id, team_id, created_at, updated_at, search_text, memory,
      topics, input) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (memory_id) DO NOTHING RETURNING memory_id`,
    [
      memory.memoryId,
      memory.userId,
      memory.agentId,
      memory.teamId,
      memory.createdAt,
      memory.updatedAt,
      searchText(memory.memory),
      memory.memory,
      topics && JSON.stringify(topics),
      memory.input,
    ],
  );
  if (inserted.length > 0) await insertTopics(run, memory, topics ?? []);
}

async function updateMemory(
  run: Run,
  userId: string,
  { memoryId, memory, topics: given }: Update,
  { now, evenLater }: { readonly now: number; readonly evenLater: boolean },
): Promise<MemoryRow | undefined> {
  const topics = given && tidyTopics(given);
  const [row] = await run<MemoryRow>(
    `UPDATE memories SET memory = ?, search_text = ?, updated_at = CASE WHEN updated_at > ? THEN updated_at ELSE ? END
      ${topics ? ', topics = ?' : ''} WHERE memory_id = ? AND user_id = ?
      ${evenLater ? '' : 'AND updated_at <= ?'} RETURNING ${memoryColumns.join(', ')}`,
    [
      memory,
      searchText(memory),
      now,
      now,
      ...(topics ? [JSON.stringify(topics)] : []),
      memoryId,
      userId,
      ...(evenLater ? [] : [now]),
    ],
  );
  if (row === undefined) return undefined;
  const updatedAt = row.updated_at;
  if (topics === undefined) {
    await run('UPDATE memory_topics SET updated_at = ? WHERE memory_id = ?', [updatedAt, memoryId]);
  } else {
    await run('DELETE FROM memory_topics WHERE memory_id = ?', [memoryId]);
    await insertTopics(run, { memoryId, userId, updatedAt }, topics);
  }
  return row;
}

async function insertTopics(
  run: Run,
  { memoryId, userId, updatedAt }: Pick<StoredMemory, 'memoryId' | 'userId' | 'updatedAt'>,
  topics: readonly string[],
): Promise<void> {
  const byFolded = new Map(topics.toReversed().map((topic) => [foldedTopic(topic), topic]));
  if (byFolded.size === 0) return;
  const rows = [...byFolded].map(([folded, topic]) => [folded, memoryId, userId, updatedAt, topic]);
  await run(
    `INSERT INTO memory_topics (search_topic, memory_id, user_id, updated_at, topic)
      VALUES ${rows.map(() => '(?, ?, ?, ?, ?)').join(', ')}`,
    rows.flat(),
  );
}

function isAsRead(read: readonly StoredMemory[], stored: readonly StoredMemory[]): boolean {
  const byId = new Map(stored.map((memory) => [memory.memoryId, JSON.stringify(memory)]));
  return read.every((memory) => byId.get(memory.memoryId) === JSON.stringify(memory));
}
