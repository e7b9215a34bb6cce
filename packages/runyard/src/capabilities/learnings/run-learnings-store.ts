import { bestMatches, searchableText, searchWords } from '../../core/learnings/learning-search.js';
import {
  globalNamespace,
  isSameLearning,
  type Learning,
  type LearningChange,
  type Learnings,
  type LearningsQuery,
  rememberedChanges,
} from '../../core/learnings/learnings.js';
import type { Database } from '../../platform/storage/database.js';
import { queryBuilder } from '../../platform/storage/query-builder.js';
import { storedJsonOrNull } from '../../platform/storage/text.js';
import { insertLearning, type LearningSelection, learningFromRow } from './rows-store.js';

/** How far back searches look, and how many of what they find there are compared. */
const searchedRecords = 2_000;
const comparedRecords = 200;

/** How often a change is tried while others change the same record. */
const mostTries = 100;

/** The learnings of one database, as runs see them. */
export class RunLearningStore implements Learnings {
  constructor(private readonly database: Database) {}

  async get(userId: string | null, learningId: string): Promise<Learning | undefined> {
    const row = await this.database.query
      .selectFrom('learnings')
      .where('learning_id', '=', learningId)
      .where('user_id', userId === null ? 'is' : '=', userId)
      .selectAll()
      .executeTakeFirst();
    return row && learningFromRow(row);
  }

  /** What a run finds: the newest first, or those that fit the words best. */
  async find(userId: string | null, query: LearningsQuery): Promise<readonly Learning[]> {
    const words = searchWords(query.search ?? '');
    const searched = words.length > 0;
    const recent = this.recent(userId, query, searched ? searchedRecords : query.limit);
    const found = newestFirst(this.database.query.selectFrom(recent.as('learnings')));
    const matching = searched
      ? found.where(({ or }) => or(words.map((word) => holds(this.database, word))))
      : found;
    const candidates = await matching
      .select(['learning_id', 'search_text'])
      .limit(searched ? comparedRecords : query.limit)
      .execute();
    const best = bestMatches(candidates, words, (row) => row.search_text);
    return this.inOrder(best.slice(0, query.limit).map((row) => row.learning_id));
  }

  /**
   * The newest records of the user and the newest without an owner, each namespace by itself: an index has them
   * in this order, so that however many there are, only these are read.
   */
  private recent(userId: string | null, query: LearningsQuery, limit: number) {
    const owners = userId === null ? [null] : [userId, null];
    const parts = owners.flatMap((owner) =>
      storedNamespaces(query).map((namespace) => {
        const part = newestFirst(wanted(this.database, owner, namespace, query))
          .select(seen)
          .limit(limit);
        return this.database.query.selectFrom(part.as('learnings')).select(seen);
      }),
    );
    return parts.reduce((all, part) => all.unionAll(part));
  }

  /**
   * Makes a change once. It is retried if another writer has changed the record since it was read, so that no
   * change is lost.
   */
  async change(change: LearningChange): Promise<void> {
    for (let tries = 0; tries < mostTries; tries += 1) if (await this.tryChange(change)) return;
    throw new Error(`The learning ${change.identity.learningId} has too many concurrent changes.`);
  }

  private async tryChange({ identity, key, now, merge }: LearningChange): Promise<boolean> {
    const stored = await this.database.query
      .selectFrom('learnings')
      .where('learning_id', '=', identity.learningId)
      .selectAll()
      .executeTakeFirst();
    if (stored === undefined) return this.make({ identity, key, now, merge });
    const changes = storedJsonOrNull<string[]>(stored.changes) ?? [];
    const before = learningFromRow(stored);
    if (isLeftBehind(before, identity)) {
      await this.remove(stored.learning_id, stored.content);
      return false;
    }
    if (!isSameLearning(before, identity) || changes.includes(key)) return true;
    const content = merge(before.content);
    if (content === undefined) return true;
    const { numUpdatedRows } = await this.database.query
      .updateTable('learnings')
      .set({
        content: JSON.stringify(content),
        search_text: searchableText({ ...identity, content }),
        changes: JSON.stringify([...changes, key].slice(-rememberedChanges)),
        updated_at: now,
      })
      .where('learning_id', '=', identity.learningId)
      .where('content', '=', stored.content)
      .where('changes', stored.changes === null ? 'is' : '=', stored.changes)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  private async remove(learningId: string, content: string): Promise<void> {
    await this.database.query
      .deleteFrom('learnings')
      .where('learning_id', '=', learningId)
      .where('content', '=', content)
      .execute();
  }

  private async make({ identity, key, now, merge }: LearningChange): Promise<boolean> {
    const content = merge(undefined);
    if (content === undefined) return true;
    const learning = { ...identity, content, metadata: null, createdAt: now, updatedAt: now };
    return insertLearning(this.database, learning, [key]);
  }

  private async inOrder(learningIds: readonly string[]): Promise<Learning[]> {
    if (learningIds.length === 0) return [];
    const rows = await this.database.query
      .selectFrom('learnings')
      .where('learning_id', 'in', learningIds)
      .selectAll()
      .execute();
    const byId = new Map(rows.map((row) => [row.learning_id, learningFromRow(row)]));
    return learningIds.flatMap((learningId) => byId.get(learningId) ?? []);
  }
}

/** A run is in a session of its own user: records there of other users belong to an earlier session with this id. */
function isLeftBehind(stored: Learning, { learningType, userId }: LearningChange['identity']): boolean {
  return learningType === 'session_context' && stored.userId !== userId;
}

const seen = ['learning_id', 'search_text', 'updated_at'] as const;

/** The namespaces as they are stored: what has none is in the global one. Undefined: any. */
function storedNamespaces({ namespaces }: LearningsQuery): readonly (string | null | undefined)[] {
  if (namespaces === undefined) return [undefined];
  return namespaces.includes(globalNamespace) ? [...namespaces, null] : namespaces;
}

function wanted(
  { query }: Database,
  owner: string | null,
  namespace: string | null | undefined,
  { learningType, exceptTypes = [] }: LearningsQuery,
): LearningSelection {
  let selection: LearningSelection = query
    .selectFrom('learnings')
    .where('user_id', owner === null ? 'is' : '=', owner);
  if (namespace !== undefined)
    selection = selection.where('namespace', namespace === null ? 'is' : '=', namespace);
  if (learningType !== undefined) selection = selection.where('learning_type', '=', learningType);
  return exceptTypes.length === 0 ? selection : selection.where('learning_type', 'not in', exceptTypes);
}

function newestFirst<Ordered extends Pick<LearningSelection, 'orderBy'>>(selection: Ordered): Ordered {
  // an order changes nothing of what is selected, which the types of Kysely do not say of a part of its builder
  return selection.orderBy('updated_at', 'desc').orderBy('learning_id', 'desc') as unknown as Ordered;
}

function holds({ dialect }: Database, word: string) {
  const { sql } = queryBuilder();
  const position = sql.raw(dialect === 'sqlite' ? 'instr' : 'strpos');
  return sql<boolean>`${position}(search_text, ${word}) > 0`;
}
